/* foreign_processes.h - detects containers and processes of others that use the
 * devices of a task.
 *
 * It checks the engine's containers that have one of the device nodes and do
 * not belong to this agent. It also checks processes: those that the vendor's
 * tool lists, where the profile has `processes`, else those that have one of
 * the device nodes open. Only what is found twice, FOREIGN_PROCESSES_PAUSE_MS
 * apart, counts: leftovers of an earlier job and monitoring tools end soon. A
 * tool that fails counts as nothing found, and so does an engine whose list of
 * containers fails, because which ones are ours is unknown then.
 */
#pragma once

#include "agent/docker/engine.h"
#include "protocol/hardware/device.h"

#include <sched.h>

#define FOREIGN_PROCESSES_PAUSE_MS 1000

/* Borrowed until done() ran. */
struct foreign_processes_source {
	sd_event *loop;
	struct engine *engine; /* NULL: no containers */
	const struct profile *profile;
	const struct sysroot *roots;
	const struct devices *devices; /* of the node */
	const cpu_set_t *cpus;         /* where tools run; NULL: anywhere */
	const char *cluster, *node;    /* of the labels of our own containers */
	uint32_t pause_ms;             /* 0: FOREIGN_PROCESSES_PAUSE_MS */
};

/* Called from the loop, once. text: a sentence that names one; NULL: none. */
typedef void foreign_processes_fn(void *arg, const char *text);

/* wanted: bit i for devices->list[i]. NULL: ENOMEM, and done() never runs. */
struct foreign_processes;
struct foreign_processes *
foreign_processes_look(const struct foreign_processes_source *source,
		       uint64_t wanted, foreign_processes_fn *done, void *arg,
		       struct error *err);
/* done() does not run. NULL is fine. */
void foreign_processes_cancel(struct foreign_processes *foreign);
OWNED_POINTER(struct foreign_processes, foreign_processes_cancel)
