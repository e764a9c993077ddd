/* monitor_test.c - tools are sampled beside tasks, whatever tools do.
 */
#include "agent/devices/offered.h"
#include "agent/metrics/monitor.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/hardware/sample_format.h"

#include "tests/tap.h"
#include "tests/unit/usage_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>

#define INTERVAL_MS 50

static char folder[] = "/tmp/monitor-XXXXXX";

static char *path_of(const char *name)
{
	static char path[2][256];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

/* A tool that prints two devices: "index bus watts mib". The old one may be
 * about to run, and cannot be written then.
 */
static void make_tool(const char *body)
{
	FILE *file = fopen(path_of("new"), "we");

	if (file) {
		fprintf(file, "#!/bin/sh\n%s\n", body);
		fclose(file);
	}
	chmod(path_of("new"), 0755);
	ok(rename(path_of("new"), path_of("tool")) == 0, "a tool is there");
}

#define TWO                                                                    \
	"echo 'card 0 0000:01:00.0 100 W 10 MiB'; "                            \
	"echo 'card 1 0000:02:00.0 200 W 20 MiB'"

#define PROFILE(timeout)                                                       \
	"vendor: invented\n"                                                   \
	"monitor:\n"                                                           \
	"  command: [tool]\n"                                                  \
	"  timeout: " timeout "\n"                                             \
	"  layouts:\n"                                                         \
	"    - name: lines\n"                                                  \
	"      read: lines\n"                                                  \
	"      when: '^card'\n"                                                \
	"      device: ['card (?<device>\\d+) (?<bus_id>\\S+) "                \
	"(?<power_w>\\d+ W) (?<mem_used_mib>\\d+ MiB)']\n"

static const char profile_text[] = PROFILE("1s");
static const char profile_patient[] = PROFILE("60s");

struct bed {
	sd_event *loop;
	struct profile *profile;
	struct sysroot roots;
	struct monitor_config config;
	struct monitor *monitor;
	struct device_info list[2];
	struct devices devices;
	bool clock;
	struct exchange exchange;
};

static const struct devices *bed_devices(void *arg)
{
	return &((struct bed *)arg)->devices;
}

static bool bed_clock(void *arg, struct exchange *best)
{
	struct bed *bed = arg;

	*best = bed->exchange;
	return bed->clock;
}

static void bed_init_with(struct bed *bed, const char *profile)
{
	struct error err = { 0 };

	*bed = (struct bed){ 0 };
	sd_event_new(&bed->loop);
	bed->profile =
		profile_parse(profile, strlen(profile), "profile.yaml", &err);
	if (!bed->profile)
		printf("# %s\n", err.text);
	bed->roots = real_roots;
	bed->roots.bin = folder;
	bed->config = (struct monitor_config){
		.node = "n1",
		.roots = &bed->roots,
		.interval_ms = INTERVAL_MS,
		.devices = bed_devices,
		.clock = bed_clock,
		.arg = bed,
	};
	bed->monitor = monitor_new(bed->loop, &bed->config, NULL);
	/* The agent knows it when it has looked at the devices. */
	bed->config.profile = bed->profile;
}

static void bed_init(struct bed *bed)
{
	bed_init_with(bed, profile_text);
}

static void bed_clear(struct bed *bed)
{
	monitor_free(bed->monitor);
	profile_free(bed->profile);
	sd_event_unref(bed->loop);
}
OWNED_VALUE(struct bed, bed_clear)

/* Device 0 of the node is the tool's card 1: by their bus. */
static void bed_turn_devices(struct bed *bed)
{
	bed->list[0] = (struct device_info){ .index = 0,
					     .bus_id = (char *)"0000:02:00.0",
					     .name = (char *)"Second" };
	bed->list[1] = (struct device_info){ .index = 1,
					     .bus_id = (char *)"0000:01:00.0" };
	bed->devices.list = bed->list;
	bed->devices.count = 2;
}

static struct monitor_stream *begin(struct bed *bed, const char *name,
				    const char *device)
{
	struct strings devices = { 0 };
	struct monitor_stream *stream;
	int fd = open(path_of(name), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
		      0600);

	if (device)
		strings_add(&devices, device, NULL);
	stream = monitor_begin(bed->monitor, 0, &devices, fd, NULL);
	strings_clear(&devices);
	return stream;
}

/* What the stream amounts to; the caller deletes it. */
static cJSON *summary(const char *name)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	struct usage *usage = usage_new(NULL);
	const struct usage *list[] = { usage };
	cJSON *result;

	file_read(AT_FDCWD, path_of(name), &text, NULL);
	usage_feed(usage, text.data, text.size, NULL);
	result = usage_tree(list, 1);
	usage_free(usage);
	return result;
}

