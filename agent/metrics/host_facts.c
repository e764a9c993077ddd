/* host_facts.c - facts of this host, for tables and provenance.
 *
 * Sources: uname(2), sysconf(3), adjtimex(2), proc(5), os-release(5), and
 * sysfs: /sys/class/dmi/id, /sys/devices/system, /sys/kernel/mm.
 */
#include "agent/metrics/host_facts.h"
#include "agent/devices/sysfs.h"
#include "agent/metrics/network.h"
#include "agent/devices/device_injection.h"
#include "protocol/message/json_get.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Bytes of a file in /proc: /proc/cpuinfo has 2 to 3 KB per processor. */
#define FACT_MAX (16 << 20)
#define CPUS_MAX 4096
#define NUMA_MAX 1024
#define GOVERNORS_MAX 8 /* different ones */

static void facts_add_file(cJSON *facts, const char *name, const char *root,
			   const char *path)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(4096);

	if (sysfs_text(&text, root, "%s", path))
		sysfs_add(facts, name, text.data);
}

static void add_line(cJSON *facts, const char *name, const char *text,
		     const char *key, char separator)
{
	owned_free char *value = sysfs_line(text, key, separator);

	sysfs_add(facts, name, value);
}

static void add_os(cJSON *facts)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(65536);

	if (sysfs_text(&text, "/etc", "os-release"))
		add_line(facts, "os", text.data, "PRETTY_NAME", '=');
}

/* The flags of a processor tell that there is a hypervisor; the vendor of the
 * machine tells which one.
 */
static void add_virtual(cJSON *facts, const char *cpuinfo)
{
	owned_free char *flags = sysfs_line(cpuinfo, "flags", ':');
	const char *vendor = json_get_text(facts, "machine_vendor");

	if (flags && strstr(flags, " hypervisor"))
		sysfs_add(facts, "virtual", vendor ? vendor : "yes");
}

/* Physical packages and cores, counted over all processors. */
struct topology {
	const char *sys;
	bool seen[CPUS_MAX];
	int sockets, cores;
};

static bool is_numbered(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);

	return !strncmp(name, prefix, length) &&
	       isdigit((unsigned char)name[length]);
}

static bool facts_count_cpu(void *arg, const char *name)
{
	struct topology *topology = arg;
	owned(buffer_clear) struct buffer siblings = BUFFER_INIT(4096);
	double package;

	if (!is_numbered(name, "cpu"))
		return true;
	if (sysfs_number(&package, topology->sys,
			 "devices/system/cpu/%s/topology/physical_package_id",
			 name) &&
	    package >= 0 && package < CPUS_MAX &&
	    !topology->seen[(int)package]) {
		topology->seen[(int)package] = true;
		topology->sockets++;
	}
	/* A core counts once: for the first of the threads that it lists. */
	if (sysfs_text(&siblings, topology->sys,
		       "devices/system/cpu/%s/topology/thread_siblings_list",
		       name) &&
	    strtol(siblings.data, NULL, 10) == strtol(name + 3, NULL, 10))
		topology->cores++;
	return true;
}

static void add_cpu(cJSON *facts, const struct host_facts_source *source)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(FACT_MAX);
	owned_free struct topology *topology = calloc(1, sizeof(*topology));

	if (sysfs_text(&text, source->proc, "cpuinfo")) {
		add_line(facts, "cpu", text.data, "model name", ':');
		add_virtual(facts, text.data);
	}
	cJSON_AddNumberToObject(facts, "cpus",
				(double)sysconf(_SC_NPROCESSORS_ONLN));
	if (!topology)
		return;
	topology->sys = source->sys;
	sysfs_each(source->sys, "devices/system/cpu", CPUS_MAX, facts_count_cpu,
		   topology);
	if (topology->sockets)
		cJSON_AddNumberToObject(facts, "cpu_sockets",
					topology->sockets);
	if (topology->cores)
		cJSON_AddNumberToObject(facts, "cpu_cores", topology->cores);
}

static bool count_numa(void *arg, const char *name)
{
	*(int *)arg += is_numbered(name, "node");
	return true;
}

static void add_numa(cJSON *facts, const struct host_facts_source *source)
{
	int nodes = 0;

	sysfs_each(source->sys, "devices/system/node", NUMA_MAX, count_numa,
		   &nodes);
	if (nodes)
		cJSON_AddNumberToObject(facts, "numa_nodes", nodes);
}

/* Which governors there are, and on how many processors. */
struct governors {
	const char *sys;
	struct {
		char name[32];
		int cpus;
	} list[GOVERNORS_MAX];
	size_t count;
};

