/* device_test.c - which devices a simulated machine is found to have.
 */
#include "protocol/hardware/device.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"
#include "tests/unit/hardware_lab.h"

#include <errno.h>
#include <sys/stat.h>

/* What was found, as "bus_id(number=value ...)numa chip; ..." */
static char *told(const struct devices *devices)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < devices->count; i++) {
		const struct device_info *device = &devices->list[i];

		fprintf(out, "%s%s(", i ? "; " : "",
			device->bus_id ? device->bus_id : "");
		for (size_t n = 0; n < device->numbers_count; n++)
			fprintf(out, "%s%s=%s", n ? " " : "",
				device->numbers[n].name,
				device->numbers[n].value);
		fprintf(out, ")");
		if (device->numa >= 0)
			fprintf(out, " numa%lld", (long long)device->numa);
		if (device->chip)
			fprintf(out, " %s", device->chip);
		if (device->index != i)
			fprintf(out, " wrong index");
		if (device->text)
			fprintf(out, " broken");
	}
	fclose(out);
	return text;
}

struct found {
	struct devices devices;
	char why[512];
	struct error err;
	int rc;
};

static void found_clear(struct found *found)
{
	devices_clear(&found->devices);
}
OWNED_VALUE(struct found, found_clear)

static struct found find(const struct profile *profile, struct lab *lab,
			 const struct samples *monitor,
			 const struct samples *map)
{
	struct found found = { 0 };

	found.rc = devices_find(profile, &lab->roots, monitor, map, NULL,
				&found.devices, found.why, sizeof(found.why),
				&found.err);
	if (found.rc < 0)
		printf("# %s\n", found.err.text);
	return found;
}

static void finds(const struct profile *profile, struct lab *lab,
		  const struct samples *monitor, const struct samples *map,
		  const char *want, const char *name)
{
	owned(found_clear) struct found found =
		find(profile, lab, monitor, map);
	owned_free char *got = told(&found.devices);

	if (!is(got, want, "%s", name))
		printf("# %s\n", found.why);
}

static void why_is(const struct profile *profile, struct lab *lab,
		   const char *want, const char *name)
{
	owned(found_clear) struct found found = find(profile, lab, NULL, NULL);

	is(found.why, want, "%s", name);
}

/* Minor numbers against the order of the bus, an audio function, a bridge. */
static void nvidia(void)
{
	owned(profile_free) struct profile *profile = lab_profile("nvidia");
	struct lab lab;

	lab_begin(&lab);
	lab_pci(&lab, "0000:86:00.0", "10de", "20b2", "030200", 1);
	lab_pci(&lab, "0000:07:00.0", "10de", "20b2", "030200", 0);
	lab_pci(&lab, "0000:07:00.1", "10de", "228b", "040300", 0);
	lab_pci(&lab, "0000:00:1f.0", "8086", "a1c3", "060100", 0);
	lab_pci(&lab, "0000:c4:00.0", "10de", "1af1", "068000", 1);
	lab_file(&lab, "/proc/driver/nvidia/gpus/0000:86:00.0/information",
		 "Model: \t\t NVIDIA A100\nDevice Minor: \t 0\n");
	lab_file(&lab, "/proc/driver/nvidia/gpus/0000:07:00.0/information",
		 "Model: \t\t NVIDIA A100\nDevice Minor: \t 1\n");
	lab_node(&lab, "/dev/nvidia0");
	lab_node(&lab, "/dev/nvidia1");
	finds(profile, &lab, NULL, NULL,
	      "0000:07:00.0(minor=1 index=0) numa0 A100-SXM4-80GB; "
	      "0000:86:00.0(minor=0 index=1) numa1 A100-SXM4-80GB",
	      "nvidia: minors are not indices; other functions are not "
	      "devices");
	lab_remove(&lab, "/dev/nvidia1");
	finds(profile, &lab, NULL, NULL,
	      "0000:07:00.0(minor=1 index=0) numa0 A100-SXM4-80GB broken; "
	      "0000:86:00.0(minor=0 index=1) numa1 A100-SXM4-80GB",
	      "a device without its node is there, and broken");
	lab_remove(&lab, "/proc/driver/nvidia/gpus/0000:07:00.0");
	finds(profile, &lab, NULL, NULL,
	      "0000:86:00.0(minor=0 index=0) numa1 A100-SXM4-80GB",
	      "one without its minor is left out, and not counted");
	lab_end(&lab);
}