static const cJSON *at(const cJSON *item, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(item, name);
}

static const cJSON *nth(const cJSON *object, const char *name, int n)
{
	return cJSON_GetArrayItem(at(object, name), n);
}

static double number(const cJSON *item, const char *name)
{
	return cJSON_IsNumber(at(item, name)) ? at(item, name)->valuedouble
					      : NAN;
}

static const char *error_text(const cJSON *usage, int n)
{
	const char *text =
		cJSON_GetStringValue(at(nth(usage, "errors", n), "text"));

	return text ? text : "";
}

static int count_text(const char *name, const char *word)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	int n = 0;

	file_read(AT_FDCWD, path_of(name), &text, NULL);
	for (const char *p = text.data; (p = strstr(p, word)); p++)
		n++;
	return n;
}

/* Turn the loop until the stream has so many of a word. */
static bool wait_for(struct bed *bed, const char *name, const char *word,
		     int count)
{
	int64_t end_ms = clock_mono_ms() + 10000;

	while (count_text(name, word) < count && clock_mono_ms() < end_ms)
		sd_event_run(bed->loop, 20000);
	return count_text(name, word) >= count;
}

static void two_tasks(void)
{
	owned(bed_clear) struct bed bed;
	struct monitor_stream *one, *two;
	cJSON *usage;

	make_tool(TWO);
	bed_init(&bed);
	bed_turn_devices(&bed);
	bed.clock = true;
	bed.exchange = (struct exchange){ 7000000 - clock_mono_ms(), 2 };
	one = begin(&bed, "one", "0");
	two = begin(&bed, "two", "1");
	ok(wait_for(&bed, "one", "\"d\":[[0", 3) &&
		   wait_for(&bed, "two", "\"d\":[[1", 3),
	   "two tasks are sampled");
	monitor_end(one);
	monitor_end(two);
	usage = summary("one");
	ok(number(at(nth(usage, "devices", 0), "power_w"), "mean") == 200 &&
		   number(usage, "mem_used_mib") == 20,
	   "a task has the readings of its own device, known by its bus");
	is_int(cJSON_GetArraySize(at(usage, "devices")), 1, "and no other's");
	is(cJSON_GetStringValue(at(nth(usage, "devices", 0), "name")), "Second",
	   "by name");
	ok(number(nth(usage, "hosts", 0), "samples") >= 3 &&
		   cJSON_IsObject(at(nth(usage, "hosts", 0), "cpu_pct")),
	   "the host is read beside it");
	ok(count_text("one", "\"time_ms\":700") ==
			   count_text("one", "\"trace\":") &&
		   count_text("one", "{\"t\":700") ==
			   count_text("one", "{\"t\":"),
	   "times are of the controller's clock");
	ok(number(nth(usage, "hosts", 0), "round_trip_ms") == 2,
	   "the head says how well it is known");
	cJSON_Delete(usage);
	usage = summary("two");
	ok(number(at(nth(usage, "devices", 0), "power_w"), "mean") == 100,
	   "the other task has the other device");
	cJSON_Delete(usage);
}

#define TABLE                                                                  \
	"  timeout: 1s\n"                                                      \
	"  layouts:\n"                                                         \
	"    - name: table\n"                                                  \
	"      read: columns\n"                                                \
	"      separator: comma\n"                                             \
	"      when: '^id,'\n"                                                 \
	"      fields: {device: id, bus_id: bus, power_w: w}\n"

