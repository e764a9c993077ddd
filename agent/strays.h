/* strays.h - removes containers with our labels that belong to no task.
 *
 * Only in a session: a second agent with the same key, which would remove the
 * containers of the first, gets none.
 */
#pragma once

#include "agent/task_table.h"

struct strays;

/* All is borrowed. */
struct strays *strays_new(sd_event *loop, struct engine *engine,
			  const struct task_table *tasks, const char *cluster,
			  const char *node, struct error *err);
void strays_free(struct strays *strays);
OWNED_POINTER(struct strays, strays_free)

/* The session began, so they are removed, or ended. */
void strays_session(struct strays *strays, bool open);

/* Remove them a little later, if there is a session then: an engine that hung
 * may still create the container of a task that was removed.
 */
void strays_later(struct strays *strays);

/* The task of a container, an element of the engine's list, from its labels and
 * its name. False: it is none of ours.
 */
bool container_task_id(const cJSON *container, struct task_id *id);
