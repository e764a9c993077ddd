/* profile_test.c - a profile is read whole, and refused with file and line.
 */
#include "protocol/hardware/profile.h"

#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

/* A vendor that nobody has, with all that a profile may say. */
static const char acme[] =
	"vendor: acme\n"
	"aliases: [apex]\n"
	"title: Acme accelerators\n"
	"source: the manual\n"
	"discover:\n"
	"  pci:\n"
	"    vendors: [\"1abc\"]\n"
	"    classes: [\"12\", \"0b40\"]\n"
	"    functions: [0, 2]\n"
	"  numbers:\n"
	"    minor: {file: \"/proc/acme/{bus}/minor\", match: 'minor: "
	"(\\d+)'}\n"
	"    card: {glob: \"/sys/bus/pci/devices/{bus}/drm/card*\"}\n"
	"    slot: [{monitor: physical}, {map: device, match: '(\\d+)/'}]\n"
	"    index: {order: bus}\n"
	"  required: [minor, slot]\n"
	"  map:\n"
	"    command: [acme-map, -l]\n"
	"    layouts: [{name: m, read: lines, device: ['(?<device>\\d+)']}]\n"
	"container:\n"
	"  nodes:\n"
	"    device: [\"/dev/acme{minor}\", \"/dev/dri/card{card}\"]\n"
	"    shared: [/dev/acmectl]\n"
	"    optional: [\"/dev/acme-extra/*\", \"/dev/acme-x{slot}\"]\n"
	"  runtime: acme-runtime\n"
	"  request: {driver: \"\", capabilities: [gpu], by: uuid,\n"
	"    program: acme-hook}\n"
	"  cdi: acme.example/card\n"
	"  selector: {name: ACME_DEVICES, by: number, number: index}\n"
	"  env: {ACME_MODE: fast}\n"
	"  groups: [video]\n"
	"  capabilities: [SYS_PTRACE]\n"
	"  security: [seccomp=unconfined]\n"
	"  ulimits: {memlock: -1, stack: \"67108864:-1\"}\n"
	"  shm: 2G\n"
	"  ipc: host\n"
	"  mounts:\n"
	"    - {host: /opt/acme, container: /opt/acme, read_only: true,\n"
	"       optional: true}\n"
	"visible:\n"
	"  - {name: ACME_VISIBLE, numbering: container}\n"
	"  - {name: ACME_HOST, numbering: host, number: slot}\n"
	"monitor:\n"
	"  command: [acme-smi, --all]\n"
	"  files: {util_pct: {path: /sys/acme, seldom: true,\n"
	"    binary: [{begins: \"0a\", at: [2, 4], of: 8}]}}\n"
	"  env: {LANG: C}\n"
	"  timeout: 2s\n"
	"  na: [NA]\n"
	"  layouts:\n"
	"    - name: one\n"
	"      read: lines\n"
	"      device: ['(?<device>\\d+) (?<temp_c>\\S+)']\n"
	"versions:\n"
	"  driver:\n"
	"    - {file: /sys/module/acme/version}\n"
	"    - {command: [acme-smi, -v], match: 'v(\\S+)'}\n"
	"  sdk: [{file: /opt/acme/VERSION}]\n"
	"devices_per_card: 2\n"
	"chips:\n"
	"  - name: A1\n"
	"    aliases: [Acme One]\n"
	"    pci: [\"0001\"]\n"
	"    match: '^Acme A1\\b'\n"
	"    memory_gib: 64\n"
	"    tflops: {bf16: 200, fp32: 25}\n"
	"    flagperf_tflops: {bf16: 190}\n"
	"    bandwidth_gb_s: 1600\n"
	"    link_gb_s: 400\n"
	"    tdp_w: 350\n"
	"    source: the data sheet\n"
	"    confidence: A\n"
	"  - {name: A2, pci: [\"0002\"], source: a rumour, confidence: C}\n"
	"images: {pytorch: acme/pytorch:1, pytorch_2.1: acme/pytorch:2}\n";

static struct profile *parse(const char *text, struct error *err)
{
	return profile_parse(text, strlen(text), "f", err);
}

