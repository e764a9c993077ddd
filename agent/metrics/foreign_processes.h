/* foreign_processes.h - tells whether somebody else uses the devices of a
 * task.
 *
 * Looked at are the engine's containers that are not of this agent (those that
 * were given one of the devices' nodes), and processes: of the vendor's tool,
 * where its profile says how (`processes`), else those that have one of the
 * nodes open. Who is there in two looks, FOREIGN_PROCESSES_PAUSE_MS apart, is a
 * stranger: what a job before left behind, and what only asks for readings,
 * is soon gone. What cannot be seen (a tool that fails, an engine that is away)
 * is nobody.
 */
#ifndef AGENT_METRICS_FOREIGN_PROCESSES_H
#define AGENT_METRICS_FOREIGN_PROCESSES_H

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

/* From the loop, once. text: a sentence, or NULL: nobody is there. */
typedef void foreign_processes_fn(void *arg, const char *text);

/* wanted: bit i for devices->list[i]. NULL: ENOMEM, and done() never runs. */
struct foreign_processes;
struct foreign_processes *
foreign_processes_look(const struct foreign_processes_source *source,
		       uint64_t wanted, foreign_processes_fn *done, void *arg,
		       struct error *err);
/* done() does not run. NULL is fine. */
void foreign_processes_cancel(struct foreign_processes *strangers);
OWNED_POINTER(struct foreign_processes, foreign_processes_cancel)

#endif
