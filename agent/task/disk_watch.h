/* disk_watch.h - measures how much a container writes to its own disk.
 *
 * Its own disk is the writable layer above its image. Mounts, volumes, /dev/shm
 * and output do not count. Engines can limit the layer only on few file
 * systems, so this module asks the engine for its size. The engine walks all
 * files of the layer for that. It is asked every DISK_LOOK_MS, or less often,
 * so that it spends at most a fiftieth of the time on it. A container can
 * exceed the limit by what it writes between two requests.
 */
#ifndef AGENT_TASK_DISK_WATCH_H
#define AGENT_TASK_DISK_WATCH_H

#include "agent/docker/engine.h"

#define DISK_LOOK_MS 2000

/* The container is over the limit. Called once, never from inside a call of
 * this header; disk_watch_free() may be called within it.
 */
typedef void disk_over_fn(void *arg, uint64_t bytes);

struct disk_watch;

/* container: name or id (copied); the rest is borrowed. Failed requests to the
 * engine are repeated.
 */
struct disk_watch *disk_watch_new(sd_event *loop, struct engine *engine,
				  const char *container, uint64_t limit_bytes,
				  disk_over_fn *over, void *arg,
				  struct error *err);
void disk_watch_free(struct disk_watch *watch);

#endif
