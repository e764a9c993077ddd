/* idle_look.h - looks, while no task runs, whether others use the devices.
 *
 * Each look is preflight_look_for_others(): of containers and of processes,
 * which must be there twice. So an idle node that is not free is known before
 * a job fails on it.
 */
#pragma once

#include "agent/task/preflight.h"
#include "agent/task_table.h"

#define IDLE_LOOK_MS 60000  /* between looks, at least */
#define IDLE_LOOK_SHARE 100 /* and so many times as long as a look takes */

typedef void idle_look_fn(void *arg);

/* Arguments are borrowed. changed() runs when idle_look_found() changed. Free
 * it before the engine and the inventory.
 */
struct idle_look;
struct idle_look *idle_look_new(sd_event *loop,
				const struct preflight_services *services,
				const struct task_table *tasks,
				uint32_t pause_ms, /* 0: as above */
				idle_look_fn *changed, void *arg,
				struct error *err);
void idle_look_free(struct idle_look *look);
OWNED_POINTER(struct idle_look, idle_look_free)

/* A sentence that names a container or process; NULL: none was found last, or
 * tasks run.
 */
const char *idle_look_found(const struct idle_look *look);