static void why(void)
{
	owned(profile_free) struct profile *profile = lab_profile("nvidia");
	struct lab lab;
	char want[200];

	lab_begin(&lab);
	snprintf(want, sizeof(want),
		 "no PCI devices: %s/bus/pci/devices: No such file or "
		 "directory",
		 lab.sys);
	why_is(profile, &lab, want, "a machine without PCI says so");
	lab_pci(&lab, "0000:00:1f.0", "8086", "a1c3", "060100", 0);
	why_is(profile, &lab,
	       "none of 1 PCI functions has vendor id 10de and class 0302, "
	       "0300",
	       "and one without the vendor's functions what was looked for");
	lab_pci(&lab, "0000:07:00.0", "10de", "20b2", "030200", 0);
	snprintf(want, sizeof(want),
		 "0000:07:00.0 left out: no number minor: "
		 "%s/driver/nvidia/gpus/0000:07:00.0/information: No such file "
		 "or directory",
		 lab.proc);
	why_is(profile, &lab, want, "what is left out is said");
	lab_end(&lab);
}

/* Its numbers are those of the DRM subsystem, where others are, too. */
static void metax(void)
{
	owned(profile_free) struct profile *profile = lab_profile("metax");
	struct lab lab;

	lab_begin(&lab);
	lab_pci(&lab, "0000:03:00.0", "1a03", "2000", "030000", -1);
	lab_file(&lab, "/sys/bus/pci/devices/0000:03:00.0/drm/card0/dev", "1");
	for (int i = 0; i < 2; i++) {
		char bus[16], path[128];

		snprintf(bus, sizeof(bus), "0000:%02x:00.0", 0x0e + i);
		lab_pci(&lab, bus, "9999", "4001", "030200", i);
		snprintf(path, sizeof(path),
			 "/sys/bus/pci/devices/%s/drm/card%d/dev", bus, i + 1);
		lab_file(&lab, path, "226:%d", i + 1);
		snprintf(path, sizeof(path),
			 "/sys/bus/pci/devices/%s/drm/card%d-DP-1/dev", bus, 0);
		lab_file(&lab, path, "x");
		snprintf(path, sizeof(path),
			 "/sys/bus/pci/devices/%s/drm/renderD%d/dev", bus,
			 128 + i);
		lab_file(&lab, path, "226:%d", 128 + i);
		snprintf(path, sizeof(path), "/dev/dri/card%d", i + 1);
		lab_node(&lab, path);
		snprintf(path, sizeof(path), "/dev/dri/renderD%d", 128 + i);
		lab_node(&lab, path);
	}
	/* A part of the first, made for a virtual machine. */
	lab_pci(&lab, "0000:0e:00.1", "9999", "4002", "030200", 0);
	lab_pci(&lab, "0000:0e:01.0", "9999", "4002", "030200", 0);
	lab_link(&lab, "/sys/bus/pci/devices/0000:0e:01.0/physfn",
		 "../0000:0e:00.0");
	finds(profile, &lab, NULL, NULL,
	      "0000:0e:00.0(card=1 render=128 index=0) numa0; "
	      "0000:0f:00.0(card=2 render=129 index=1) numa1",
	      "metax: DRM numbers by PCI function; virtual functions are none");
	lab_end(&lab);
}

static struct device_sample row(const char *device, const char *bus_id)
{
	struct device_sample sample = { 0 };

	snprintf(sample.device, sizeof(sample.device), "%s", device);
	snprintf(sample.bus_id, sizeof(sample.bus_id), "%s", bus_id);
	return sample;
}

