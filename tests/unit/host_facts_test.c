/* host_facts_test.c - what a host says of itself is so.
 */
#include "agent/metrics/host_facts.h"

#include "protocol/base/file.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <sys/utsname.h>

static const char *text_of(const cJSON *facts, const char *name)
{
	return cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(facts, name));
}

static double number_of(const cJSON *facts, const char *name)
{
	return cJSON_GetNumberValue(
		cJSON_GetObjectItemCaseSensitive(facts, name));
}

/* The first line of a command, as the shell would tell it. */
static const char *told(const char *command)
{
	static char line[512];
	FILE *out = popen(command, "r"); /* NOLINT: a fixed command of ours */

	line[0] = 0;
	if (out && !fgets(line, sizeof(line), out))
		line[0] = 0;
	if (out)
		pclose(out);
	line[strcspn(line, "\n")] = 0;
	return line;
}

static void the_host(void)
{
	const struct host_facts_source source = { .sys = "/sys",
						  .proc = "/proc" };
	cJSON *facts = host_facts_read(&source, NULL);
	const cJSON *networks =
		cJSON_GetObjectItemCaseSensitive(facts, "networks");
	const cJSON *network;
	struct utsname host;
	double memory = number_of(facts, "memory_bytes");
	bool good = true;

	uname(&host);
	ok(cJSON_IsObject(facts), "facts are an object");
	is(text_of(facts, "hostname"), host.nodename, "the host's name");
	is(text_of(facts, "kernel"), host.release, "its kernel");
	is(text_of(facts, "arch"), host.machine, "its architecture");
	is(text_of(facts, "os"), told(". /etc/os-release; echo $PRETTY_NAME"),
	   "its system, without quotes");
	is(text_of(facts, "cpu") ? text_of(facts, "cpu") : "",
	   told("sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo"),
	   "its processor, where there is a name");
	is_int((long long)number_of(facts, "cpus"),
	       strtol(told("getconf _NPROCESSORS_ONLN"), NULL, 10),
	       "how many of them");
	ok(memory / 1024 >= (double)strtoll(told("sed -n 's/^MemTotal: *//p' "
						 "/proc/meminfo"),
					    NULL, 10) *
				    0.99 &&
		   memory < 1e15,
	   "its memory: %.0f bytes", memory);
	ok(cJSON_IsArray(networks), "its networks are a list");
	cJSON_ArrayForEach(network, networks) {
		const cJSON *speed =
			cJSON_GetObjectItemCaseSensitive(network, "mbit_per_s");

		good &= text_of(network, "name") &&
			strcmp(text_of(network, "name"), "lo") != 0 &&
			(!speed || speed->valuedouble > 0);
	}
	ok(good, "with names, without loopback, and speeds only where known");
	ok(!text_of(facts, "engine"), "nothing is said of an engine");
	cJSON_Delete(facts);
}

static void the_engine(void)
{
	cJSON *engine = cJSON_Parse("{\"Version\": \"20.10.24\", "
				    "\"ApiVersion\": \"1.41\", \"X\": 1}");
	cJSON *podman = cJSON_Parse(
		"{\"Version\": \"4.3.1\", \"Components\": [{\"Name\": 1}, "
		"{\"Name\": \"Podman Engine\"}]}");
	cJSON *hangs = cJSON_Parse(
		"{\"Version\": \"28.5.0\", \"Components\": [{\"Name\": "
		"\"runc\", \"Version\": \"1.3.3\"}]}");
	cJSON *odd = cJSON_Parse("{\"Version\": 7, \"ApiVersion\": \"\"}");
	struct host_facts_source source = { .sys = "/sys",
					    .proc = "/proc",
					    .engine = engine };
	cJSON *facts = host_facts_read(&source, NULL);

	is(text_of(facts, "engine"), "20.10.24", "the engine's version");
	is(text_of(facts, "engine_api"), "1.41", "and its API's");
	cJSON_Delete(facts);
	source.engine = podman;
	facts = host_facts_read(&source, NULL);
	is(text_of(facts, "engine"), "Podman 4.3.1", "Podman is named");
	cJSON_Delete(facts);
	source.engine = hangs;
	facts = host_facts_read(&source, NULL);
	is(text_of(facts, "engine"), "28.5.0, runc 1.3.3 (can hang)",
	   "so is a runc with a known fault");
	cJSON_Delete(facts);
	cJSON_Delete(hangs);
	source.engine = odd;
	facts = host_facts_read(&source, NULL);
	ok(facts && !cJSON_HasObjectItem(facts, "engine") &&
		   !cJSON_HasObjectItem(facts, "engine_api"),
	   "what the engine does not say is not there");
	cJSON_Delete(facts);
	cJSON_Delete(engine);
	cJSON_Delete(podman);
	cJSON_Delete(odd);
}

