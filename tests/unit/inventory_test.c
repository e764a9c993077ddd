/* inventory_test.c - a node's devices come, go, and keep their numbers.
 */
#include "agent/devices/device_binding.h"
#include "agent/devices/inventory.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "tests/tap.h"
#include "tests/unit/hardware_lab.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

static const char profile_text[] =
	"vendor: odd\n"
	"aliases: [strange]\n"
	"discover:\n"
	"  pci: {vendors: [\"1111\"]}\n"
	"  numbers: {index: {monitor: device}}\n"
	"  required: [index]\n"
	"container: {nodes: {device: [\"/dev/odd{index}\"]}}\n"
	"visible: [{name: ODD, numbering: container}]\n"
	"monitor:\n"
	"  command: [odd-smi]\n"
	"  layouts:\n"
	"    - {name: rows, read: lines, device: "
	"['(?<device>\\d+) (?<bus_id>\\S+) (?<name>\\S+) (?<uuid>\\S+)']}\n"
	"chips: [{name: ODD-1, match: One, source: here}]\n";

struct machine {
	struct lab lab;
	char images[100];
	sd_event *loop;
	struct inventory *inventory;
	int changes;
	const struct offered *only;
};

static void card(struct machine *machine, int i)
{
	char bus[32], node[32];

	snprintf(bus, sizeof(bus), "0000:%02x:00.0", 0x10 + i);
	snprintf(node, sizeof(node), "/dev/odd%d", i);
	lab_pci(&machine->lab, bus, "1111", "0001", "120000", i / 2);
	lab_node(&machine->lab, node);
}

static void card_remove(struct machine *machine, int i)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/0000:%02x:00.0",
		 0x10 + i);
	lab_remove(&machine->lab, path);
	snprintf(path, sizeof(path), "/dev/odd%d", i);
	lab_remove(&machine->lab, path);
}

static void machine_make(struct machine *machine, int cards)
{
	*machine = (struct machine){ 0 };
	lab_begin(&machine->lab);
	lab_file(&machine->lab, "/images/vendors/odd/profile.yaml", "%s",
		 profile_text);
	lab_file(&machine->lab, "/images/vendors/cpu/profile.yaml",
		 "vendor: cpu\n");
	lab_file(&machine->lab, "/bin/odd-smi",
		 "#!/bin/sh\necho run >>%s/runs\n"
		 "for i in 0 1 2 3; do echo $i 0000:1$i:00.0 One "
		 "GPU-8932f937-d72c-4106-c12f-0000000000${i}b; done\n",
		 machine->lab.folder);
	snprintf(machine->images, sizeof(machine->images), "%s/images",
		 machine->lab.folder);
	for (int i = 0; i < cards; i++)
		card(machine, i);
}

static void changed(void *arg)
{
	struct machine *machine = arg;

	machine->changes++;
	sd_event_exit(machine->loop, 0);
}

static void machine_start(struct machine *machine, const char *vendor)
{
	struct error err = { 0 };

	sd_event_new(&machine->loop);
	machine->changes = 0;
	machine->inventory =
		inventory_new(machine->loop,
			      &(struct inventory_config){
				      .only = machine->only,
				      .roots = &machine->lab.roots,
				      .vendor = vendor,
				      .images = machine->images,
				      .state = machine->lab.folder },
			      changed, machine, &err);
	if (!machine->inventory) {
		printf("# %s\n", err.text);
		exit(1);
	}
	sd_event_loop(machine->loop);
}

/* Until it changed again. */
static void machine_wait(struct machine *machine)
{
	int before = machine->changes;

	while (machine->changes == before)
		if (sd_event_run(machine->loop, UINT64_MAX) < 0)
			break;
}

static void machine_stop(struct machine *machine)
{
	inventory_free(machine->inventory);
	machine->inventory = NULL;
	machine->loop = sd_event_unref(machine->loop);
}

static void machine_clear(struct machine *machine)
{
	machine_stop(machine);
	lab_end(&machine->lab);
}
OWNED_VALUE(struct machine, machine_clear)

