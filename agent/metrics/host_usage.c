/* host_usage.c - the load of the host: processors, memory, disks, network,
 * power.
 */
#include "agent/metrics/host_usage.h"
#include "agent/devices/sysfs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_MAX 64 /* disks, interfaces, ports or power domains */
#define TEXT_MAX (1 << 20)
#define SECTOR 512 /* of diskstats, whatever the disk has */
#define MIB (1 << 20)
#define IPOIB 32        /* ARPHRD_INFINIBAND: its bytes are those of a port */
#define ERRORS_MS 10000 /* asking for them costs a command of the firmware */

/* Counters that only grow. */
enum counter {
	CPU_BUSY, /* in ticks */
	CPU_ALL,
	DISK_READ, /* in bytes */
	DISK_WRITE,
	NET_IN,
	NET_OUT,
	ENERGY, /* in microjoules, over all wraps */
	NET_ERRORS,
	NET_RETRANSMITS,
	COUNTERS
};

/* What the files of a port count. A port of RoCE has those of its driver: mlx5,
 * bnxt_re, efa.
 */
static const struct {
	const char *name;
	enum counter counter;
	double unit;
} port_files[] = {
	{ "counters/port_rcv_data", NET_IN, 4 },
	{ "counters/port_xmit_data", NET_OUT, 4 },
	{ "counters/symbol_error", NET_ERRORS, 1 },
	{ "counters/link_error_recovery", NET_ERRORS, 1 },
	{ "counters/link_downed", NET_ERRORS, 1 },
	{ "counters/port_rcv_errors", NET_ERRORS, 1 },
	{ "counters/local_link_integrity_errors", NET_ERRORS, 1 },
	{ "counters/excessive_buffer_overrun_errors", NET_ERRORS, 1 },
	{ "hw_counters/local_ack_timeout_err", NET_RETRANSMITS, 1 },
	{ "hw_counters/packet_seq_err", NET_RETRANSMITS, 1 },
	{ "hw_counters/to_retransmits", NET_RETRANSMITS, 1 },
	{ "hw_counters/seq_err_naks_rcvd", NET_RETRANSMITS, 1 },
	{ "hw_counters/retrans_pkts", NET_RETRANSMITS, 1 },
};
#define PORT_FILES (sizeof(port_files) / sizeof(port_files[0]))

struct counters {
	double value[COUNTERS];
	unsigned has; /* bit per counter */
};

struct domain {
	int energy; /* a file, as the following ones; -1: not there */
	double last_uj, range_uj;
	bool read;
};

/* Files stay open: opening one costs more than reading it. */
struct host_usage {
	const char *sys; /* borrowed, in host_usage_new() */
	int stat, diskstats, dev, meminfo;
	struct strings disks, interfaces;
	int ports[NAMES_MAX][PORT_FILES]; /* of InfiniBand and RoCE */
	size_t ports_count;
	bool has_retransmits;
	double port_errors, port_retransmits; /* when they were last read */
	int64_t errors_ms;                    /* then; 0: never */
	struct domain domains[NAMES_MAX];
	size_t domains_count;
	struct buffer text; /* of the file that is read */
	double energy_uj;
	struct counters last;
	int64_t last_ms; /* 0: none yet */
};