/* A tool that loops is started once, and its header stands for all. */
static void loop(void)
{
	owned(bed_clear) struct bed bed;
	char body[400];
	cJSON *usage;

	snprintf(body, sizeof(body),
		 "echo \"$1\" >>%s/starts; echo id,bus,w; n=0\n"
		 "while [ $((n += 1)) -le 4 ]; do echo 0,0000:01:00.0,${n}00;\n"
		 "echo 1,0000:02:00.0,5; sleep 0.1; done; exec sleep 1000",
		 folder);
	make_tool(body);
	bed_init_with(&bed, "vendor: invented\nmonitor:\n  command: [tool]\n"
			    "  loop: every=\n" TABLE);
	bed_turn_devices(&bed);
	begin(&bed, "loop", "1");
	ok(wait_for(&bed, "loop", "\"d\":[[1,", 4),
	   "a tool that loops is read");
	is_int(count_text("starts", "every=50\n"), 1, "it is started once");
	usage = summary("loop");
	ok(number(at(nth(usage, "devices", 0), "power_w"), "mean") == 250,
	   "each time counts once");
	cJSON_Delete(usage);
	ok(wait_for(&bed, "loop", "tool: prints nothing for 1000 ms; killed",
		    1),
	   "one that falls silent is told, and ended");
}

static void loop_without_output(void)
{
	owned(bed_clear) struct bed bed;

	make_tool("exit 0");
	bed_init_with(&bed, "vendor: invented\nmonitor:\n  command: [tool]\n"
			    "  loop: every=\n" TABLE);
	bed_turn_devices(&bed);
	begin(&bed, "mute", "1");
	ok(wait_for(&bed, "mute", "tool: monitor output: no line", 1),
	   "one that ends without a word is told");
}

static void next_command(void)
{
	owned(bed_clear) struct bed bed;

	make_tool("[ \"$1\" = new ] && exit 3; " TWO);
	bed_init_with(&bed,
		      "vendor: invented\nmonitor:\n"
		      "  command: [[not-there], [tool, new], [tool, old]]\n"
		      "  layouts:\n    - name: lines\n      read: lines\n"
		      "      device: ['card (?<device>\\d+) (?<bus_id>\\S+) "
		      "(?<power_w>\\d+ W)']\n");
	bed_turn_devices(&bed);
	begin(&bed, "next", "0");
	ok(wait_for(&bed, "next", "\"d\":[[0,200]]", 2) &&
		   !count_text("next", "\"error\""),
	   "of several commands the one that works is used");
	make_tool("exit 4");
	ok(wait_for(&bed, "next", "tool: exit code 4", 1),
	   "if none works, the last one's failure is told");
}

static void put_file(const char *name, const char *text)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s", folder, name);
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(path, 0755);
		*p = '/';
	}
	file_write(AT_FDCWD, path, text, strlen(text), 0644, 0, NULL);
}

/* What the kernel says of a device, with and without a tool beside it. */
static void kernel_files(void)
{
	owned(bed_clear) struct bed bed;
	owned_free char *sys = strdup(path_of("sys"));
	cJSON *usage;
	const cJSON *device;

	make_tool(TWO);
	put_file("0000:02:00.0/current_link_speed", "16.0 GT/s PCIe\n");
	put_file("0000:02:00.0/current_link_width", "8\n");
	put_file("0000:02:00.0/aer_dev_correctable",
		 "RxErr 0\nTimeout 2\nTOTAL_ERR_COR 2\n");
	bed_init(&bed);
	bed.roots.sys = sys;
	bed_turn_devices(&bed);
	begin(&bed, "beside", "0");
	ok(wait_for(&bed, "beside", "\"d\":[[0,", 2), "sampled beside a tool");
	usage = summary("beside");
	device = nth(usage, "devices", 0);
	ok(number(device, "pcie_gen") == 4 &&
		   number(device, "pcie_width") == 8 &&
		   number(device, "link_errors") == 0 &&
		   number(at(device, "power_w"), "mean") == 200,
	   "the state of its link stands beside what the tool gives");
	cJSON_Delete(usage);
}

