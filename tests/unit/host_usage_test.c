/* host_usage_test.c - rates follow from counters, also where these wrap.
 */
#include "agent/metrics/host_usage.h"
#include "protocol/base/file.h"

#include "tests/tap.h"

#include <fcntl.h>
#include <math.h>
#include <time.h>

static char root[] = "/tmp/host-XXXXXX";
static char sys[64], proc[64];

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

static bool near(const struct host_usage_sample *sample,
		 enum host_reading reading, double want)
{
	bool good = (sample->has & 1U << reading) &&
		    fabs(sample->value[reading] - want) < 1e-6;

	if (!good)
		printf("# %s: %g, wanted %g\n", host_reading_name(reading),
		       sample->has & 1U << reading ? sample->value[reading]
						   : NAN,
		       want);
	return good;
}

static void first_second(void)
{
	put("sys/block/sda/device/model", "x");
	put("sys/block/dm-0/size", "1");
	put("sys/class/net/eth0/device/vendor", "x");
	put("sys/class/net/docker0/mtu", "x");
	put("sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n");
	put("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data",
	    "1000\n");
	put("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data",
	    "0\n");
	put("sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "7\n");
	put("sys/class/infiniband/mlx5_0/ports/1/counters/link_downed", "1\n");
	put("sys/class/infiniband/mlx5_1/ports/1/link_layer", "Ethernet\n");
	put("sys/class/infiniband/mlx5_1/ports/1/counters/port_xmit_data",
	    "0\n");
	put("sys/class/infiniband/mlx5_1/ports/1/hw_counters/packet_seq_err",
	    "10\n");
	put("sys/class/net/ib0/device/vendor", "x");
	put("sys/class/net/ib0/type", "32\n");
	put("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "1000000\n");
	put("sys/class/powercap/intel-rapl:0/energy_uj", "900000\n");
	put("sys/class/powercap/intel-rapl:0:0/max_energy_range_uj", "7\n");
	put("sys/class/powercap/intel-rapl:0:0/energy_uj", "1\n");
	put("proc/stat", "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 1 1 1\n");
	put("proc/meminfo", "MemTotal: 4096 kB\nMemAvailable: 1024 kB\n");
	put("proc/diskstats", "   8   0 sda 1 0 2048 0 1 0 4096 0 0 0 0\n"
			      " 253   0 dm-0 1 0 9999 0 1 0 9999 0 0 0 0\n");
	put("proc/net/dev", "Inter-| Receive\n face |bytes\n"
			    "  eth0: 1048576 1 1 0 0 0 0 0 2097152 1 2 0\n"
			    "   ib0: 500 1 90 0 0 0 0 0 500 1 90 0\n"
			    "docker0:5 1 0 0 0 0 0 0 5 1 0 0\n");
}

static void next_seconds(void)
{
	put("proc/stat", "cpu  150 0 150 850 150 0 0 0 0 0\n");
	put("proc/diskstats", "   8   0 sda 1 0 6144 0 1 0 4096 0 0 0 0\n"
			      " 253   0 dm-0 1 0 99999 0 1 0 99999 0 0 0 0\n");
	put("proc/net/dev", "  eth0:5242880 1 1 0 0 0 0 0 2097152 1 3 0\n"
			    "   ib0: 99999995 1 90 0 0 0 0 0 500 1 90 0\n"
			    "docker0: 99999995 1 0 0 0 0 0 0 5 1 0 0\n");
	put("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data",
	    "1049576\n");
	put("sys/class/infiniband/mlx5_1/ports/1/counters/port_xmit_data",
	    "524288\n");
	put("sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "9\n");
	put("sys/class/infiniband/mlx5_1/ports/1/hw_counters/packet_seq_err",
	    "5010\n");
	put("sys/class/powercap/intel-rapl:0/energy_uj", "100000\n");
}

static void rates(void)
{
	owned(host_usage_free) struct host_usage *host = NULL;
	struct host_usage_sample sample;

	first_second();
	host = host_usage_new(sys, proc, NULL);
	host_usage_take(host, 5000, &sample);
	ok(near(&sample, HOST_MEM_USED_MIB, 3), "memory is known at once");
	ok(near(&sample, HOST_NET_ERRORS, 3 + 8) &&
		   near(&sample, HOST_NET_RETRANSMITS, 10),
	   "and what went wrong since the machine was started");
	ok(!(sample.has & 1U << HOST_NET_IN_MIB_S), "rates need a second look");
	next_seconds();
	host_usage_take(host, 7000, &sample);
	ok(near(&sample, HOST_CPU_PCT, 100.0 / 3),
	   "busy is what is neither idle nor waiting for a disk");
	ok(near(&sample, HOST_DISK_READ_MIB_S, 1) &&
		   near(&sample, HOST_DISK_WRITE_MIB_S, 0),
	   "disks count, what lies on them does not");
	ok(near(&sample, HOST_NET_IN_MIB_S, 2 + 2) &&
		   near(&sample, HOST_NET_OUT_MIB_S, 1),
	   "physical interfaces, InfiniBand and RoCE count, bridges and IPoIB "
	   "do not");
	ok(near(&sample, HOST_NET_ERRORS, 4 + 8) &&
		   near(&sample, HOST_NET_RETRANSMITS, 10),
	   "ports are asked for errors every ten seconds, interfaces always");
	ok(near(&sample, HOST_CPU_POWER_W, 0.1),
	   "power is right when the energy counter wraps, of packages only");
	ok(!(sample.has & 1U << HOST_POWER_W), "no IPMI: not here");
	put("proc/diskstats", "   8   0 sda 1 0 1 0 1 0 1 0 0 0 0\n");
	put("proc/stat", "garbage\n");
	put("proc/meminfo", "\n");
	host_usage_take(host, 8000, &sample);
	ok(!(sample.has & 1U << HOST_DISK_READ_MIB_S) &&
		   !(sample.has & 1U << HOST_CPU_PCT) &&
		   !(sample.has & 1U << HOST_MEM_USED_MIB),
	   "what went backwards or cannot be read is absent, never 0");
	host_usage_take(host, 15000, &sample);
	ok(near(&sample, HOST_NET_ERRORS, 4 + 10) &&
		   near(&sample, HOST_NET_RETRANSMITS, 5010),
	   "after that they are asked");
}

static void real(void)
{
	owned(host_usage_free) struct host_usage *host =
		host_usage_new("/sys", "/proc", NULL);
	struct host_usage_sample sample;
	clock_t end;

	host_usage_take(host, 1000, &sample);
	end = clock() + CLOCKS_PER_SEC / 20;
	while (clock() < end)
		;
	host_usage_take(host, 1050, &sample);
	ok(sample.has & 1U << HOST_CPU_PCT && sample.value[HOST_CPU_PCT] > 0 &&
		   sample.value[HOST_CPU_PCT] <= 100,
	   "this host is busy at %.1f %%", sample.value[HOST_CPU_PCT]);
	ok(sample.has & 1U << HOST_MEM_USED_MIB, "and uses memory");
}

int main(void)
{
	tap_begin(30);
	if (!mkdtemp(root))
		return 1;
	snprintf(sys, sizeof(sys), "%s/sys", root);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	rates();
	real();
	file_remove_tree(AT_FDCWD, root, NULL);
	return tap_done();
}
