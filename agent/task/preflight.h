/* preflight.h - checks that fail a task before anything is fetched.
 *
 * Paths, free disk and the clock are looked at once, in preflight_check(); what
 * takes longer (the vendor's tools, the engine, the processes of the machine)
 * runs from the loop, in preflight_begin().
 */
#ifndef AGENT_TASK_PREFLIGHT_H
#define AGENT_TASK_PREFLIGHT_H

#include "agent/devices/device_binding.h"
#include "agent/metrics/versions.h"
#include "protocol/message/spec.h"
#include "protocol/wire/clock_offset.h"

#include <cjson/cJSON.h>
#include <sched.h>
#include <systemd/sd-event.h>

#define PREFLIGHT_DISK_BYTES (64ULL << 20) /* free space for output */
#define PREFLIGHT_PATHS_MS 10000
#define PREFLIGHT_CLOCK_WARN_MS 1000
#define PREFLIGHT_CLOCK_FAIL_MS 60000

/* What all tasks of an agent share; borrowed, and so are its members. */
struct preflight_services {
	sd_event *loop;
	const struct device_binding_source *binding;
	struct engine *engine;      /* NULL: no containers are looked at */
	const char *cluster, *node; /* of the labels of our containers */
	const cpu_set_t *cpus;      /* where tools run; NULL: anywhere */
	uint32_t paths_ms;          /* 0: PREFLIGHT_PATHS_MS */
	uint32_t clock_limit_ms;    /* from the controller's; 0: the default */
	struct versions *versions;  /* what was told last; NULL: not kept */
	/* wire_client_clock(); false: not known. */
	bool (*clock)(void *arg, struct exchange *best);
	void *arg;
};

/* The mounts' host paths and those that the spec needs exist, the nodes of a
 * job can reach each other, there is room for output below `folder`, and the
 * clock is not further from the controller's than its limit. The error names
 * what is missing or wrong.
 */
int preflight_check(const struct preflight_services *services,
		    const struct task_spec *spec, const char *folder,
		    struct error *err);

/* From the loop, once. err: what forbids the task, or NULL: no device of the
 * node's vendor is there (ENODEV), or somebody else uses them (EBUSY), unless
 *the spec only wants to be told. facts: what the host is right now, an object
 *of which the callee is the owner; NULL with err:
 *
 *	{"driver", "sdk", "clock", "governor", "memory_available_bytes",
 *	 "warnings": ["..."]}	sentences, where there are any
 */
typedef void preflight_fn(void *arg, const struct error *err, cJSON *facts);

struct preflight;
struct preflight *preflight_begin(const struct preflight_services *services,
				  const struct task_spec *spec, /* borrowed */
				  preflight_fn *done, void *arg,
				  struct error *err);
/* done() does not run. NULL is fine. */
void preflight_cancel(struct preflight *preflight);
OWNED_POINTER(struct preflight, preflight_cancel)

/* Before anything else looks at them: do the file systems of the mounts and of
 * what the spec needs answer? Another process asks, for one whose server is
 * gone keeps who looks at it for ever. done() gets ETIMEDOUT, or NULL, also
 * when a path is not there; no facts.
 */
struct preflight *preflight_reach(const struct preflight_services *services,
				  const struct task_spec *spec, /* borrowed */
				  preflight_fn *done, void *arg,
				  struct error *err);

/* A TCP port from 20000 to 29999 (below what the kernel gives to outgoing
 * connections) that is free on all addresses of this host, and the socket that
 * holds it (*fd, to be closed just before the port is used).
 */
int preflight_port(int *fd, uint32_t *port, struct error *err);

#endif
