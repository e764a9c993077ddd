/* preflight.h - checks that fail a task before anything is fetched.
 *
 * preflight_check() checks paths, free disk and the clock at once.
 * preflight_begin() checks from the loop what takes longer: the vendor's tools,
 * the engine, the processes of the machine.
 */
#pragma once

#include "agent/metrics/foreign_processes.h"
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
	struct engine *engine;      /* NULL: its containers are not checked */
	const char *cluster, *node; /* of the labels of our containers */
	const cpu_set_t *cpus;      /* where tools run; NULL: anywhere */
	uint32_t paths_ms;          /* 0: PREFLIGHT_PATHS_MS */
	uint32_t clock_limit_ms;    /* difference from the controller's clock;
				       0: PREFLIGHT_CLOCK_FAIL_MS */
	struct versions *versions;  /* filled with the latest ones, or NULL */
	/* wire_client_clock(); false: not known. */
	bool (*clock)(void *arg, struct exchange *best);
	void *arg;
};

/* Check that the host paths of mounts and the paths in `needs` exist, that the
 * nodes of the job can reach each other, that the disk of `folder` has free
 * space for output, and that the clock is within its limit. The error names
 * what is missing or wrong.
 */
int preflight_check(const struct preflight_services *services,
		    const struct task_spec *spec, const char *folder,
		    struct error *err);

/* Called from the loop, once. ENODEV: no device of the node's vendor is there.
 * EBUSY: others use the devices, and the spec does not make that a warning.
 * facts: present facts of the host, an object that the callee owns; NULL with
 * err:
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

/* Do others use these devices (bit i: the one at i)? NULL: the node has none
 * that are known, or ENOMEM; done() never runs.
 */
struct foreign_processes *
preflight_look_for_others(const struct preflight_services *services,
			  uint64_t wanted, foreign_processes_fn *done,
			  void *arg);

/* By how much the controller's clock is ahead of ours. False: the difference
 * is not known, or within what its measurement took.
 */
bool preflight_clock_apart(const struct preflight_services *services,
			   int64_t *apart_ms);

/* Do the file systems of the mounts and of `needs` answer? Call it before
 * anything else that uses these paths: a process that touches a file system
 * whose server is gone hangs, so a child process does it here. done() gets no
 * facts, and ETIMEDOUT or NULL; NULL also when a path does not exist.
 */
struct preflight *preflight_reach(const struct preflight_services *services,
				  const struct task_spec *spec, /* borrowed */
				  preflight_fn *done, void *arg,
				  struct error *err);

/* Find a TCP port from 20000 to 29999 (below the range of outgoing connections)
 * that is free on all addresses of this host. The socket *fd holds it; the
 * caller closes it just before the port is used.
 */
int preflight_port(int *fd, uint32_t *port, struct error *err);