/* "index name chip" of each, gone ones in brackets. */
static void list_is(const struct machine *machine, const char *want,
		    const char *name)
{
	const struct devices *devices = inventory_devices(machine->inventory);
	char text[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < devices->count; i++) {
		const struct device_info *device = &devices->list[i];

		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 device->gone ? "%s[%u %s]" : "%s%u %s",
					 i ? " " : "", device->index,
					 device->bus_id ? device->bus_id + 5
							: "");
		if (!device->chip || !device->name)
			used += (size_t)snprintf(text + used,
						 sizeof(text) - used,
						 " nameless");
	}
	is(text, want, "%s", name);
}

static int runs(const struct machine *machine)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(65536);
	char path[100];

	snprintf(path, sizeof(path), "%s/runs", machine->lab.folder);
	file_read(AT_FDCWD, path, &text, NULL);
	return (int)(text.size / 4);
}

static void found(void)
{
	owned(machine_clear) struct machine machine;

	machine_make(&machine, 3);
	machine_start(&machine, "auto");
	is(inventory_vendor(machine.inventory), "odd", "the vendor is found");
	list_is(&machine, "0 10:00.0 1 11:00.0 2 12:00.0",
		"and its devices, with what only the tool knows");
	ok(machine.changes == 1 &&
		   inventory_devices(machine.inventory)->simulated,
	   "a machine of folders is called simulated");
	is_int(runs(&machine), 1, "the tool ran once");
	is_int(inventory_count(machine.inventory), 3, "and they are counted");
}

/* As Slurm may name them. */
static void missing_is(const struct machine *machine, const char *expected,
		       const char *name)
{
	owned(cJSON_Delete) cJSON *facts = cJSON_CreateObject();

	inventory_facts(machine->inventory, facts);
	is(cJSON_GetStringValue(cJSON_GetObjectItem(facts, "devices_missing")),
	   expected, "%s", name);
}

static void offered_by_uuid(void)
{
	owned(machine_clear) struct machine machine;
	owned(offered_clear) struct offered only = { 0 };
	struct error err = { 0 };

	machine_make(&machine, 3);
	ok(offered_parse("GPU-8932f937-D72C-4106-c12f-00000000002b,"
			 "GPU-8932f937-d72c-4106-c12f-00000000000b",
			 &only, &err) == 0,
	   "a list of UUIDs: %s", err.text);
	machine.only = &only;
	machine_start(&machine, "auto");
	list_is(&machine, "0 10:00.0 1 12:00.0",
		"the devices with these UUIDs");
	machine_stop(&machine);
	offered_clear(&only);
	offered_parse("MIG-8932f937-d72c-4106-c12f-000000000000", &only, NULL);
	lab_remove(&machine.lab, "/devices.json");
	machine_start(&machine, "odd");
	is_int(inventory_count(machine.inventory), 0,
	       "a UUID of no device gives none");
	missing_is(&machine,
		   "only-devices or CUDA_VISIBLE_DEVICES names "
		   "MIG-8932f937-d72c-4106-c12f-000000000000, but this machine "
		   "has 3 devices",
		   "and is told");
}

