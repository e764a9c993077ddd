/* inside_tool.h - runs a stack tool of an image, in its container.
 *
 * The engine starts it there, as the user of the container, with its
 * capabilities, its seccomp profile and its limits. It starts regatta-init
 * first, whose filter the task's processes have (agent/init/init.h).
 */
#ifndef AGENT_EVIDENCE_INSIDE_TOOL_H
#define AGENT_EVIDENCE_INSIDE_TOOL_H

#include "agent/docker/engine.h"

struct inside_tool;

struct inside_place {
	struct engine *engine;
	const char *container; /* borrowed */
	pid_t init;            /* regatta-init, on this node */
};

/* What it printed, at most output_max bytes; "": nothing, or it failed. The
 * tool is freed after it.
 */
typedef void inside_tool_fn(void *arg, const char *text);

/* NULL: it is not known where regatta-init is in the container (the agent is
 * not root), or nothing was sent.
 */
struct inside_tool *inside_tool_run(const struct inside_place *place,
				    const struct strings *argv,
				    uint32_t timeout_ms, size_t output_max,
				    inside_tool_fn *done, void *arg);

/* done() does not run; the program may go on. NULL is fine. */
void inside_tool_cancel(struct inside_tool *tool);

#endif
