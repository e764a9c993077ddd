/* host_usage.h - the load of the host: processors, memory, disks, network,
 * power.
 *
 * Rates are over the time between two calls. The bytes of the network are those
 * of physical interfaces and, which these do not count, of RDMA: ports of
 * InfiniBand and RoCE. Errors are those of interfaces and ports since the
 * machine was started, and packets that RDMA sent again because they were lost;
 * what ports tell of them is read every ten seconds.
 *
 * Sources: proc(5) (stat, meminfo, diskstats, net/dev), Linux
 * Documentation/power/powercap (RAPL: energy_uj, which root can read),
 * Documentation/ABI/stable/sysfs-class-infiniband (port_rcv_data counts in
 * units of four bytes; errors), hw_counters of
 * drivers/infiniband/hw/{mlx5,bnxt_re,efa}.
 */
#pragma once

#include "protocol/hardware/sample_format.h"

struct host_usage;

/* sys, proc: folders in place of /sys and /proc. Disks, interfaces and power
 * domains are searched, and files opened, now.
 */
struct host_usage *host_usage_new(const char *sys, const char *proc,
				  struct error *err);
void host_usage_free(struct host_usage *host);
OWNED_POINTER(struct host_usage, host_usage_free)

/* Fill all but HOST_POWER_W. now_ms: monotonic. Rates are absent in the first
 * call, and where a counter went backwards.
 */
void host_usage_take(struct host_usage *host, int64_t now_ms,
		     struct host_usage_sample *sample);
