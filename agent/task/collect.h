/* collect.h - stores the files that a task collects, after its command has
 * ended.
 *
 * regatta-init packs each path in the sweep's `collect` into a tar file, in the
 * container and with its rights (agent/init/pack.h). From the spool it is
 * copied into the node's blob store (protocol/blob/blob_store.h), from which
 * the controller fetches it. If regatta-init was killed before, the same
 * program packs what the container wrote to its own layer, where the engine
 * or the kernel says.
 *
 * The outcome of each path is in the spool's file host/files.json, which exists
 * from the start of the command on, so that a restarted agent continues. A path
 * that does not exist or is too large is reported, and does not fail the task.
 */
#pragma once

#include "agent/docker/engine.h"
#include "agent/spool/spool.h"
#include "agent/task/command.h"
#include "protocol/blob/blob_store.h"
#include "protocol/message/message.h"

#include <systemd/sd-event.h>

/* All borrowed. */
struct collect_services {
	sd_event *loop;
	struct engine *engine;
	struct spool *spool;
	struct blob_store *blobs;
	const struct task_id *id;
	const struct task_spec *spec;
	const char *container; /* its name */
	const char *init_program;
	/* All paths are done. */
	void (*done)(void *arg);
	void *arg;
};

/* The bytes that a task may collect; 0: it collects nothing. */
uint64_t collect_limit(const struct task_spec *spec);

/* Before the start: write the list of paths, with placeholders filled, and
 * append it to the start file. folder: the container's working folder, for
 * relative paths.
 */
int collect_note(struct spool *spool, const struct task_id *id,
		 const struct task_spec *spec, const char *folder,
		 const struct rendezvous *rendezvous, struct buffer *start,
		 struct error *err);

/* Before the command's release: where the disk of the container is, as an
 * engine that keeps images in containerd's store does not say it, and nobody
 * does when the container has ended. pid: of its regatta-init.
 */
void collect_note_layer(struct spool *spool, const struct task_id *id,
			pid_t pid);

/* After the end. NULL with err->code 0: there is nothing to collect. done()
 * runs later, also when everything was collected before.
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

/* Mark the collected blobs as used, so that they are not removed. */
void collect_touch(const struct collect *collect);