/* One that is not there is told, those that are there are offered. */
static void offered_by_number(void)
{
	static const struct {
		const char *list, *devices, *missing;
	} cases[] = {
		{ "0-2", "0 10:00.0 1 11:00.0 2 12:00.0", NULL },
		{ "2-4,8", "0 12:00.0",
		  "only-devices or CUDA_VISIBLE_DEVICES names 3,4,8, but this "
		  "machine has 3 devices" },
		{ "5", "",
		  "only-devices or CUDA_VISIBLE_DEVICES names 5, but this "
		  "machine has 3 devices" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		owned(machine_clear) struct machine machine;
		struct offered only = { 0 };

		machine_make(&machine, 3);
		offered_parse(cases[i].list, &only, NULL);
		machine.only = &only;
		machine_start(&machine, "auto");
		list_is(&machine, cases[i].devices, cases[i].list);
		missing_is(&machine, cases[i].missing, cases[i].list);
	}
}

static void lists(void)
{
	static const char *const bad[] = {
		"GPU-8932f937",
		"GPU-8932f937-d72c-4106-c12f-00000000000b,1",
		"MIG-GPU-8932f937-d72c-4106-c12f-00000000000b/1/0",
		"all",
		"0,GPU-8932f937-d72c-4106-c12f-00000000000b",
		"",
	};
	struct offered only;
	struct error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(offered_parse(bad[i], &only, &err) < 0 && err.code == EINVAL,
		   "'%s' is refused: %s", bad[i], err.text);
	ok(offered_parse("0,2", &only, &err) == 0 &&
		   offered_has(&only, 2, NULL) &&
		   !offered_has(&only, 1, "GPU-1"),
	   "numbers are positions");
}

static void nothing(void)
{
	owned(machine_clear) struct machine machine;

	machine_make(&machine, 0);
	machine_start(&machine, "auto");
	is(inventory_vendor(machine.inventory), "cpu",
	   "where nothing is found it is a node of processors");
	is_int(inventory_count(machine.inventory), 1, "of one device");
	machine_stop(&machine);
	machine_start(&machine, "Strange");
	is(inventory_vendor(machine.inventory), "odd",
	   "a vendor can be named, by any of its names");
	is_int(inventory_count(machine.inventory), 0, "and have no device");
	is_int(runs(&machine), 0, "the tool is not asked about nothing");
}

/* One goes: the others stay what they are, also for the next agent. */
static void gone_and_back(void)
{
	owned(machine_clear) struct machine machine;

	machine_make(&machine, 3);
	machine_start(&machine, "odd");
	machine_stop(&machine);
	card_remove(&machine, 1);
	machine_start(&machine, "odd");
	list_is(&machine, "0 10:00.0 [1 11:00.0] 2 12:00.0",
		"what an agent before knew is gone, and the others keep their "
		"numbers");
	is(inventory_devices(machine.inventory)->list[1].text,
	   "it has disappeared", "in words");
	machine_stop(&machine);
	card(&machine, 1);
	card(&machine, 3);
	machine_start(&machine, "odd");
	list_is(&machine, "0 10:00.0 1 11:00.0 2 12:00.0 3 13:00.0",
		"one that is back is itself again; a new one comes last");
	machine_stop(&machine);
	lab_file(&machine.lab, "/devices.json", "{\"devices\": [{}");
	machine_start(&machine, "odd");
	list_is(&machine, "0 10:00.0 1 11:00.0 2 12:00.0 3 13:00.0",
		"a broken memory is none");
}

static void noticed(void *arg)
{
	struct machine *machine = arg;

	machine->changes++;
}

/* While the agent runs: /dev says when to look. */
static void watched(void)
{
	owned(machine_clear) struct machine machine;
	struct inventory_config config = {
		.roots = &machine.lab.roots,
		.vendor = "odd",
		.images = machine.images,
		.pause_ms = 1,
	};

	machine_make(&machine, 2);
	config.state = machine.lab.folder;
	sd_event_new(&machine.loop);
	machine.inventory =
		inventory_new(machine.loop, &config, noticed, &machine, NULL);
	machine_wait(&machine);
	list_is(&machine, "0 10:00.0 1 11:00.0", "two are there");
	card_remove(&machine, 0);
	machine_wait(&machine);
	list_is(&machine, "[0 10:00.0] 1 11:00.0", "one that goes is noticed");
	card(&machine, 0);
	machine_wait(&machine);
	list_is(&machine, "0 10:00.0 1 11:00.0", "so is one that comes back");
}

static void bad_tools(void)
{
	owned(machine_clear) struct machine machine;

	machine_make(&machine, 2);
	lab_file(&machine.lab, "/bin/odd-smi",
		 "#!/bin/sh\nyes | head -c 1000000"
		 "0; echo no driver >&2; exit 9\n");
	machine_start(&machine, "odd");
	is_int(inventory_count(machine.inventory), 0,
	       "without a tool that tells their numbers there are none");
	machine_stop(&machine);
	lab_remove(&machine.lab, "/bin/odd-smi");
	machine_start(&machine, "odd");
	is_int(inventory_count(machine.inventory), 0, "nor with none at all");
}

/* The profile says how long, not we. */
static void slow_tool(void)
{
	owned(machine_clear) struct machine machine;

	machine_make(&machine, 2);
	lab_file(&machine.lab, "/images/vendors/odd/profile.yaml",
		 "%.*s  timeout: 200ms\n%s",
		 (int)(strstr(profile_text, "  layouts:") - profile_text),
		 profile_text, strstr(profile_text, "  layouts:"));
	lab_file(&machine.lab, "/bin/odd-smi", "#!/bin/sh\nexec sleep 600\n");
	machine_start(&machine, "odd");
	is_int(machine.changes, 1,
	       "a tool that hangs is waited for as long as the profile says");
}

static void bad_profiles(void)
{
	owned(machine_clear) struct machine machine;
	struct error err = { 0 };
	char want[300];

	machine_make(&machine, 0);
	lab_file(&machine.lab, "/images/vendors/odd/profile.yaml",
		 "vendor: odd\ncolour: red\n");
	sd_event_new(&machine.loop);
	ok(!inventory_new(machine.loop,
			  &(struct inventory_config){
				  .roots = &machine.lab.roots,
				  .vendor = "auto",
				  .images = machine.images,
				  .state = machine.lab.folder },
			  changed, &machine, &err),
	   "a broken profile is an error");
	snprintf(want, sizeof(want),
		 "%s/vendors/odd/profile.yaml:2: ", machine.images);
	ok(!strncmp(err.text, want, strlen(want)), "that says where: %s",
	   err.text);
}

/* What a task gets of them. */
static void allotted(void)
{
	owned(machine_clear) struct machine machine;
	struct engine_features features = { 0 };
	struct device_binding_source source;
	struct task_spec spec = { .job = 7,
				  .nodes = 1,
				  .world_size = 1,
				  .attempt = 1,
				  .shared = true,
				  .processes_per_node = 1,
				  .container = { .image = (char *)"x" } };
	struct task_spec filled = { 0 };
	struct error err = { 0 };
	char want[200];

	machine_make(&machine, 2);
	machine_start(&machine, "odd");
	source =
		(struct device_binding_source){ machine.inventory,
						&machine.lab.roots, &features };
	strings_add(&spec.devices, "1", NULL);
	ok(device_binding_apply(&source, &spec, true, &filled, &err) == 0,
	   "a task gets its device %s", err.text);
	snprintf(want, sizeof(want), "%s/odd1:/dev/odd1", machine.lab.dev);
	ok(filled.container.device_nodes.count == 1, "one node");
	is(filled.container.device_nodes.items[0], want, "its own");
	is(filled.container.env.items[0], "ODD=0", "counted from 0");
	codec_clear(&task_spec_schema, &filled);
	strings_add(&spec.devices, "9", NULL);
	ok(device_binding_apply(&source, &spec, false, &filled, &err) < 0 &&
		   err.code == ENODEV,
	   "not one that the node does not have: %s", err.text);
	strings_clear(&spec.devices);
	strings_add(&spec.devices, "0", NULL);
	lab_remove(&machine.lab, "/dev/odd0");
	ok(device_binding_apply(&source, &spec, false, &filled, &err) < 0 &&
		   err.code == ENODEV,
	   "nor one whose node is gone: %s", err.text);
	strings_clear(&spec.devices);
	for (int i = 0; i <= DEVICES_MAX; i++)
		strings_add(&spec.devices, "1", NULL);
	ok(device_binding_apply(&source, &spec, false, &filled, &err) < 0 &&
		   err.code == ENODEV,
	   "nor more than a node can have");
	is(err.text, "65 devices; expected at most 64", "in words");
	strings_clear(&spec.devices);
}

int main(void)
{
	sigset_t set;

	tap_begin(60);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	bad_profiles();
	offered_by_uuid();
	offered_by_number();
	lists();
	nothing();
	bad_tools();
	if (lab_nodes()) {
		found();
		slow_tool();
		gone_and_back();
		watched();
		allotted();
	} else {
		printf("# device nodes cannot be made here\n");
	}
	return tap_done();
}