/* A machine made of files. */

static char root[] = "/tmp/facts-XXXXXX";

static void put(const char *path, const char *text)
{
	char whole[512], folder[512];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	snprintf(folder, sizeof(folder), "%s", whole);
	*strrchr(folder, '/') = 0;
	file_make_folders(folder, 0755, NULL);
	file = fopen(whole, "we");
	if (file) {
		fputs(text, file);
		fclose(file);
	}
}

static void make_server(void)
{
	static const char *const cpus[] = { "0,4", "1,5", "2,6", "3,7",
					    "0,4", "1,5", "2,6", "3,7" };
	char path[256];

	put("sys/class/dmi/id/product_name", "DGX A800\n");
	put("sys/class/dmi/id/sys_vendor", "NV\x01IDIA\xff\n");
	put("proc/cpuinfo", "processor\t: 0\nmodel name\t: Example 9000 \n"
			    "flags\t\t: fpu hypervisor sse\n");
	put("proc/meminfo", "MemTotal:       1024 kB\n"
			    "MemAvailable:    512 kB\n"
			    "HugePages_Total:      16\nHugePages_Free:  4\n"
			    "Hugepagesize:       2048 kB\n");
	put("sys/kernel/mm/transparent_hugepage/enabled",
	    "always [madvise] never\n");
	put("sys/devices/system/clocksource/clocksource0/current_clocksource",
	    "tsc\n");
	for (int i = 0; i < 8; i++) {
		snprintf(path, sizeof(path),
			 "sys/devices/system/cpu/cpu%d/topology/"
			 "physical_package_id",
			 i);
		put(path, i % 4 < 2 ? "0\n" : "1\n");
		snprintf(path, sizeof(path),
			 "sys/devices/system/cpu/cpu%d/topology/"
			 "thread_siblings_list",
			 i);
		put(path, cpus[i]);
		snprintf(path, sizeof(path),
			 "sys/devices/system/cpu/cpu%d/cpufreq/"
			 "scaling_governor",
			 i);
		put(path, "performance\n");
	}
	put("sys/devices/system/cpu/cpuidle/current_driver", "none\n");
	put("sys/devices/system/node/node0/cpulist", "0-3\n");
	put("sys/devices/system/node/node1/cpulist", "4-7\n");
	put("sys/devices/system/node/online", "0-1\n");
}

static void make_network(void)
{
	char path[256];

	put("sys/class/net/lo/speed", "1\n");
	put("sys/class/net/eth0/mtu", "9000\n");
	put("sys/class/net/eth1/mtu", "1500\n");
	put("sys/class/net/eth1/operstate", "up\n");
	put("sys/class/net/eth1/device/vendor", "0x15b3\n");
	put("sys/class/infiniband/mlx5_0/fw_ver", "20.31\n");
	put("sys/class/infiniband/mlx5_1/fw_ver", "20.31\n");
	put("sys/class/net/eth0/speed", "25000\n");
	put("sys/class/net/eth0/operstate", "up\n");
	put("sys/class/net/eth0/device/vendor", "0x15b3\n");
	put("sys/class/net/docker0/speed", "-1\n");
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path),
			 "sys/class/infiniband/mlx5_%d/ports/1/rate", i);
		put(path, "200 Gb/sec (4X HDR)\n");
		snprintf(path, sizeof(path),
			 "sys/class/infiniband/mlx5_%d/ports/1/link_layer", i);
		put(path, "InfiniBand\n");
		snprintf(path, sizeof(path),
			 "sys/class/infiniband/mlx5_%d/ports/1/state", i);
		put(path, i == 2 ? "1: DOWN\n" : "4: ACTIVE\n");
	}
}

