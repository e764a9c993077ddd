/* evidence_round.h - one round of evidence of a task: a snapshot of its
 * processes, dumps of their flight recorders, stack tools, and the last line.
 */
#pragma once

#include "agent/docker/engine.h"
#include "agent/evidence/stack_tools.h"

#include <sched.h>
#include <systemd/sd-event.h>

/* Runs a stack tool of an image, in its container.
 *
 * The engine starts it there, as the user of the container, with its
 * capabilities, its seccomp profile and its limits. It starts regatta-init
 * first, whose filter the task's processes have (agent/init/init.h).
 */

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

#define EVIDENCE_SNAPSHOT_MS 10000 /* time limit of the snapshot */
#define EVIDENCE_TOOL_MS 5000      /* of one tool for one process */
#define EVIDENCE_TOOLS_MS 20000    /* no tool is started later in a round */

struct evidence_source {
	sd_event *loop;
	const struct stack_tools *tools; /* borrowed */
	const cpu_set_t *cpus;      /* where tools may run; NULL: anywhere */
	struct inside_place inside; /* its init 0 or less: not known */
	const char *launcher; /* runs tools in the container instead of the
				 engine (protocol/base/subprocess.h); or NULL */
	int64_t first_rank;   /* of the task */
	uint64_t round;
	bool stops; /* tools may pause the processes */
	int folder; /* that the container writes (recorder.h); -1: recorders
		       are not asked; owned as fd */
	int fd;     /* the lines are appended here; owned, also on failure */
};

struct evidence_round;

/* Called from the loop, once, after the last line is written. The round is
 * freed after it.
 */
typedef void evidence_round_fn(void *arg);

/* NULL: ENOMEM, or the error that kept the snapshot from starting. The last
 * line is written then, and done() never runs.
 */
struct evidence_round *evidence_round_begin(const struct evidence_source *from,
					    evidence_round_fn *done, void *arg,
					    struct error *err);
/* done() does not run. NULL is fine. */
void evidence_round_cancel(struct evidence_round *round);
OWNED_POINTER(struct evidence_round, evidence_round_cancel)