static void ascend(void)
{
	owned(profile_free) struct profile *profile = lab_profile("ascend");
	struct device_sample npus[] = { row("0/0", "0000:C1:00.0"),
					row("1/0", "0000:81:00.0") };
	struct device_sample ids[] = { row("0/0", ""), row("1/0", "") };
	struct samples monitor = { .rows = npus, .count = 2 };
	struct samples map = { .rows = ids, .count = 2 };
	owned(found_clear) struct found blind = { 0 };
	struct lab lab;

	lab_begin(&lab);
	lab_pci(&lab, "0000:c1:00.0", "19e5", "d802", "120000", 1);
	lab_pci(&lab, "0000:81:00.0", "19e5", "d802", "120000", 0);
	lab_pci(&lab, "0000:c2:00.0", "19e5", "d802", "120000", 1);
	lab_node(&lab, "/dev/davinci4");
	lab_node(&lab, "/dev/davinci5");
	snprintf(ids[0].physical, sizeof(ids[0].physical), "4");
	snprintf(ids[1].physical, sizeof(ids[1].physical), "5");
	snprintf(npus[0].name, sizeof(npus[0].name), "910B3");
	npus[0].has = 1U << READING_MEM_TOTAL_MIB;
	npus[0].value[READING_MEM_TOTAL_MIB] = 65536;
	finds(profile, &lab, &monitor, &map,
	      "0000:81:00.0(physical=5) numa0; "
	      "0000:c1:00.0(physical=4) numa1 910B3",
	      "ascend: nodes by physical id; one without it is left out");
	blind = find(profile, &lab, NULL, NULL);
	ok(blind.rc == 0 && blind.devices.count == 0 &&
		   blind.devices.left_out == 3,
	   "without the tool all are left out, and counted as such");
	lab_end(&lab);
}

static void kunlunxin(void)
{
	owned(profile_free) struct profile *profile = lab_profile("kunlunxin");
	struct device_sample rows[] = { row("7", "00000000:0E:00.0"),
					row("0", "00000000:1B:00.0") };
	struct samples monitor = { .rows = rows, .count = 2 };
	owned(found_clear) struct found found = { 0 };
	struct lab lab;

	lab_begin(&lab);
	lab_pci(&lab, "0000:0e:00.0", "2057", "a000", "120000", 0);
	lab_pci(&lab, "0000:1b:00.0", "2057", "a000", "120000", 0);
	lab_node(&lab, "/dev/xpu0");
	lab_node(&lab, "/dev/xpu7");
	snprintf(rows[0].uuid, sizeof(rows[0].uuid), "XPU-1");
	found = find(profile, &lab, &monitor, NULL);
	ok(found.devices.count == 2 &&
		   !strcmp(device_number(&found.devices.list[0], "index"), "7"),
	   "kunlunxin: the tool's index is not the order of the bus");
	is(found.devices.count ? found.devices.list[0].uuid : NULL, "XPU-1",
	   "what the tool knows is laid over by bus id");
	lab_end(&lab);
}

/* Two dies behind one PCI function. */
static void dies(void)
{
	owned(profile_free) struct profile *profile = lab_profile_text(
		"vendor: dual\n"
		"discover: {pci: {vendors: [\"1e3e\"]}, numbers: {index: "
		"{monitor: device}}}\n"
		"container: {nodes: {device: [\"/dev/dual{index}\"]}}\n"
		"monitor: {command: [dual-smi], layouts: [{name: rows, read: "
		"lines, device: ['(?<device>\\d+) (?<bus_id>\\S+)']}]}\n"
		"devices_per_card: 2\n");
	struct device_sample rows[] = { row("0", "8a:00.0"),
					row("1", "8a:00.0") };
	struct samples monitor = { .rows = rows, .count = 2 };
	struct lab lab;

	lab_begin(&lab);
	lab_pci(&lab, "0000:8a:00.0", "1e3e", "0003", "030200", 0);
	lab_node(&lab, "/dev/dual0");
	lab_node(&lab, "/dev/dual1");
	finds(profile, &lab, &monitor, NULL,
	      "0000:8a:00.0(index=0) numa0; 0000:8a:00.0(index=1) numa0",
	      "two dies of a card are two devices");
	lab_end(&lab);
}

static void nodes_only(void)
{
	owned(profile_free) struct profile *profile = lab_profile_text(
		"vendor: odd\n"
		"discover: {nodes: \"/dev/odd/x{index}y\"}\n"
		"container: {nodes: {device: [\"/dev/odd/x{index}y\"]}}\n");
	struct device_sample rows[] = { row("10", "") };
	struct samples monitor = { .rows = rows, .count = 1 };
	owned(found_clear) struct found found = { 0 };
	struct lab lab;

	lab_begin(&lab);
	why_is(profile, &lab, "no device node /dev/odd/x*y",
	       "nodes that are not there are named");
	lab_node(&lab, "/dev/odd/x10y");
	lab_node(&lab, "/dev/odd/x9y");
	lab_node(&lab, "/dev/odd/xy");
	lab_node(&lab, "/dev/odd/x1ay");
	lab_file(&lab, "/dev/odd/x3y", "a file");
	finds(profile, &lab, NULL, NULL, "(index=9); (index=10)",
	      "nodes are devices, by number");
	snprintf(rows[0].name, sizeof(rows[0].name), "Odd \x01 One");
	found = find(profile, &lab, &monitor, NULL);
	is(found.devices.count == 2 ? found.devices.list[1].name : NULL,
	   "Odd ? One", "the tool's row is found by that number");
	lab_end(&lab);
}

