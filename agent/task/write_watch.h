/* write_watch.h - limits what a container writes to its own disk and to its
 * folder on the host.
 *
 * Its own disk is the writable layer above its image, the volumes that the
 * engine makes for VOLUME lines of the image, and its code tree. Mounts,
 * /dev/shm and output do not count. Engines can limit the
 * layer only on few file systems, so this module asks the engine for its size,
 * and `regatta-init count` (agent/init/count.h) for that of the tree, of
 * volumes and of files without a name, and for the number of files. They walk
 * all files, so they are asked every two to ten seconds, as long as a container
 * that writes 1 GiB and makes 100,000 files a second would need to reach a
 * limit; or less often, so that it takes at most a fiftieth of the time.
 *
 * regatta-init bounds the output that it keeps, but the command may make other
 * files in the folder. So all bytes on disk and all names in it count, every
 * WRITE_LOOK_MS, or twice that while the limit is far, and files there without
 * a name by the last count.
 *
 * A container can exceed its limits by what it writes between two looks.
 */
#pragma once

#include "agent/docker/engine.h"
#include "agent/policy/node_policy.h"
#include "agent/spool/spool.h"

#define WRITE_LOOK_MS 1000
#define WRITE_NAMES_MAX 2048 /* regatta-init makes 64 logs and 128 copies */

/* Allowed beside the kept output: what is written before regatta-init cuts a
 * log to its limit.
 */
#define WRITE_SLACK_BYTES (UINT64_C(256) << 20)

/* The container is over a limit; why says which one. Called once, never from
 * inside a call of this header; write_watch_free() may be called within it.
 */
typedef void write_over_fn(void *arg, const char *why);

/* Borrowed until write_watch_free(). */
struct write_watch_config {
	sd_event *loop;
	struct engine *engine;
	const char *container; /* its name */
	/* limits.disk and limits.files */
	const struct node_policy *node_policy;
	struct spool *spool;
	const struct task_id *id;
	uint64_t output_bytes;    /* limit of the kept output */
	const char *init_program; /* regatta-init on the host */
	write_over_fn *over;
	void *arg;
};

struct write_watch;

/* Failed requests to the engine are repeated. */
struct write_watch *write_watch_new(const struct write_watch_config *config,
				    struct error *err);
void write_watch_free(struct write_watch *watch); /* NULL is fine */
OWNED_POINTER(struct write_watch, write_watch_free)
