/* strangers.h - does somebody else use the devices that a task is to get?
 *
 * Looked at are the engine's containers that are not of this agent (those that
 * were given one of the devices' nodes), and processes: of the vendor's tool,
 * where its profile says how (`processes`), else those that have one of the
 * nodes open. Who is there in two looks, STRANGERS_PAUSE_MS apart, is a
 * stranger: what a job before left behind, and what only asks for readings,
 * is soon gone. What cannot be seen (a tool that fails, an engine that is away)
 * is nobody.
 */
#ifndef AGENT_DEVICES_STRANGERS_H
#define AGENT_DEVICES_STRANGERS_H

#include "agent/engine/engine.h"
#include "protocol/hardware/device.h"

#include <sched.h>

#define STRANGERS_PAUSE_MS 1000

/* Borrowed until done() ran. */
struct strangers_source {
	sd_event *loop;
	struct engine *engine; /* NULL: no containers */
	const struct profile *profile;
	const struct sysroot *roots;
	const struct devices *devices; /* of the node */
	const cpu_set_t *cpus;         /* where tools run; NULL: anywhere */
	const char *cluster, *node;    /* of the labels of our own containers */
	uint32_t pause_ms;             /* 0: STRANGERS_PAUSE_MS */
};

/* From the loop, once. text: a sentence, or NULL: nobody is there. */
typedef void strangers_fn(void *arg, const char *text);

/* wanted: bit i for devices->list[i]. NULL: ENOMEM, and done() never runs. */
struct strangers;
struct strangers *strangers_look(const struct strangers_source *source,
				 uint64_t wanted, strangers_fn *done, void *arg,
				 struct error *err);
/* done() does not run. NULL is fine. */
void strangers_cancel(struct strangers *strangers);
OWNED_POINTER(struct strangers, strangers_cancel)

#endif