static const cJSON *item(const cJSON *facts, const char *list, int index)
{
	return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(facts, list),
				  index);
}

static void a_server(void)
{
	char sys[512], proc[512];
	const struct host_facts_source source = { .sys = sys, .proc = proc };
	cJSON *facts;
	const cJSON *pages, *clock;

	snprintf(sys, sizeof(sys), "%s/sys", root);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	make_server();
	facts = host_facts_read(&source, NULL);
	pages = cJSON_GetObjectItemCaseSensitive(facts, "hugepages");
	clock = cJSON_GetObjectItemCaseSensitive(facts, "clock");
	is(text_of(facts, "machine"), "DGX A800", "the machine's model");
	is(text_of(facts, "machine_vendor"), "NV?IDIA?",
	   "firmware's odd bytes are shown as ?");
	is(text_of(facts, "virtual"), "NV?IDIA?",
	   "a hypervisor is named by the board's vendor");
	is(text_of(facts, "cpu"), "Example 9000", "the processor's model");
	is_int((long long)number_of(facts, "cpu_sockets"), 2, "two sockets");
	is_int((long long)number_of(facts, "cpu_cores"), 4,
	       "four cores of two threads");
	is_int((long long)number_of(facts, "numa_nodes"), 2, "two NUMA nodes");
	is(text_of(facts, "governor"), "performance",
	   "the governor that all have");
	is_int((long long)number_of(facts, "memory_available_bytes"), 512 << 10,
	       "memory that is free");
	is_int((long long)number_of(pages, "free"), 4, "free huge pages");
	is(text_of(facts, "transparent_hugepages"), "madvise",
	   "transparent huge pages");
	is(text_of(clock, "source"), "tsc", "the clock's source");
	ok(cJSON_IsBool(
		   cJSON_GetObjectItemCaseSensitive(clock, "synchronised")),
	   "and whether it is synchronised");
	ok(text_of(facts, "memlock") && number_of(facts, "shm_bytes") > 0,
	   "what containers get of it");
	ok(!cJSON_HasObjectItem(facts, "network"),
	   "no network is up: nothing is said of it");
	cJSON_Delete(facts);
	put("sys/devices/system/cpu/cpu7/cpufreq/scaling_governor",
	    "powersave\n");
	facts = host_facts_now(&source, NULL);
	ok(strstr(text_of(facts, "governor"), "performance 7") &&
		   strstr(text_of(facts, "governor"), "powersave 1"),
	   "one processor with another governor is told: %s",
	   text_of(facts, "governor"));
	ok(number_of(facts, "memory_available_bytes") > 0 &&
		   cJSON_HasObjectItem(facts, "clock") &&
		   !cJSON_HasObjectItem(facts, "cpu"),
	   "what changes is asked for by itself");
	cJSON_Delete(facts);
}

static void its_networks(void)
{
	char sys[512];
	const struct host_facts_source source = { .sys = sys, .proc = "/proc" };
	cJSON *facts;

	snprintf(sys, sizeof(sys), "%s/sys", root);
	put("sys/class/net/eth0/speed", "-1\n");
	put("sys/class/net/eth0/operstate", "up\n");
	put("sys/class/net/eth0/device/vendor", "0x15b3\n");
	facts = host_facts_read(&source, NULL);
	is(text_of(facts, "network"), "Ethernet",
	   "a link whose speed nobody knows");
	cJSON_Delete(facts);
	put("sys/class/net/eth0/speed", "25000\n");
	facts = host_facts_read(&source, NULL);
	is(text_of(facts, "network"), "Ethernet, 25 Gb/s",
	   "one Ethernet link that is up");
	cJSON_Delete(facts);
	make_network();
	facts = host_facts_read(&source, NULL);
	is(text_of(facts, "network"), "InfiniBand, 2x200 Gb/s",
	   "InfiniBand goes before it; ports that are down do not count");
	is_int((long long)number_of(facts, "mtu"), 1500,
	       "the least MTU of links that are up");
	is(text_of(facts, "infiniband_firmware"), "20.31",
	   "firmware that all adapters have");
	is_int(cJSON_GetArraySize(
		       cJSON_GetObjectItemCaseSensitive(facts, "infiniband")),
	       3, "all ports are listed");
	is(text_of(item(facts, "infiniband", 0), "rate"), "200 Gb/sec (4X HDR)",
	   "with their rate as the kernel prints it");
	is_int((long long)number_of(item(facts, "infiniband", 0), "gbit_per_s"),
	       200, "and as a number");
	cJSON_Delete(facts);
	put("sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n");
	put("sys/class/infiniband/mlx5_1/ports/1/link_layer", "Ethernet\n");
	facts = host_facts_read(&source, NULL);
	is(text_of(facts, "network"), "RoCE, 2x200 Gb/s",
	   "the same ports over Ethernet are RoCE");
	cJSON_Delete(facts);
}

