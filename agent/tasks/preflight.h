/* preflight.h - what can be known to fail before anything is fetched.
 */
#ifndef AGENT_TASKS_PREFLIGHT_H
#define AGENT_TASKS_PREFLIGHT_H

#include "protocol/spec.h"

#define PREFLIGHT_DISK_BYTES (64ULL << 20) /* free space for output */

/* The mounts' host paths exist and there is room for output below `folder`.
 * The error names what is missing.
 */
int preflight_check(const struct task_spec *spec, const char *folder,
		    struct error *err);

/* A TCP port from 20000 to 29999 (below what the kernel gives to outgoing
 * connections) that is free on all addresses of this host, and the socket that
 * holds it (*fd, to be closed just before the port is used).
 */
int preflight_port(int *fd, uint32_t *port, struct error *err);

#endif