static void test_discover(const struct profile *profile)
{
	const struct discover_rules *rules = &profile->discover;
	const struct number_rule *numbers = rules->numbers;

	ok(rules->pci_vendors.count == 1 && rules->pci_classes.count == 2 &&
		   rules->functions == 5,
	   "PCI vendors, classes and functions are read");
	is_int(rules->numbers_count, 5, "each rule of a number is one");
	ok(numbers[0].from == NUMBER_FILE && numbers[0].match &&
		   !strcmp(numbers[0].path, "/proc/acme/{bus}/minor"),
	   "a number of a file");
	ok(numbers[1].from == NUMBER_GLOB &&
		   !strcmp(numbers[1].path,
			   "/sys/bus/pci/devices/{bus}/drm/card*"),
	   "a number of a path");
	ok(numbers[2].from == NUMBER_MONITOR &&
		   !strcmp(numbers[2].word, "physical") &&
		   numbers[3].from == NUMBER_MAP &&
		   !strcmp(numbers[3].word, "device") && numbers[3].match &&
		   !strcmp(numbers[2].name, numbers[3].name),
	   "a number of the tools, the first that tells it");
	ok(numbers[4].from == NUMBER_ORDER, "a number by order");
	ok(rules->required.count == 2 && rules->map_command.count == 2 &&
		   rules->map,
	   "what is required, and the second tool");
}

static void test_container(const struct profile *profile)
{
	const struct container_rules *rules = &profile->container;

	ok(rules->device_nodes.count == 2 && rules->shared_nodes.count == 1 &&
		   rules->optional_nodes.count == 2,
	   "device nodes are read");
	is(rules->runtime, "acme-runtime", "the runtime");
	ok(rules->request.driver && !*rules->request.driver &&
		   rules->request.naming.by == NAME_UUID &&
		   rules->request.capabilities.count == 1 &&
		   !strcmp(rules->request.program, "acme-hook"),
	   "the request");
	ok(!strcmp(rules->cdi, "acme.example/card") &&
		   !strcmp(rules->selector.name, "ACME_DEVICES") &&
		   rules->selector.naming.by == NAME_NUMBER &&
		   !strcmp(rules->selector.naming.number, "index"),
	   "CDI and the selector");
	ok(rules->env.count == 1 &&
		   !strcmp(rules->env.items[0], "ACME_MODE=fast"),
	   "the environment");
	ok(rules->ulimits.count == 2 &&
		   !strcmp(rules->ulimits.items[0], "memlock=-1") &&
		   !strcmp(rules->ulimits.items[1], "stack=67108864:-1"),
	   "limits");
	ok(rules->groups.count == 1 && rules->capabilities.count == 1 &&
		   rules->security.count == 1 && rules->shm_bytes == 2ULL << 30,
	   "groups, capabilities, security and shm");
	is(rules->ipc, "host", "ipc");
	ok(rules->mounts_count == 1 && rules->mounts[0].read_only &&
		   rules->mounts[0].optional,
	   "mounts");
	ok(profile->visible_count == 2 && !profile->visible[0].number &&
		   !strcmp(profile->visible[1].number, "slot"),
	   "variables of the framework");
}

static void test_rest(const struct profile *profile)
{
	const struct chip_rule *chip = profile->chips;

	ok(profile->monitor.commands_count == 1 &&
		   profile->monitor.commands[0].count == 2 &&
		   profile->monitor.env.count == 1 &&
		   profile->monitor.timeout_ms == 2000 &&
		   profile->monitor.sampler,
	   "the monitor");
	ok(profile->driver_count == 2 && profile->driver[0].file &&
		   profile->driver[1].command.count == 2 &&
		   profile->driver[1].match && profile->sdk_count == 1,
	   "versions");
	is_int(profile->devices_per_card, 2, "devices of a card");
	ok(profile->chips_count == 2 && chip->memory_gib == 64 &&
		   value_count(chip->tflops) == 2 &&
		   value_count(chip->flagperf_tflops) == 1 && chip->source &&
		   !strcmp(chip->confidence, "A"),
	   "chips");
	ok(profile->images && value_count(profile->images) == 2, "images");
	ok(profile_chip(profile, NULL, "Acme A1 64 GiB") == chip,
	   "a chip is known by its product name");
	ok(profile_chip(profile, "0002", NULL) == chip + 1, "or by its PCI id");
	ok(profile_chip(profile, "0002", "acme a1") == chip,
	   "the name wins, in any case");
	ok(!profile_chip(profile, "0003", "Acme A10") &&
		   !profile_chip(profile, NULL, NULL),
	   "another is unknown");
}