static void memory_may_run_out(void)
{
	owned(profile_free) struct profile *profile = lab_profile_text(
		"vendor: odd\n"
		"discover: {nodes: \"/dev/odd/x{index}y\"}\n"
		"container: {nodes: {device: [\"/dev/odd/x{index}y\"]}}\n");
	struct device_sample rows[] = { row("1", "") };
	struct samples monitor = { .rows = rows, .count = 1 };
	bool failed = true, good = true;
	struct lab lab;
	long n = 0;

	lab_begin(&lab);
	lab_node(&lab, "/dev/odd/x1y");
	lab_node(&lab, "/dev/odd/x2y");
	while (failed && good) {
		owned(found_clear) struct found found = { 0 };

		fault_arm(++n);
		found.rc = devices_find(profile, &lab.roots, &monitor, NULL,
					NULL, &found.devices, found.why,
					sizeof(found.why), &found.err);
		failed = fault_disarm();
		good = found.rc < 0 ? !found.devices.count : true;
	}
	ok(good && n > 5, "each of %ld allocations may fail", n - 1);
	lab_end(&lab);
}

/* A driver takes no number from a card because another one went. */
static void one_goes(void)
{
	owned(profile_free) struct profile *profile = lab_profile_text(
		"vendor: odd\n"
		"discover: {pci: {vendors: [\"1111\"]}, numbers: {index: "
		"{order: bus}, now: {order: present}}}\n");
	owned(found_clear) struct found after = { 0 };
	owned_free char *got = NULL;
	struct lab lab;
	char bus[] = "0000:01:00.0";

	lab_begin(&lab);
	for (bus[6] = '1'; bus[6] < '5'; bus[6]++)
		lab_pci(&lab, bus, "1111", "0001", "120000", 0);
	owned(found_clear) struct found before =
		find(profile, &lab, NULL, NULL);
	lab_remove(&lab, "/sys/bus/pci/devices/0000:02:00.0");
	lab_pci(&lab, "0000:00:00.0", "1111", "0001", "120000", 0);
	after.rc = devices_find(profile, &lab.roots, NULL, NULL,
				&before.devices, &after.devices, after.why,
				sizeof(after.why), &after.err);
	got = told(&after.devices);
	is(got,
	   "0000:00:00.0(index=4 now=0) numa0; "
	   "0000:01:00.0(index=0 now=1) numa0; "
	   "0000:03:00.0(index=2 now=2) numa0; "
	   "0000:04:00.0(index=3 now=3) numa0",
	   "known devices keep the number of their order, a new one gets one "
	   "that none has");
	lab_end(&lab);
}

/* Hostile machines. */

static void links_out(void)
{
	owned(profile_free) struct profile *profile = lab_profile_text(
		"vendor: odd\n"
		"discover: {pci: {vendors: [\"1111\"]}, numbers: {index: "
		"{order: bus}}}\n"
		"container: {nodes: {device: [\"/dev/odd{index}\"]}}\n");
	struct lab lab, other;
	char path[200];

	lab_begin(&lab);
	lab_begin(&other);
	lab_pci(&other, "0000:01:00.0", "1111", "0001", "120000", 0);
	snprintf(path, sizeof(path), "%s/bus/pci/devices/0000:01:00.0",
		 other.sys);
	lab_link(&lab, "/sys/bus/pci/devices/0000:01:00.0", path);
	finds(profile, &lab, NULL, NULL, "",
	      "a PCI function of another machine is none of this one");
	lab_remove(&lab, "/sys/bus/pci/devices/0000:01:00.0");
	lab_pci(&lab, "0000:01:00.0", "1111", "0001", "120000", 0);
	lab_link(&lab, "/dev/odd0", "/dev/null");
	finds(profile, &lab, NULL, NULL, "0000:01:00.0(index=0) numa0 broken",
	      "a node of the real /dev is none of a simulated one");
	lab_end(&other);
	lab_end(&lab);
}