static void accelerators(void)
{
	struct device_info list[4] = {
		{ .name = (char *)"NVIDIA A100", .chip = (char *)"A100" },
		{ .name = (char *)"NVIDIA A100", .chip = (char *)"A100" },
		{ .chip = (char *)"H800" },
		{ .name = (char *)"NVIDIA A100" },
	};
	const struct versions versions = { .driver = "535.1" };
	cJSON *facts = cJSON_CreateObject();

	host_facts_accelerators(facts, list, 2, "nvidia");
	is(text_of(facts, "accelerator"), "NVIDIA A100",
	   "accelerators of one name");
	is_int((long long)number_of(facts, "accelerators"), 2, "their number");
	cJSON_Delete(facts);
	facts = cJSON_CreateObject();
	host_facts_accelerators(facts, list, 4, "nvidia");
	is(text_of(facts, "accelerator"), "3x NVIDIA A100, 1x H800",
	   "of several, with what there is of each");
	cJSON_Delete(facts);
	facts = cJSON_CreateObject();
	list[0].gone = list[1].gone = list[3].gone = true;
	host_facts_accelerators(facts, list, 4, "nvidia");
	is(text_of(facts, "accelerator"), "H800", "those that are gone not");
	list[2].gone = true;
	cJSON_Delete(facts);
	facts = cJSON_CreateObject();
	host_facts_accelerators(facts, list, 4, "nvidia");
	ok(!facts->child, "and none is nothing");
	host_facts_versions(facts, &versions);
	is(text_of(facts, "driver"), "535.1", "the driver");
	ok(!text_of(facts, "sdk"), "what is not known is not there");
	cJSON_Delete(facts);
}

static void links(void)
{
	struct device_info list[2] = {
		{ .bus_id = (char *)"0000:01:00.0", .numa = 0 },
		{ .bus_id = (char *)"0000:02:00.0", .numa = 1 },
	};
	cJSON *facts = cJSON_CreateObject();
	char sys[512];

	snprintf(sys, sizeof(sys), "%s/sys", root);
	put("sys/bus/pci/devices/0000:01:00.0/current_link_width", "16\n");
	put("sys/bus/pci/devices/0000:02:00.0/current_link_width", "8\n");
	host_facts_links(facts, list, 2, sys);
	is(text_of(facts, "device_numa"), "0 1", "where the devices are");
	is(text_of(facts, "pcie_width"), "8 to 16", "a link that is narrower");
	cJSON_Delete(facts);
	facts = cJSON_CreateObject();
	list[1].numa = -1;
	host_facts_links(facts, list, 1, sys);
	is(text_of(facts, "pcie_width"), "16", "links that are alike");
	host_facts_links(facts, list + 1, 1, "/nowhere");
	ok(cJSON_GetArraySize(facts) == 2, "what is not known is not there");
	cJSON_Delete(facts);
}

int main(void)
{
	tap_begin(38);
	the_host();
	the_engine();
	if (!mkdtemp(root))
		return 1;
	a_server();
	its_networks();
	links();
	file_remove_tree(AT_FDCWD, root, NULL);
	accelerators();
	return tap_done();
}