static void test_good(void)
{
	struct error err = { 0 };
	owned(profile_free) struct profile *profile = parse(acme, &err);

	if (!ok(profile != NULL, "a full profile is good (%s)", err.text) ||
	    !profile)
		return;
	ok(!strcmp(profile->vendor, "acme") && profile->aliases.count == 1 &&
		   !strcmp(profile->title, "Acme accelerators") &&
		   !strcmp(profile->source, "the manual"),
	   "with its names");
	test_discover(profile);
	test_container(profile);
	test_rest(profile);
}

static void test_least(void)
{
	struct error err = { 0 };
	owned(profile_free) struct profile *profile = parse("vendor: a", &err);
	owned(profile_free) struct profile *nodes = NULL;

	ok(profile && !profile->title && !profile->chips_count &&
		   profile->devices_per_card == 1 &&
		   profile->discover.functions == 1 &&
		   !profile->monitor.sampler,
	   "a name is enough (%s)", err.text);
	nodes = parse("vendor: a\ndiscover:\n  nodes: /dev/a{index}\n"
		      "  required: [index]\n"
		      "container: {nodes: {device: [\"/dev/a{index}\"]}}\n",
		      &err);
	ok(nodes && nodes->discover.nodes,
	   "the number in a node's name needs no rule (%s)", err.text);
}

