/* host.h - how busy the host is: processors, memory, disks, network, power.
 *
 * Rates are over the time between two takes. Sources: proc(5) (stat, meminfo,
 * diskstats, net/dev), Linux Documentation/power/powercap (RAPL: energy_uj,
 * which root can read), Documentation/ABI/stable/sysfs-class-infiniband
 * (port_rcv_data counts in units of four bytes).
 */
#ifndef AGENT_DEVICES_HOST_H
#define AGENT_DEVICES_HOST_H

#include "protocol/hardware/sample_format.h"

struct host;

/* sys, proc: what stands for /sys and /proc (copied). Disks, interfaces and
 * power domains are looked for now.
 */
struct host *host_new(const char *sys, const char *proc, struct error *err);
void host_free(struct host *host);
OWNED_POINTER(struct host, host_free)

/* Fill all but HOST_POWER_W. now_ms: monotonic. Rates are absent in the first
 * take, and where a counter went backwards.
 */
void host_take(struct host *host, int64_t now_ms, struct host_sample *sample);

#endif