static bool count_governor(void *arg, const char *name)
{
	struct governors *governors = arg;
	owned(buffer_clear) struct buffer text = BUFFER_INIT(64);
	size_t i = 0;

	if (!is_numbered(name, "cpu") ||
	    !sysfs_text(&text, governors->sys,
			"devices/system/cpu/%s/cpufreq/scaling_governor", name))
		return true;
	while (i < governors->count &&
	       strcmp(governors->list[i].name, text.data) != 0)
		i++;
	if (i == GOVERNORS_MAX)
		return true;
	if (i == governors->count) {
		governors->count++;
		snprintf(governors->list[i].name,
			 sizeof(governors->list[i].name), "%.31s", text.data);
	}
	governors->list[i].cpus++;
	return true;
}

static void add_governor(cJSON *facts, const struct host_facts_source *source)
{
	struct governors governors = { .sys = source->sys };
	char text[GOVERNORS_MAX * 48] = "";

	sysfs_each(source->sys, "devices/system/cpu", CPUS_MAX, count_governor,
		   &governors);
	if (governors.count == 1) {
		sysfs_add(facts, "governor", governors.list[0].name);
		return;
	}
	for (size_t i = 0; i < governors.count; i++)
		text_append(text, sizeof(text), "%s%s %d", i ? ", " : "",
			    governors.list[i].name, governors.list[i].cpus);
	sysfs_add(facts, "governor", text);
}

static double meminfo(const char *text, const char *key)
{
	owned_free char *value = sysfs_line(text, key, ':');

	return value ? strtod(value, NULL) : -1;
}

static void add_available(cJSON *facts, const char *text)
{
	double available = meminfo(text, "MemAvailable");

	if (available >= 0)
		cJSON_AddNumberToObject(facts, "memory_available_bytes",
					available * 1024);
}

static void facts_add_memory(cJSON *facts,
			     const struct host_facts_source *source)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(65536);
	double size_kib;
	cJSON *pages;

	cJSON_AddNumberToObject(facts, "memory_bytes",
				(double)sysconf(_SC_PHYS_PAGES) *
					(double)sysconf(_SC_PAGESIZE));
	if (!sysfs_text(&text, source->proc, "meminfo"))
		return;
	add_available(facts, text.data);
	size_kib = meminfo(text.data, "Hugepagesize");
	if (size_kib <= 0)
		return;
	pages = cJSON_AddObjectToObject(facts, "hugepages");
	cJSON_AddNumberToObject(pages, "size_kib", size_kib);
	cJSON_AddNumberToObject(pages, "total",
				meminfo(text.data, "HugePages_Total"));
	cJSON_AddNumberToObject(pages, "free",
				meminfo(text.data, "HugePages_Free"));
}

/* "always [madvise] never": the word in brackets. */
static void add_transparent(cJSON *facts,
			    const struct host_facts_source *source)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(256);
	char *word, *end;

	if (!sysfs_text(&text, source->sys,
			"kernel/mm/transparent_hugepage/enabled"))
		return;
	word = strchr(text.data, '[');
	end = word ? strchr(word, ']') : NULL;
	if (!end)
		return;
	*end = 0;
	sysfs_add(facts, "transparent_hugepages", word + 1);
}

static void add_clock(cJSON *facts, const struct host_facts_source *source)
{
	struct timex state = { 0 };
	int kind = adjtimex(&state);
	cJSON *clock = cJSON_AddObjectToObject(facts, "clock");
	double unit = state.status & STA_NANO ? 1000 : 1;

	if (kind >= 0) {
		cJSON_AddBoolToObject(clock, "synchronised",
				      kind != TIME_ERROR &&
					      !(state.status & STA_UNSYNC));
		cJSON_AddNumberToObject(clock, "offset_us",
					(double)state.offset / unit);
		cJSON_AddNumberToObject(clock, "max_error_us",
					(double)state.maxerror);
	}
	facts_add_file(clock, "source", source->sys,
		       "devices/system/clocksource/clocksource0/"
		       "current_clocksource");
}

/* Docker is not named: "20.10.24", but "Podman 4.3.1". A runc that can hang is:
 * "28.5.0, runc 1.3.3 (can hang)".
 */
static void add_engine(cJSON *facts, const cJSON *engine)
{
	const char *version = json_get_text(engine, "Version");
	const char *runc = engine_hanging_runc(engine);
	char text[128];

	if (version) {
		snprintf(text, sizeof(text), "%s%.60s%s%.30s%s",
			 engine_is_podman(engine) ? "Podman " : "", version,
			 runc ? ", runc " : "", runc ? runc : "",
			 runc ? " (can hang)" : "");
		sysfs_add(facts, "engine", text);
	}
	sysfs_add(facts, "engine_api", json_get_text(engine, "ApiVersion"));
}

void host_facts_versions(cJSON *facts, const struct versions *versions)
{
	sysfs_add(facts, "driver", versions->driver);
	sysfs_add(facts, "sdk", versions->sdk);
}