/* clang-format off */
static const struct {
	const char *what, *text, *error;
} refused[] = {
	{ "no vendor", "title: x\n", "f:1: missing \"vendor\"" },
	{ "a bad vendor", "vendor: ACME\n",
	  "f:1: vendor: \"ACME\" is not valid here; expected at most 63 lower case letters, digits and -" },
	{ "an unknown key", "vendor: a\nchip: []\n",
	  "f:2: chip: unknown key; expected vendor, aliases, title, source, discover, container, visible, monitor, versions, processes ...; did you mean \"chips\"?" },
	{ "a row alone", "vendor: a\nprocesses: {row: '(?<pid>1)'}\n",
	  "f:2: processes: a row alone is not valid here; expected both command and row, or neither" },
	{ "rows of nobody",
	  "vendor: a\nprocesses: {command: [x], row: '(?<device>1)'}\n",
	  "f:2: processes.row: missing group pid, which identifies the device of the row" },
	{ "rows of no device",
	  "vendor: a\nprocesses: {command: [x], row: '(?<pid>1)'}\n",
	  "f:2: processes.row: missing group device, bus_id or uuid, which identifies the device of the row" },
	{ "another group",
	  "vendor: a\nprocesses: {command: [x], row: '(?<user>1)'}\n",
	  "f:2: processes.row: the group \"user\" is not valid here; expected pid, name, device, part, bus_id, uuid, and names that begin with _" },
	{ "an unknown key below", "vendor: a\ncontainer: {node: {}}\n",
	  "f:2: container.node: unknown key; expected nodes, runtime, request, cdi, selector, env, groups, capabilities, security, ulimits, shm ...; did you mean \"nodes\"?" },
	{ "a list for a map", "vendor: a\ndiscover: []\n",
	  "f:2: discover: an empty list is not valid here; expected a map, {key: value} or lines of key: value" },
	{ "a control character", "vendor: a\ntitle: \"a\\u0007b\"\n",
	  "f:2: title: a control character is not valid here; expected text of one line" },
	{ "nothing to look for", "vendor: a\ndiscover: {required: []}\n",
	  "f:2: discover: neither of pci and nodes; expected one of them" },
	{ "both ways to look",
	  "vendor: a\ndiscover: {pci: {vendors: [\"1abc\"]},\n"
	  "  nodes: \"/dev/a{i}\"}\n",
	  "f:2: discover: both of pci and nodes; expected one of them" },
	{ "a PCI id that is a number", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [1234]}\n",
	  "f:3: discover.pci.vendors[0]: 1234 is not valid here; expected 4 lower case hex digits in quotes" },
	{ "a PCI id in capitals", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [\"10DE\"]}\n",
	  "f:3: discover.pci.vendors[0]: 10DE is not valid here; expected 4 lower case hex digits in quotes" },
	{ "no PCI id", "vendor: a\ndiscover: {pci: {vendors: []}}\n",
	  "f:2: discover.pci.vendors: none; expected 1 to 64" },
	{ "a long class", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [\"1abc\"], classes: [\"1200000\"]}\n",
	  "f:3: discover.pci.classes[0]: 1200000 is not valid here; expected 2 to 6 lower case hex digits in quotes" },
	{ "a function that no card has", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [\"1abc\"], functions: [8]}\n",
	  "f:3: discover.pci.functions[0]: \"8\" is not valid here; expected an integer from 0 to 7" },
	{ "a pattern without a number", "vendor: a\n"
	  "discover: {nodes: /dev/a}\n",
	  "f:2: discover.nodes: \"/dev/a\" is not valid here; expected a path with one {name} in it" },
	{ "a number called bus", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [\"1abc\"]}\n  numbers: {bus: {order: bus}}\n",
	  "f:4: discover.numbers.bus: the name is not valid here; expected lower case letters and _, but not bus" },
	{ "a number of two ways", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [\"1abc\"]}\n"
	  "  numbers: {n: {order: bus, glob: \"/sys/*\"}}\n",
	  "f:4: discover.numbers.n: 2 of file, glob, order, monitor and map; expected one of them" },
	{ "a number of no way", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [\"1abc\"]}\n  numbers: {n: []}\n",
	  "f:4: discover.numbers.n: 0 rules; expected 1 to 64 in all" },
	{ "an expression where none is used", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [\"1abc\"]}\n"
	  "  numbers: {n: {order: bus, match: x}}\n",
	  "f:4: discover.numbers.n.match: an expression is valid only with file, monitor and map" },
	{ "a glob without a *", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [\"1abc\"]}\n"
	  "  numbers: {n: {glob: /sys/x}}\n",
	  "f:4: discover.numbers.n.glob: missing *, which matches the number" },
	{ "a file with a *", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [\"1abc\"]}\n"
	  "  numbers: {n: {file: \"/sys/x*\"}}\n",
	  "f:4: discover.numbers.n.file: a * is valid only in a glob" },
	{ "a file elsewhere", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [\"1abc\"]}\n"
	  "  numbers: {n: {file: /etc/shadow}}\n",
	  "f:4: discover.numbers.n.file: \"/etc/shadow\" is not valid here; expected a path below /dev, /sys or /proc, without .. and :" },
	{ "a number before it is found", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [\"1abc\"]}\n  numbers:\n"
	  "    a: {file: \"/sys/{b}\"}\n    b: {order: bus}\n",
	  "f:5: discover.numbers.a.file: {b} is not valid here; expected the name of "
	  "a number that is found before it" },
	{ "a word that no tool tells", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [\"1abc\"]}\n  numbers: {n: {map: devise}}\n",
	  "f:4: discover.numbers.n.map: \"devise\" is not valid here; expected device, physical, bus_id, name or uuid; did you mean \"device\"?" },
	{ "a number of a monitor that is not there", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [\"1abc\"]}\n  numbers: {n: {monitor: device}}\n",
	  "f:4: discover.numbers.n: a number from the monitor requires \"monitor\"" },
	{ "a number of a map that is not there", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [\"1abc\"]}\n  numbers: {n: {map: device}}\n",
	  "f:4: discover.numbers.n: a number from the map requires \"discover.map\"" },
	{ "an order without a bus", "vendor: a\ndiscover:\n"
	  "  nodes: \"/dev/a{i}\"\n  numbers: {n: {order: bus}}\n",
	  "f:4: discover.numbers.n: an order by bus requires \"discover.pci\"" },
	{ "a requirement that nothing gives", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [\"1abc\"]}\n  required: [minor]\n",
	  "f:4: discover.required[0]: \"minor\" is not valid here; expected a name of discover.numbers" },
	{ "a path out of the device root", "vendor: a\n"
	  "container: {nodes: {shared: [/dev/../etc/shadow]}}\n",
	  "f:2: container.nodes.shared[0]: \"/dev/../etc/shadow\" is not valid here; expected a path below /dev, without .. and :" },
	{ "the device root itself", "vendor: a\n"
	  "container: {nodes: {shared: [/dev]}}\n",
	  "f:2: container.nodes.shared[0]: \"/dev\" is not valid here; expected a path below /dev, without .. and :" },
	{ "a path like the device root", "vendor: a\n"
	  "container: {nodes: {shared: [/devices/x]}}\n",
	  "f:2: container.nodes.shared[0]: \"/devices/x\" is not valid here; expected a path below /dev, without .. and :" },
	{ "a path that says where it goes", "vendor: a\n"
	  "container: {nodes: {shared: [\"/dev/x:/dev/y\"]}}\n",
	  "f:2: container.nodes.shared[0]: \"/dev/x:/dev/y\" is not valid here; expected a path below /dev, without .. and :" },
	{ "a path with half a name", "vendor: a\n"
	  "container: {nodes: {optional: [\"/dev/x{\"]}}\n",
	  "f:2: container.nodes.optional[0]: \"/dev/x{\" is not valid here; expected {name} and one * in a path" },
	{ "a path with two *", "vendor: a\n"
	  "container: {nodes: {optional: [\"/dev/*/*\"]}}\n",
	  "f:2: container.nodes.optional[0]: \"/dev/*/*\" is not valid here; expected {name} and one * in a path" },
	{ "a * in a device's node", "vendor: a\n"
	  "container: {nodes: {device: [\"/dev/x*\"]}}\n",
	  "f:2: container.nodes.device[0]: a * is valid only in optional" },
	{ "a name in a shared node", "vendor: a\n"
	  "container: {nodes: {shared: [\"/dev/x{i}\"]}}\n",
	  "f:2: container.nodes.shared[0]: a * or a {name} is not valid here; expected one path" },
	{ "a node of a number that is not there", "vendor: a\n"
	  "container: {nodes: {device: [\"/dev/x{i}\"]}}\n",
	  "f:2: container.nodes.device[0]: {i} is not valid here; expected the name of "
	  "a number that is found before it" },
	{ "a selector without its number", "vendor: a\n"
	  "container: {selector: {name: A, by: number}}\n",
	  "f:2: container.selector: by: number is not valid here; expected both or neither of by: number and number" },
	{ "a number that is not used", "vendor: a\n"
	  "container: {selector: {name: A, by: all, number: i}}\n",
	  "f:2: container.selector: a number is not valid here; expected both or neither of by: number and number" },
	{ "a selector of an unknown number", "vendor: a\n"
	  "container: {selector: {name: A, by: number, number: i}}\n",
	  "f:2: container.selector.number: \"i\" is not valid here; expected a name of discover.numbers" },
	{ "a naming that is none", "vendor: a\n"
	  "container: {selector: {name: A, by: uid}}\n",
	  "f:2: container.selector.by: \"uid\" is not valid here; expected all, uuid or number; did you mean \"uuid\"?" },
	{ "a variable that is none", "vendor: a\n"
	  "container: {selector: {name: A=B, by: all}}\n",
	  "f:2: container.selector.name: \"A=B\" is not valid here; expected the name of an environment variable" },
	{ "a bad name in env", "vendor: a\ncontainer: {env: {1A: x}}\n",
	  "f:2: container.env.1A: not a valid name of an environment variable" },
	{ "a bad limit", "vendor: a\ncontainer: {ulimits: {nofile: many}}\n",
	  "f:2: container.ulimits.nofile: \"many\" is not valid here; expected soft or soft:hard, each a number or -1 for no limit" },
	{ "a limit of -10", "vendor: a\ncontainer: {ulimits: {nofile: -10}}\n",
	  "f:2: container.ulimits.nofile: \"-10\" is not valid here; expected soft or soft:hard, each a number or -1 for no limit" },
	{ "a bad size", "vendor: a\ncontainer: {shm: lots}\n",
	  "f:2: container.shm: \"lots\" is not valid here; expected bytes (a number, or "
	  "64K, 32M, 1.5G, 2T) from 1 to 16T" },
	{ "a bad ipc", "vendor: a\ncontainer: {ipc: hosts}\n",
	  "f:2: container.ipc: \"hosts\" is not valid here; expected private, host, shareable or none; did you mean \"host\"?" },
	{ "a mount from nowhere", "vendor: a\n"
	  "container: {mounts: [{container: /x}]}\n",
	  "f:2: container.mounts[0]: missing \"host\"" },
	{ "a mount of ..", "vendor: a\n"
	  "container: {mounts: [{host: /x/.., container: /x}]}\n",
	  "f:2: container.mounts[0].host: \"/x/..\" is not valid here; expected a path from /, without .." },
	{ "host numbers of no name", "vendor: a\n"
	  "visible: [{name: A, numbering: host}]\n",
	  "f:2: visible[0]: numbering: host is not valid here; expected both or neither of numbering: host and number" },
	{ "a monitor without layouts", "vendor: a\n"
	  "monitor: {command: [x]}\n", "f:2: monitor: missing \"layouts\"" },
	{ "a command that is a line", "vendor: a\n"
	  "monitor: {command: x -y, layouts: []}\n",
	  "f:2: monitor.command: \"x -y\" is not valid here; expected a list, [a, b] or lines that begin with \"- \"" },
	{ "an empty command", "vendor: a\n"
	  "monitor: {command: [], layouts: []}\n",
	  "f:2: monitor.command: an empty list is not valid here; expected a program and its arguments" },
	{ "a short time", "vendor: a\n"
	  "monitor: {command: [x], timeout: 1ms, layouts: []}\n",
	  "f:2: monitor.timeout: \"1ms\" is not valid here; expected a time with its unit (500ms, 90s, 15m, 2h, 1d) from 100ms to 1m" },
	{ "a binary form of two ways", "vendor: a\n"
	  "monitor: {files: {temp_c: {path: /sys/x, binary: [{begins: \"01\", at: 2, of: 4, mask: ff}]}}, layouts: []}\n",
	  "f:2: monitor.files.temp_c.binary[0]: both of \"of\" and \"mask\"; expected one of them" },
	{ "a binary form of half a byte", "vendor: a\n"
	  "monitor: {files: {temp_c: {path: /sys/x, binary: [{begins: \"012\", at: 2, of: 4}]}}, layouts: []}\n",
	  "f:2: monitor.files.temp_c.binary[0].begins: \"012\" is not valid here; expected bytes in hexadecimal digits, such as 78000103" },
	{ "a version of two ways", "vendor: a\n"
	  "versions: {driver: [{file: /x, command: [y]}]}\n",
	  "f:2: versions.driver[0]: both of file and command; expected one of them" },
	{ "a broken expression", "vendor: a\nversions:\n"
	  "  driver: [{file: /x, match: '(x'}]\n",
	  "f:3: versions.driver[0].match: the expression is not valid after character 2: missing closing parenthesis" },
	{ "an expression that runs for ever", "vendor: a\nversions:\n"
	  "  driver: [{file: /x, match: '^(\\w+\\s?)+$'}]\n",
	  "f:3: versions.driver[0].match: \"^(\\w+\\s?)+$\", which takes more than 50000 steps on texts such as \"aaaaaaaa...\"" },
	{ "one of a chip that runs for ever", "vendor: a\nchips:\n"
	  "  - {name: x, source: y, match: '(Q|QQ)+;'}\n",
	  "f:3: chips[0].match: \"(Q|QQ)+;\", which takes more than 50000 steps on texts such as \"QQQQQQQQ...\"" },
	{ "one that does so on two letters", "vendor: a\ndiscover:\n"
	  "  pci: {vendors: [\"1abc\"]}\n"
	  "  numbers: {n: {file: /sys/x, match: '(XY|XYXY)+;'}}\n",
	  "f:4: discover.numbers.n.match: \"(XY|XYXY)+;\", which takes more than 50000 steps on texts such as \"XYXYXYXY...\"" },
	{ "a chip without a name", "vendor: a\nchips: [{source: x}]\n",
	  "f:2: chips[0]: missing \"name\"" },
	{ "a chip without a source", "vendor: a\nchips: [{name: x}]\n",
	  "f:2: chips[0]: missing \"source\"" },
	{ "a peak of an unknown precision", "vendor: a\nchips:\n"
	  "  - {name: x, source: y, tflops: {bf17: 1}}\n",
	  "f:3: chips[0].tflops.bf17: unknown key; expected fp64, fp32, tf32, fp16, bf16, fp8, int8 or fp4; did you mean \"bf16\"?" },
	{ "a peak of nothing", "vendor: a\nchips:\n"
	  "  - {name: x, source: y, tflops: {bf16: 0}}\n",
	  "f:3: chips[0].tflops.bf16: \"0\" is not valid here; expected a number from 0.001 to 1e+06" },
	{ "a chip twice", "vendor: a\nchips:\n  - {name: x, source: y}\n"
	  "  - {name: z, source: y, aliases: [X]}\n",
	  "f:4: chips[1]: duplicate chip \"X\"" },
	{ "an unknown confidence", "vendor: a\nchips:\n"
	  "  - {name: x, source: y, confidence: G}\n",
	  "f:3: chips[0].confidence: \"G\" is not valid here; expected A, B or C; did you mean \"A\"?" },
	{ "an image of two words", "vendor: a\nimages: {pytorch: a b}\n",
	  "f:2: images.pytorch: \"a b\" is not valid here; expected a word without blanks and commas" },
	{ "dies without number", "vendor: a\ndevices_per_card: 0\n",
	  "f:2: devices_per_card: \"0\" is not valid here; expected an integer from 1 to 16" },
};
/* clang-format on */

static void test_refused(void)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct error err = { 0 };
		owned(profile_free) struct profile *profile =
			parse(refused[i].text, &err);

		ok(!profile, "%s is refused", refused[i].what);
		is(err.text, refused[i].error, "in words");
	}
}

/* A text of this many bytes: head, then middle as often as it fits. */
static char *repeated(const char *head, const char *middle, size_t size)
{
	char *text = malloc(size + 1);
	size_t used = (size_t)snprintf(text, size, "%s", head);

	while (used + strlen(middle) < size)
		used += (size_t)snprintf(text + used, size + 1 - used, "%s",
					 middle);
	text[used] = 0;
	return text;
}

static void refuse(const char *what, const char *text, size_t size,
		   const char *words)
{
	struct error err = { 0 };
	owned(profile_free) struct profile *profile =
		profile_parse(text, size, "f", &err);

	ok(!profile && strstr(err.text, words), "%s is refused in words: %s",
	   what, err.text);
}

static void test_hostile(void)
{
	static const char binary[] = "vendor: a\n\x7f"
				     "ELF\x02\x01\x01";
	static const char zero[] = "vendor: a\0b\n";
	owned_free char *deep = repeated("vendor: a\ndiscover: ", "[", 100000);
	owned_free char *huge = repeated("vendor: a\ntitle: x", "x", 300000);
	owned_free char *many = repeated("vendor: a\nchips:\n",
					 "- {name: x, source: x}\n", 2000);
	owned_free char *title = repeated("vendor: a\ntitle: x", "x", 5000);
	owned(buffer_clear) struct buffer map = BUFFER_INIT(10000);

	buffer_text(&map, "vendor: a\nimages:\n", NULL);
	for (int i = 0; i < 100; i++)
		buffer_printf(&map, NULL, "  k%d: v\n", i);
	refuse("a file of 300 kB", huge, strlen(huge), "f: ");
	refuse("a deep file", deep, strlen(deep), "f:2");
	refuse("a list of 80 chips", many, strlen(many), "chips: a list of");
	refuse("a title of 5,000 bytes", title, strlen(title), "f:2: title");
	refuse("a map of 100 images", map.data, map.size,
	       "f:3: images: 100 images; expected at most 64");
	refuse("NUL", zero, sizeof(zero) - 1, "f:1");
	refuse("binary", binary, sizeof(binary) - 1, "f:2");
	refuse("nothing", "", 0, "f:1: an empty value");
	refuse("bytes that are not UTF-8", "vendor: \xff\n", 10, "f:1");
}

static char folder[] = "/tmp/profile-XXXXXX";

static void put(const char *name, const char *text)
{
	char path[PATH_MAX], *slash;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	slash = strrchr(path, '/');
	*slash = 0;
	file_make_folders(path, 0755, NULL);
	*slash = '/';
	file_write(AT_FDCWD, path, text, strlen(text), 0644, 0, NULL);
}

static void test_folder(void)
{
	owned(profiles_clear) struct profiles profiles = { 0 };
	struct error err = { 0 };
	char wanted[200];

	ok(profiles_load(folder, &profiles, &err) == 0 && !profiles.count,
	   "no folder of vendors is none");
	put("vendors/cpu/profile.yaml", "vendor: cpu\n");
	put("vendors/acme/profile.yaml", acme);
	put("vendors/zeta/profile.yaml", "vendor: zeta\n");
	put("vendors/empty/README", "nothing\n");
	put("vendors/README", "nothing\n");
	ok(profiles_load(folder, &profiles, &err) == 0, "a folder (%s)",
	   err.text);
	ok(profiles.count == 3 && !strcmp(profiles.list[0]->vendor, "acme") &&
		   !strcmp(profiles.list[1]->vendor, "zeta") &&
		   !strcmp(profiles.list[2]->vendor, "cpu"),
	   "its profiles, by name, cpu last");
	ok(profiles_find(&profiles, "Apex") == profiles.list[0] &&
		   profiles_find(&profiles, "ZETA") == profiles.list[1] &&
		   !profiles_find(&profiles, "apexx"),
	   "they are found by their names in any case");
	put("vendors/zeta/profile.yaml", "vendor: zetta\n");
	ok(profiles_load(folder, &profiles, &err) < 0,
	   "a profile of another name is refused");
	snprintf(wanted, sizeof(wanted),
		 "%s/vendors/zeta/profile.yaml:1: vendor: \"zetta\" is not "
		 "valid here; expected \"zeta\", the name of the folder",
		 folder);
	is(err.text, wanted, "in words");
	ok(profiles.count == 3, "and what was there is still there");
	put("vendors/zeta/profile.yaml", "vendor: zeta\naliases: [apex]\n");
	ok(profiles_load(folder, &profiles, &err) < 0 &&
		   strstr(err.text,
			  ":2: aliases[0]: duplicate vendor \"apex\""),
	   "so is a name for two vendors");
}

static void test_roots(void)
{
	static const struct sysroot lab = { .dev = "/tmp/lab/dev",
					    .sys = "/tmp/lab/sys",
					    .proc = "/proc" };
	struct error err = { 0 };
	char path[PATH_MAX], *text;

	ok(!sysroot_simulated(&real_roots) && sysroot_simulated(&lab),
	   "a machine of folders is simulated");
	ok(sysroot_path(&real_roots, "/dev/x", path, &err) == 0 &&
		   !strcmp(path, "/dev/x"),
	   "on a machine a path is itself");
	ok(sysroot_path(&lab, "/dev/x", path, &err) == 0 &&
		   !strcmp(path, "/tmp/lab/dev/x"),
	   "in a simulated one it is below its root");
	ok(sysroot_path(&lab, "/proc/x", path, &err) == 0 &&
		   !strcmp(path, "/proc/x"),
	   "each root is one of its own");
	ok(sysroot_path(&real_roots, "/opt/x", path, &err) == 0 &&
		   !strcmp(path, "/opt/x"),
	   "another path is itself, too");
	ok(sysroot_path(&lab, "/opt/x", path, &err) < 0 && err.code == ENOENT,
	   "but a simulated machine has none");
	ok(sysroot_path(&lab, "/devices", path, &err) < 0 && err.code == ENOENT,
	   "nor is what only begins like a root below it");
	ok(sysroot_path(&lab, "/dev/../etc", path, &err) < 0 &&
		   err.code == EINVAL,
	   "a path that leads out is refused");
	ok(sysroot_path(&lab, "dev/x", path, &err) < 0 && err.code == EINVAL,
	   "so is one from nowhere");
	text = repeated("/dev/", "x", PATH_MAX - 5);
	ok(sysroot_path(&lab, text, path, &err) < 0 && err.code == ENAMETOOLONG,
	   "and one that is too long");
	free(text);
}

static void test_find(void)
{
	static const char text[] =
		"vendor: a\nversions:\n  driver:\n    - {file: /x, match: "
		"'version ([\\d.]+)'}\n    - {file: /x, match: '[a-z]+'}\n"
		"    - {file: /x, match: '^id=(?:[0-9]+-?)+$'}\n";
	struct error err = { 0 };
	owned(profile_free) struct profile *profile = parse(text, &err);
	owned_free char *hostile = repeated("id=", "1", 5000);
	char out[8];

	if (!ok(profile != NULL, "expressions are compiled (%s)", err.text) ||
	    !profile)
		return;
	ok(expression_find(profile->driver[0].match, "a version 1.2.3 b", 17,
			   out, sizeof(out), &err) == 0 &&
		   !strcmp(out, "1.2.3"),
	   "group 1 is what is found");
	ok(expression_find(profile->driver[1].match, "12 abcdefghijkl", 15, out,
			   sizeof(out), &err) == 0 &&
		   !strcmp(out, "abcdefg"),
	   "without a group all of it, cut to size");
	ok(expression_find(profile->driver[0].match, "version x", 9, out,
			   sizeof(out), &err) < 0 &&
		   err.code == ENOENT,
	   "what is not there is not found");
	hostile[4998] = 'x';
	ok(expression_find(profile->driver[2].match, hostile, 4999, out,
			   sizeof(out), &err) < 0 &&
		   err.code == EPROTO,
	   "a text made for an expression ends it, too (%s)", err.text);
}

static void test_memory(void)
{
	bool good = true;
	long n = 1;

	for (bool failed = true; failed; n++) {
		struct error err = { 0 };
		struct profile *profile;

		fault_arm(n);
		profile = parse(acme, &err);
		failed = fault_disarm();
		if (failed && (profile || err.code != ENOMEM)) {
			printf("# allocation %ld: %s\n", n, err.text);
			good = false;
		}
		profile_free(profile);
	}
	ok(good && n > 100,
	   "whichever of %ld allocations fails, it is an error", n);
}

int main(void)
{
	struct error err;

	tap_begin(120);
	if (!mkdtemp(folder))
		return 1;
	test_good();
	test_least();
	test_refused();
	test_hostile();
	test_folder();
	test_roots();
	test_find();
	test_memory();
	file_remove_tree(AT_FDCWD, folder, &err);
	return tap_done();
}
