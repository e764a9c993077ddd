/* collect.h - keeps the files that a task is to collect, when its command
 * has ended.
 *
 * Each path that the sweep asks for is taken out of the container as a tar file
 * and becomes a content of the node (protocol/blob/blob_store.h), which the
 * controller then reads. Of a pattern (protocol/blob/pattern.h), that is the
 * part of the folder it begins with that matches; COLLECT_READ_FACTOR times the
 * limit is read of such a folder at most. What came of each path stands in the
 * spool's file host/files.json, from the start of the command on, so another
 * agent goes on with those that are missing. A path that is not there, or too
 * large, is no failure of the task: it is told.
 */
#ifndef AGENT_TASK_COLLECT_H
#define AGENT_TASK_COLLECT_H

#include "agent/docker/engine.h"
#include "agent/spool/spool.h"
#include "agent/task/command.h"
#include "protocol/blob/blob_store.h"
#include "protocol/message/message.h"

#include <systemd/sd-event.h>

#define COLLECT_READ_FACTOR 64

/* All borrowed. */
struct collect_services {
	sd_event *loop;
	struct engine *engine;
	struct spool *spool;
	struct blob_store *contents;
	const struct task_id *id;
	const struct task_spec *spec;
	const char *container; /* its name */
	/* Nothing is missing any more. */
	void (*done)(void *arg);
	void *arg;
};

/* Before the start: note what will be collected, its placeholders filled.
 * folder: the container's working folder, from which relative paths are.
 */
int collect_note(struct spool *spool, const struct task_id *id,
		 const struct task_spec *spec, const char *folder,
		 const struct rendezvous *rendezvous, struct error *err);

/* After the end. NULL without an error (code 0): there is nothing to collect.
 * done() runs later, also when all was collected before.
 */
struct collect;
struct collect *collect_begin(const struct collect_services *services,
			      struct error *err);
void collect_free(struct collect *collect);
OWNED_POINTER(struct collect, collect_free)

bool collect_is_done(const struct collect *collect);

/* A copy for a message, whose schema releases it. */
int collect_list(const struct collect *collect, struct collected_file **files,
		 size_t *count);

/* Keep what was collected from being removed as unused. */
void collect_touch(const struct collect *collect);

#endif
