/* cgroup.h - what the kernel counts for this container: memory and OOM kills.
 *
 * Source: Linux Documentation/admin-guide/cgroup-v2.rst ("memory.events",
 * "memory.stat") and cgroup-v1/memory.rst ("memory.oom_control",
 * "memory.stat").
 */
#ifndef AGENT_INIT_CGROUP_H
#define AGENT_INIT_CGROUP_H

#include <stdint.h>

/* Both give 0 where it cannot be read. */
int64_t cgroup_oom_kills(void);

/* Bytes now, shared memory with them, page cache not: what a program reads from
 * a disk fills that, as far as there is room.
 */
int64_t cgroup_memory_used(void);

#endif
