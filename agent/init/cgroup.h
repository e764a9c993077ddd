/* cgroup.h - what the kernel counts for this container: memory and OOM kills.
 *
 * Source: Linux Documentation/admin-guide/cgroup-v2.rst ("memory.events",
 * "memory.peak", since 5.19) and cgroup-v1/memory.rst ("memory.oom_control",
 * "memory.max_usage_in_bytes").
 */
#ifndef AGENT_INIT_CGROUP_H
#define AGENT_INIT_CGROUP_H

#include <stdint.h>

/* Both give 0 where it cannot be read. */
int64_t cgroup_oom_kills(void);
int64_t cgroup_memory_peak(void); /* bytes */

#endif
