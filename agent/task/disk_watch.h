/* disk_watch.h - measures how much a container writes to its own disk.
 *
 * Its own disk is the writable layer over its image: what it writes to mounts,
 * volumes, /dev/shm or as output is not in it. Engines can limit it themselves
 * only on few file systems, so it is asked for: the engine counts by walking
 * all files of the layer. It is asked every DISK_LOOK_MS, or more rarely, so
 * that counting takes no more than a fiftieth of the time: a container that
 * writes fast is over the limit by what it writes in between.
 */
#ifndef AGENT_TASK_DISK_WATCH_H
#define AGENT_TASK_DISK_WATCH_H

#include "agent/docker/engine.h"

#define DISK_LOOK_MS 2000

/* It has written more than the limit; comes once, never from inside a call. The
 * watch may be freed in it.
 */
typedef void disk_over_fn(void *arg, uint64_t bytes);

struct disk_watch;

/* container: name or id (copied); the rest is borrowed. What the engine does
 * not answer is asked again.
 */
struct disk_watch *disk_watch_new(sd_event *loop, struct engine *engine,
				  const char *container, uint64_t limit_bytes,
				  disk_over_fn *over, void *arg,
				  struct error *err);
void disk_watch_free(struct disk_watch *watch);

#endif