static void no_tool(void)
{
	static const char profile[] =
		"vendor: invented\n"
		"discover: {pci: {vendors: [\"1abc\"]}}\n"
		"monitor:\n"
		"  files:\n"
		"    temp_c: {path: "
		"\"/sys/bus/pci/devices/{bus}/hwmon/hwmon*/t\", "
		"unit: mC}\n"
		"    power_w: {path: [\"/sys/bus/pci/devices/{bus}/none\", "
		"\"/sys/bus/pci/devices/{bus}/uw\"], unit: uW}\n"
		"    clock_mhz: {path: \"/sys/bus/pci/devices/{bus}/clocks\", "
		"match: "
		"'\\d: (\\d+Mhz) \\*'}\n"
		"  command: [tool]\n" TABLE;
	owned(bed_clear) struct bed bed;
	owned_free char *sys = strdup(path_of("sys"));
	cJSON *usage;
	const cJSON *device;

	make_tool("exit 1");
	for (int i = 1; i <= 2; i++) {
		char name[60];

		snprintf(name, sizeof(name), "0000:0%d:00.0/hwmon/hwmon7/t", i);
		put_file(name, i == 1 ? "41000\n" : "52500\n");
		snprintf(name, sizeof(name), "0000:0%d:00.0/uw", i);
		put_file(name, "300000000\n");
		snprintf(name, sizeof(name), "0000:0%d:00.0/clocks", i);
		put_file(name, "0: 132Mhz\n1: 1500Mhz *\n2: 2100Mhz\n");
	}
	bed_init_with(&bed, profile);
	bed.roots.sys = sys;
	bed_turn_devices(&bed);
	begin(&bed, "files", "0");
	ok(wait_for(&bed, "files", "\"d\":[[0,", 3) &&
		   !count_text("files", "\"error\""),
	   "files are enough: no tool is run");
	usage = summary("files");
	device = nth(usage, "devices", 0);
	ok(number(at(device, "temp_c"), "mean") == 52.5 &&
		   number(at(device, "power_w"), "mean") == 300 &&
		   number(at(device, "clock_mhz"), "mean") == 1500,
	   "in their units");
	is(cJSON_GetStringValue(at(usage, "power_source")), "device, by /sys",
	   "and told as their source");
	cJSON_Delete(usage);
}

/* Only what is logged while a task runs, and what the profile names. */
static void kernel_lines(void)
{
	owned(bed_clear) struct bed bed;
	char *path = path_of("kmsg");
	owned_free char *dev = strdup(folder);
	FILE *file = fopen(path, "we");
	cJSON *usage;

	fputs("3,1,1000,-;ODD: error 1 of an earlier job\n", file);
	fflush(file);
	make_tool(TWO);
	bed_init_with(&bed,
		      "vendor: invented\nmonitor:\n  kernel: 'ODD: error'\n"
		      "  layouts:\n    - name: lines\n      read: lines\n"
		      "      device: ['card (?<device>\\d+)']\n");
	bed.roots.dev = dev;
	begin(&bed, "kernel", NULL);
	wait_for(&bed, "kernel", "\"h\":", 2);
	fputs("6,2,2000,-;eth0: link is up\n"
	      "6,4,2400,-;mine[7]: segfault at 0 ip 0 in ODD: error 5[1000]\n"
	      "12,4,2500,-;ODD: error 13, as a program writes to kmsg\n"
	      "3,3,3000,-;ODD: error 79 of \033[31mdevice 1\n "
	      "SUBSYSTEM=pci;x\n",
	      file);
	fclose(file);
	ok(wait_for(&bed, "kernel", "\"error\"", 1), "an error is told");
	usage = summary("kernel");
	is(error_text(usage, 0), "kernel: ODD: error 79 of ?[31mdevice 1",
	   "as the kernel says it");
	is_int(cJSON_GetArraySize(at(usage, "errors")), 1, "and nothing else");
	cJSON_Delete(usage);
}

static void clock_found(void)
{
	owned(bed_clear) struct bed bed;
	cJSON *usage;

	make_tool(TWO);
	bed_init(&bed);
	begin(&bed, "late", "1");
	wait_for(&bed, "late", "\"h\":", 2);
	bed.clock = true;
	bed.exchange = (struct exchange){ 5000, 40 };
	ok(wait_for(&bed, "late", "\"round_trip_ms\":40,", 1),
	   "a clock that becomes known is told");
	bed.exchange = (struct exchange){ 5001, 50 };
	wait_for(&bed, "late", "\"h\":", count_text("late", "\"h\":") + 3);
	is_int(count_text("late", "\"round_trip_ms\":50,"), 0,
	       "a worse guess is not");
	bed.exchange = (struct exchange){ 5001, 4 };
	ok(wait_for(&bed, "late", "\"round_trip_ms\":4,", 1),
	   "a better one is");
	wait_for(&bed, "late", "\"d\":[[1", 1);
	usage = summary("late");
	ok(number(nth(usage, "hosts", 0), "round_trip_ms") == 4 &&
		   number(at(nth(usage, "devices", 0), "power_w"), "max") ==
			   200,
	   "devices that nobody described are the tool's rows, in order");
	cJSON_Delete(usage);
}