__attribute__((format(printf, 2, 3))) static int
host_usage_open(const char *root, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list args;
	int used = snprintf(path, sizeof(path), "%s/", root);

	va_start(args, fmt);
	vsnprintf(path + used, sizeof(path) - (size_t)used, fmt, args);
	va_end(args);
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

/* The file as it is now; false: it cannot be read. */
static bool host_usage_read(struct buffer *text, int fd)
{
	ssize_t got = 0;

	text->size = 0;
	do {
		if (buffer_reserve(text, 4096, NULL) < 0)
			return false;
		got = pread(fd, text->data + text->size, 4096,
			    (off_t)text->size);
		text->size += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	text->data[text->size] = 0;
	return got == 0;
}

static bool host_usage_read_number(struct buffer *text, int fd, double *number)
{
	char *end;

	if (!host_usage_read(text, fd))
		return false;
	*number = strtod(text->data, &end);
	return end != text->data;
}

static bool add_disk(void *arg, const char *name)
{
	struct host_usage *host = arg;

	/* Not disks that use other disks: loop, dm, md, ram. */
	if (sysfs_there(host->sys, "block/%s/device", name))
		strings_add(&host->disks, name, NULL);
	return true;
}

static bool add_interface(void *arg, const char *name)
{
	struct host_usage *host = arg;
	double type;

	if (sysfs_there(host->sys, "class/net/%s/device", name) &&
	    (!sysfs_number(&type, host->sys, "class/net/%s/type", name) ||
	     (int)type != IPOIB))
		strings_add(&host->interfaces, name, NULL);
	return true;
}

static bool add_ports(void *arg, const char *name)
{
	struct host_usage *host = arg;

	for (int port = 1; port <= 2; port++) {
		int *files;

		if (host->ports_count == NAMES_MAX ||
		    !sysfs_there(host->sys, "class/infiniband/%s/ports/%d",
				 name, port))
			continue;
		files = host->ports[host->ports_count++];
		for (size_t i = 0; i < PORT_FILES; i++) {
			files[i] = host_usage_open(
				host->sys, "class/infiniband/%s/ports/%d/%s",
				name, port, port_files[i].name);
			host->has_retransmits |=
				files[i] >= 0 &&
				port_files[i].counter == NET_RETRANSMITS;
		}
	}
	return true;
}

/* Packages only (intel-rapl:0), which include the domains inside them. */
static bool add_domain(void *arg, const char *name)
{
	struct host_usage *host = arg;
	struct domain *domain = &host->domains[host->domains_count];
	const char *colon = strchr(name, ':');

	if (strncmp(name, "intel-rapl:", 11) != 0 || strchr(colon + 1, ':') ||
	    host->domains_count == NAMES_MAX ||
	    !sysfs_number(&domain->range_uj, host->sys,
			  "class/powercap/%s/max_energy_range_uj", name))
		return true;
	domain->energy =
		host_usage_open(host->sys, "class/powercap/%s/energy_uj", name);
	host->domains_count++;
	return true;
}

struct host_usage *host_usage_new(const char *sys, const char *proc,
				  struct error *err)
{
	owned(host_usage_free) struct host_usage *host =
		calloc(1, sizeof(*host));

	if (!host)
		return error_null(error_nomem(err, "host"));
	host->sys = sys;
	host->stat = host_usage_open(proc, "stat");
	host->diskstats = host_usage_open(proc, "diskstats");
	host->dev = host_usage_open(proc, "net/dev");
	host->meminfo = host_usage_open(proc, "meminfo");
	buffer_init(&host->text, TEXT_MAX);
	sysfs_each(sys, "block", 4096, add_disk, host);
	sysfs_each(sys, "class/net", 4096, add_interface, host);
	sysfs_each(sys, "class/infiniband", NAMES_MAX, add_ports, host);
	sysfs_each(sys, "class/powercap", 4096, add_domain, host);
	return take(host);
}

static void host_usage_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

void host_usage_free(struct host_usage *host)
{
	if (!host)
		return;
	strings_clear(&host->disks);
	strings_clear(&host->interfaces);
	for (size_t i = 0; i < host->ports_count * PORT_FILES; i++)
		host_usage_close(host->ports[i / PORT_FILES][i % PORT_FILES]);
	for (size_t i = 0; i < host->domains_count; i++)
		host_usage_close(host->domains[i].energy);
	host_usage_close(host->stat);
	host_usage_close(host->diskstats);
	host_usage_close(host->dev);
	host_usage_close(host->meminfo);
	buffer_clear(&host->text);
	free(host);
}

/* Counters. */

static bool host_usage_has_name(const struct strings *names, const char *name,
				size_t size)
{
	for (size_t i = 0; i < names->count; i++)
		if (strlen(names->items[i]) == size &&
		    !memcmp(names->items[i], name, size))
			return true;
	return false;
}

/* Up to max numbers, as far as there are any. */
static size_t numbers(const char *text, double *values, size_t max)
{
	size_t n = 0;
	char *end;

	for (; n < max; n++, text = end) {
		values[n] = strtod(text, &end);
		if (end == text)
			break;
	}
	return n;
}

/* user nice system idle iowait irq softirq steal; guests are in user. */
static void host_usage_count_cpu(struct host_usage *host, struct counters *now)
{
	const struct buffer *text = &host->text;
	double ticks[8] = { 0 };
	double all = 0;

	if (!host_usage_read(&host->text, host->stat) ||
	    strncmp(text->data, "cpu ", 4) != 0 ||
	    numbers(text->data + 4, ticks, 8) < 4)
		return;
	for (int i = 0; i < 8; i++)
		all += ticks[i];
	now->value[CPU_ALL] = all;
	now->value[CPU_BUSY] = all - ticks[3] - ticks[4];
	now->has |= 1U << CPU_ALL | 1U << CPU_BUSY;
}

static void count_disks(struct host_usage *host, struct counters *now)
{
	if (!host->disks.count ||
	    !host_usage_read(&host->text, host->diskstats))
		return;
	now->has |= 1U << DISK_READ | 1U << DISK_WRITE;
	for (char *line = host->text.data; line; line = strchr(line, '\n')) {
		double values[7];
		int name = 0, end = 0;

		line += *line == '\n';
		sscanf(line, "%*u %*u %n%*s%n", &name, &end);
		if (!end ||
		    !host_usage_has_name(&host->disks, line + name,
					 (size_t)(end - name)) ||
		    numbers(line + end, values, 7) < 7)
			continue;
		now->value[DISK_READ] += values[2] * SECTOR;
		now->value[DISK_WRITE] += values[6] * SECTOR;
	}
}

/* What a line of net/dev says of an interface: bytes, packets and errors that
 * were received, five more, and the same that were sent.
 */
static void count_interface(struct host_usage *host, char *line,
			    struct counters *now)
{
	double values[11];
	char *colon;

	line += strspn(line, " ");
	colon = strchr(line, ':');
	if (!colon ||
	    !host_usage_has_name(&host->interfaces, line,
				 (size_t)(colon - line)) ||
	    numbers(colon + 1, values, 11) < 11)
		return;
	now->value[NET_IN] += values[0];
	now->value[NET_OUT] += values[8];
	now->value[NET_ERRORS] += values[2] + values[10];
}

/* Add up what all ports count of one thing. */
static double ports_sum(struct host_usage *host, enum counter counter)
{
	double sum = 0, value;

	for (size_t i = 0; i < host->ports_count * PORT_FILES; i++) {
		size_t file = i % PORT_FILES;
		int fd = host->ports[i / PORT_FILES][file];

		if (port_files[file].counter == counter &&
		    host_usage_read_number(&host->text, fd, &value))
			sum += value * port_files[file].unit;
	}
	return sum;
}

static void count_networks(struct host_usage *host, int64_t now_ms,
			   struct counters *now)
{
	if (!host->interfaces.count && !host->ports_count)
		return;
	now->has |= 1U << NET_IN | 1U << NET_OUT | 1U << NET_ERRORS;
	if (!host_usage_read(&host->text, host->dev))
		buffer_clear(&host->text);
	for (char *line = host->text.data; line; line = strchr(line, '\n'))
		count_interface(host, line += *line == '\n', now);
	now->value[NET_IN] += ports_sum(host, NET_IN);
	now->value[NET_OUT] += ports_sum(host, NET_OUT);
	if (!host->errors_ms || now_ms - host->errors_ms >= ERRORS_MS) {
		host->port_errors = ports_sum(host, NET_ERRORS);
		host->port_retransmits = ports_sum(host, NET_RETRANSMITS);
		host->errors_ms = now_ms;
	}
	now->value[NET_ERRORS] += host->port_errors;
	now->value[NET_RETRANSMITS] = host->port_retransmits;
	if (host->has_retransmits)
		now->has |= 1U << NET_RETRANSMITS;
}

/* The counter of each domain wraps by itself, so their steps are added up. */
static void count_energy(struct host_usage *host, struct counters *now)
{
	for (size_t i = 0; i < host->domains_count; i++) {
		struct domain *domain = &host->domains[i];
		double now_uj;

		if (!host_usage_read_number(&host->text, domain->energy,
					    &now_uj))
			return; /* only root may read it */
		if (domain->read)
			host->energy_uj += now_uj >= domain->last_uj
						   ? now_uj - domain->last_uj
						   : now_uj + domain->range_uj -
							     domain->last_uj;
		domain->last_uj = now_uj;
		domain->read = true;
	}
	if (!host->domains_count)
		return;
	now->value[ENERGY] = host->energy_uj;
	now->has |= 1U << ENERGY;
}

/* Readings. */

static void set(struct host_usage_sample *sample, enum host_reading reading,
		double value)
{
	sample->value[reading] = value;
	sample->has |= 1U << reading;
}

static void take_memory(struct host_usage *host,
			struct host_usage_sample *sample)
{
	owned_free char *total = NULL;
	owned_free char *available = NULL;

	if (!host_usage_read(&host->text, host->meminfo))
		return;
	total = sysfs_line(host->text.data, "MemTotal", ':');
	available = sysfs_line(host->text.data, "MemAvailable", ':');
	if (total && available)
		set(sample, HOST_MEM_USED_MIB,
		    (strtod(total, NULL) - strtod(available, NULL)) / 1024);
}

static void take_rates(const struct counters *last, const struct counters *now,
		       double seconds, struct host_usage_sample *sample)
{
	static const struct {
		enum counter counter;
		enum host_reading reading;
		double unit;
	} rates[] = {
		{ DISK_READ, HOST_DISK_READ_MIB_S, MIB },
		{ DISK_WRITE, HOST_DISK_WRITE_MIB_S, MIB },
		{ NET_IN, HOST_NET_IN_MIB_S, MIB },
		{ NET_OUT, HOST_NET_OUT_MIB_S, MIB },
		{ ENERGY, HOST_CPU_POWER_W, 1e6 },
	};
	double ticks = now->value[CPU_ALL] - last->value[CPU_ALL];
	unsigned has = now->has & last->has;
	double busy = now->value[CPU_BUSY] - last->value[CPU_BUSY];

	if (has & 1U << CPU_ALL && ticks > 0 && busy >= 0)
		set(sample, HOST_CPU_PCT,
		    busy < ticks ? 100 * busy / ticks : 100);
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		enum counter counter = rates[i].counter;
		double grown = now->value[counter] - last->value[counter];

		if (has & 1U << counter && grown >= 0)
			set(sample, rates[i].reading,
			    grown / rates[i].unit / seconds);
	}
}

void host_usage_take(struct host_usage *host, int64_t now_ms,
		     struct host_usage_sample *sample)
{
	struct counters now = { 0 };

	*sample = (struct host_usage_sample){ 0 };
	host_usage_count_cpu(host, &now);
	count_disks(host, &now);
	count_networks(host, now_ms, &now);
	count_energy(host, &now);
	take_memory(host, sample);
	if (now.has & 1U << NET_ERRORS)
		set(sample, HOST_NET_ERRORS, now.value[NET_ERRORS]);
	if (now.has & 1U << NET_RETRANSMITS)
		set(sample, HOST_NET_RETRANSMITS, now.value[NET_RETRANSMITS]);
	if (host->last_ms && now_ms > host->last_ms)
		take_rates(&host->last, &now,
			   (double)(now_ms - host->last_ms) / 1000, sample);
	host->last = now;
	host->last_ms = now_ms;
}