static void hostile_sys(void)
{
	owned(profile_free) struct profile *profile = lab_profile_text(
		"vendor: odd\n"
		"discover: {pci: {vendors: [\"1111\"]}, numbers: {n: {file: "
		"\"/sys/bus/pci/devices/{bus}/n\"}}, required: [n]}\n");
	owned(found_clear) struct found many = { 0 };
	struct lab lab;
	char path[128];

	lab_begin(&lab);
	lab_pci(&lab, "0000:01:00.0", "1111", "0001", "120000", 0);
	lab_file(&lab, "/sys/bus/pci/devices/0000:01:00.0/n", "../../sda");
	lab_pci(&lab, "0000:02:00.0", "1111", "0001", "120000", 0);
	lab_file(&lab, "/sys/bus/pci/devices/0000:02:00.0/n", "%0999d", 1);
	lab_pci(&lab, "0000:03:00.0", "1111", "0001", "120000", 99999);
	lab_file(&lab, "/sys/bus/pci/devices/0000:03:00.0/n", "7\n");
	lab_file(&lab, "/sys/bus/pci/devices/0000:04:00.0/vendor", "0x1111%s",
		 "0000");
	lab_file(&lab, "/sys/bus/pci/devices/zzzz:04:00.0/vendor", "0x1111");
	lab_file(&lab, "/sys/bus/pci/devices/0000:05:00.0", "a file");
	snprintf(path, sizeof(path), "%s/bus/pci/devices/0000:06:00.0",
		 lab.sys);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/bus/pci/devices/0000:06:00.0/vendor",
		 lab.sys);
	mkfifo(path, 0644);
	finds(profile, &lab, NULL, NULL, "0000:03:00.0(n=7)",
	      "what is no number, no function, no file is left out");
	for (int i = 0; i <= DEVICES_MAX; i++) {
		char bus[16];

		snprintf(bus, sizeof(bus), "0000:%02x:00.0", 0x20 + i);
		lab_pci(&lab, bus, "1111", "0001", "120000", 0);
	}
	many = find(profile, &lab, NULL, NULL);
	ok(many.rc < 0 && many.err.code == E2BIG,
	   "more devices than a node can have is an error: %s", many.err.text);
	lab_end(&lab);
}

static void thousands(void)
{
	owned(profile_free) struct profile *profile =
		lab_profile_text("vendor: odd\n"
				 "discover: {nodes: \"/dev/odd{index}\"}\n");
	owned(found_clear) struct found found = { 0 };
	struct lab lab;
	char path[64];

	lab_begin(&lab);
	for (int i = 0; i < 5000; i++) {
		snprintf(path, sizeof(path), "/dev/odd%d", i);
		lab_file(&lab, path, "x");
	}
	found = find(profile, &lab, NULL, NULL);
	ok(found.rc < 0 && found.err.code == E2BIG,
	   "a folder of thousands is refused in words: %s", found.err.text);
	lab_end(&lab);
}

/* The table travels as it is. */
static void on_the_wire(void)
{
	struct device_number numbers[] = { { (char *)"minor", (char *)"3" } };
	struct device_info info = {
		.index = 5,
		.bus_id = (char *)"0000:07:00.0",
		.numa = -1,
		.memory_mib = 81920,
		.numbers = numbers,
		.numbers_count = 1,
		.gone = true,
	};
	owned(buffer_clear) struct buffer text = BUFFER_INIT(4096);
	struct device_info back;
	struct error err;

	codec_encode(&device_info_schema, &info, &text, &err);
	ok(codec_decode(&device_info_schema, text.data, text.size, &back,
			&err) == 0 &&
		   back.index == 5 && back.numa == -1 && back.gone &&
		   back.memory_mib == 81920 && !back.uuid && !back.text,
	   "a device is told as it is");
	is(device_number(&back, "minor"), "3", "with its numbers");
	is(device_number(&back, "index"), NULL, "and no others");
	codec_clear(&device_info_schema, &back);
}

int main(void)
{
	tap_begin(60);
	why();
	kunlunxin();
	on_the_wire();
	one_goes();
	hostile_sys();
	thousands();
	if (lab_nodes()) {
		nvidia();
		metax();
		ascend();
		dies();
		nodes_only();
		memory_may_run_out();
		links_out();
	} else {
		printf("# device nodes cannot be made here: their tests are "
		       "left out\n");
	}
	return tap_done();
}