static void adopted(void)
{
	owned(bed_clear) struct bed bed;
	FILE *file = fopen(path_of("old"), "we");
	cJSON *usage;

	fputs("{\"t\":1000,\"d\":[[0,", file);
	fclose(file);
	make_tool(TWO);
	bed_init(&bed);
	begin(&bed, "old", "0");
	wait_for(&bed, "old", "\"d\":[[0", 3);
	usage = summary("old");
	ok(number(usage, "broken_lines") == 1 &&
		   number(nth(usage, "devices", 0), "samples") >= 1,
	   "half a line of an agent that was killed costs that line only");
	cJSON_Delete(usage);
}

static void failures(void)
{
	static const struct {
		const char *body, *text, *what;
	} cases[] = {
		{ "echo no driver loaded >&2; exit 9",
		  "tool: exit code 9: no driver loaded", "fails" },
		{ "echo; echo No devices were found; exit 6",
		  "tool: exit code 6: No devices were found",
		  "fails with words on stdout" },
		{ "exec sleep 1000",
		  "tool: still running after 1000 ms; killed", "hangs" },
		{ "sleep 1000 & exec sleep 1000",
		  "tool: still running after 1000 ms; killed",
		  "hangs, and its child with it" },
		{ "exec head -c 8000000 /dev/zero",
		  "tool: printed more than 4194304 bytes; killed", "floods" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		owned(bed_clear) struct bed bed;
		char name[32];
		cJSON *usage;

		snprintf(name, sizeof(name), "failure-%zu", i);
		make_tool(cases[i].body);
		bed_init_with(&bed, strstr(cases[i].text, "still running")
					    ? profile_text
					    : profile_patient);
		begin(&bed, name, "0");
		wait_for(&bed, name, "\"error\"", 1);
		wait_for(&bed, name, "\"h\":", 8);
		usage = summary(name);
		is(error_text(usage, 0), cases[i].text,
		   "a tool that %s is told", cases[i].what);
		is_int(cJSON_GetArraySize(at(usage, "errors")), 1,
		       "once for the cause");
		ok(number(nth(usage, "errors", 0), "count") == 1 &&
			   number(nth(usage, "hosts", 0), "samples") >= 8,
		   "and the host is read all the same");
		cJSON_Delete(usage);
	}
}

static void missing_and_back(void)
{
	owned(bed_clear) struct bed bed;
	cJSON *usage;

	unlink(path_of("tool"));
	bed_init(&bed);
	begin(&bed, "back", "0");
	wait_for(&bed, "back", "\"error\"", 1);
	make_tool("echo what is this");
	bed_turn_devices(&bed);
	usage = summary("back");
	is(error_text(usage, 0),
	   "tool: exit code 127: cannot be executed: No such file or directory",
	   "a tool that is not there is told");
	cJSON_Delete(usage);
	make_tool(TWO);
	ok(wait_for(&bed, "back", "\"d\":[[0", 2),
	   "once it is there it is sampled");
	make_tool("echo 'card 0 0000:01:00.0 100 W 10 MiB'");
	ok(wait_for(&bed, "back", "does not report device 0", 1),
	   "a device that has no row any more is told");
	wait_for(&bed, "back", "\"h\":", count_text("back", "\"h\":") + 3);
	is_int(count_text("back", "does not report"), 1, "once");
}

/* The times of the stream's readings, in order. */
static size_t times(const char *name, int64_t list[], size_t max)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	size_t count = 0;

	file_read(AT_FDCWD, path_of(name), &text, NULL);
	for (const char *p = text.data;
	     count < max && (p = strstr(p, "{\"t\":")); p++) {
		const char *end = strchr(p, '\n');
		const char *devices = strstr(p, "\"d\":");

		if (end && devices && devices < end)
			list[count++] = strtoll(p + 5, NULL, 10);
	}
	return count;
}

/* How fast this machine is says nothing: however long a run takes, the next
 * one begins behind it, and what lies between two readings is told.
 */
