/* cgroup.h - what the kernel counts for this container: memory and OOM kills.
 *
 * Source: Linux Documentation/admin-guide/cgroup-v2.rst ("memory.events",
 * "memory.stat") and cgroup-v1/memory.rst ("memory.oom_control",
 * "memory.stat").
 */
#pragma once

#include <stdint.h>

/* Both return 0 if the value cannot be read. */
int64_t cgroup_oom_kills(void);

/* Bytes in use now, with shared memory, without page cache, which files that
 * are read fill up to the limit.
 */
int64_t cgroup_memory_used(void);