/* Devices of one name. */
struct accelerator {
	const char *name;
	size_t count;
};

static size_t count_accelerators(const struct device_info *devices,
				 size_t count, const char *vendor,
				 struct accelerator list[DEVICES_MAX])
{
	size_t kinds = 0;

	for (size_t i = 0; i < count; i++) {
		const struct device_info *device = &devices[i];
		const char *name = device->name   ? device->name
				   : device->chip ? device->chip
						  : vendor;
		size_t k = 0;

		if (device->gone)
			continue;
		while (k < kinds && strcmp(list[k].name, name) != 0)
			k++;
		if (k == kinds)
			list[kinds++] = (struct accelerator){ name, 0 };
		list[k].count++;
	}
	return kinds;
}

void host_facts_accelerators(cJSON *facts, const struct device_info *devices,
			     size_t count, const char *vendor)
{
	struct accelerator list[DEVICES_MAX];
	size_t kinds = count_accelerators(devices, count, vendor, list);
	owned(buffer_clear) struct buffer text = BUFFER_INIT(4096);
	size_t all = 0;

	for (size_t k = 0; k < kinds; k++) {
		all += list[k].count;
		if (kinds > 1)
			buffer_printf(&text, NULL, "%s%zux ", k ? ", " : "",
				      list[k].count);
		buffer_text(&text, list[k].name, NULL);
	}
	if (!all)
		return;
	sysfs_add(facts, "accelerator", text.data);
	cJSON_AddNumberToObject(facts, "accelerators", (double)all);
}

void host_facts_links(cJSON *facts, const struct device_info *devices,
		      size_t count, const char *sys)
{
	double width, least = 0, most = 0;
	char numa[DEVICES_MAX * 5] = "", text[32];
	bool known = count > 0;

	for (size_t i = 0; i < count; i++) {
		known = known && devices[i].numa >= 0;
		text_append(numa, sizeof(numa), "%s%lld", i ? " " : "",
			    (long long)devices[i].numa);
		if (!devices[i].bus_id ||
		    !sysfs_number(&width, sys,
				  "bus/pci/devices/%s/current_link_width",
				  devices[i].bus_id) ||
		    !(width > 0))
			continue;
		least = least > 0 && least < width ? least : width;
		most = width > most ? width : most;
	}
	if (known)
		sysfs_add(facts, "device_numa", numa);
	if (!(most > 0))
		return;
	if (least < most)
		snprintf(text, sizeof(text), "%.0f to %.0f", least, most);
	else
		snprintf(text, sizeof(text), "%.0f", most);
	sysfs_add(facts, "pcie_width", text);
}

/* What containers get of the host: locked memory, and its /dev/shm. */
static void facts_add_limits(cJSON *facts)
{
	struct rlimit limit;
	struct statvfs shm;
	char text[32] = "unlimited";

	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
		if (limit.rlim_max != RLIM_INFINITY)
			snprintf(text, sizeof(text), "%llu",
				 (unsigned long long)limit.rlim_max);
		sysfs_add(facts, "memlock", text);
	}
	if (statvfs("/dev/shm", &shm) == 0)
		cJSON_AddNumberToObject(facts, "shm_bytes",
					(double)shm.f_blocks *
						(double)shm.f_frsize);
}

cJSON *host_facts_read(const struct host_facts_source *source,
		       struct error *err)
{
	cJSON *facts = cJSON_CreateObject();
	struct utsname host;

	if (!facts)
		return error_null(error_nomem(err, "facts"));
	if (uname(&host) == 0) {
		sysfs_add(facts, "hostname", host.nodename);
		sysfs_add(facts, "arch", host.machine);
		sysfs_add(facts, "kernel", host.release);
	}
	add_os(facts);
	facts_add_file(facts, "machine", source->sys,
		       "class/dmi/id/product_name");
	facts_add_file(facts, "machine_vendor", source->sys,
		       "class/dmi/id/sys_vendor");
	facts_add_file(facts, "bios", source->sys, "class/dmi/id/bios_version");
	add_cpu(facts, source);
	facts_add_memory(facts, source);
	add_numa(facts, source);
	add_governor(facts, source);
	add_transparent(facts, source);
	facts_add_limits(facts);
	add_clock(facts, source);
	network_facts(facts, source->sys);
	add_engine(facts, source->engine);
	return facts;
}

cJSON *host_facts_now(const struct host_facts_source *source, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(65536);
	cJSON *facts = cJSON_CreateObject();

	if (!facts)
		return error_null(error_nomem(err, "facts"));
	add_clock(facts, source);
	add_governor(facts, source);
	if (sysfs_text(&text, source->proc, "meminfo"))
		add_available(facts, text.data);
	return facts;
}