static void slow_tool(void)
{
	owned(bed_clear) struct bed bed;
	int64_t list[64], least = INT64_MAX, most = 0;
	double stated;
	cJSON *usage;
	size_t count;

	make_tool("n=${0%/*}; mkdir $n/runs_now || echo x >>$n/overlaps\n"
		  "sleep 0.12; rmdir $n/runs_now; " TWO);
	bed_init(&bed);
	begin(&bed, "slow", "0");
	ok(wait_for(&bed, "slow", "\"d\":[[0", 4),
	   "a slow tool is run again and again");
	ok(access(path_of("overlaps"), F_OK) < 0,
	   "never before the last run has ended");
	count = times("slow", list, 64);
	for (size_t i = 1; i < count; i++) {
		least = list[i] - list[i - 1] < least ? list[i] - list[i - 1]
						      : least;
		most = list[i] - list[i - 1] > most ? list[i] - list[i - 1]
						    : most;
	}
	/* A millisecond for the rounding of each of two times. */
	ok(count >= 4 && least >= 120 - 2,
	   "readings are the length of a run apart");
	usage = summary("slow");
	stated = number(nth(usage, "hosts", 0), "interval_ms");
	ok(stated >= 3 * INTERVAL_MS, "and the head states that");
	is_int((long long)number(nth(usage, "devices", 0), "gaps") == 0,
	       (double)most <= 5 * stated, "so it is no gap");
	cJSON_Delete(usage);
}

static void idle(void)
{
	owned(bed_clear) struct bed bed;
	struct monitor_stream *stream;
	int64_t end_ms;

	make_tool("echo x >>\"${0%/*}/runs\"; " TWO);
	bed_init(&bed);
	stream = begin(&bed, "idle", "0");
	wait_for(&bed, "idle", "\"d\":[[0", 1);
	monitor_end(stream);
	unlink(path_of("runs"));
	end_ms = clock_mono_ms() + (int64_t)4 * INTERVAL_MS;
	while (clock_mono_ms() < end_ms)
		sd_event_run(bed.loop, 10000);
	ok(access(path_of("runs"), F_OK) < 0,
	   "with no task left no tool is run");
	is_int(monitor_begin(bed.monitor, 0,
			     &(struct strings){ (char *[]){ (char *)"x" }, 1 },
			     open("/dev/null", O_WRONLY | O_CLOEXEC),
			     NULL) == NULL,
	       1, "a device that is no number is refused");
}

static void ipmi(void)
{
	owned(bed_clear) struct bed bed;
	FILE *file = fopen(path_of("ipmitool"), "we");
	cJSON *usage;

	fputs("#!/bin/sh\n[ \"$*\" = 'dcmi power reading' ] || exit 1\n"
	      "echo '    Instantaneous power reading:       742 Watts'\n",
	      file);
	fclose(file);
	chmod(path_of("ipmitool"), 0755);
	make_tool(TWO);
	bed_init(&bed);
	bed.config.ipmi = true;
	begin(&bed, "ipmi", NULL);
	ok(wait_for(&bed, "ipmi", ",742,", 1), "the machine's power is read");
	usage = summary("ipmi");
	ok(number(at(nth(usage, "hosts", 0), "power_w"), "max") == 742,
	   "and is in the summary");
	cJSON_Delete(usage);
}

static void processors(void)
{
	static const char *const bad[] = { "",     "x",  "1-",  "-1",    "3-1",
					   "1,,2", "1,", "0x1", "99999", "1 " };
	struct error err;
	cpu_set_t cpus;

	ok(cpu_list_parse("0-2,5", &cpus, &err) == 0 && CPU_COUNT(&cpus) == 4 &&
		   CPU_ISSET(2, &cpus) && CPU_ISSET(5, &cpus) &&
		   !CPU_ISSET(3, &cpus),
	   "a list of processors is read");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(cpu_list_parse(bad[i], &cpus, &err) < 0 &&
			   err.code == EINVAL,
		   "'%s' is none", bad[i]);
}

int main(void)
{
	sigset_t mask;

	tap_begin(120);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	if (!mkdtemp(folder))
		return 1;
	two_tasks();
	loop();
	loop_without_output();
	next_command();
	kernel_files();
	no_tool();
	kernel_lines();
	clock_found();
	adopted();
	failures();
	missing_and_back();
	slow_tool();
	idle();
	ipmi();
	processors();
	file_remove_tree(AT_FDCWD, folder, NULL);
	return tap_done();
}
