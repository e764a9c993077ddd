/* evidence_round.h - one round of evidence of a task: look, tools, last line.
 */
#ifndef AGENT_EVIDENCE_EVIDENCE_ROUND_H
#define AGENT_EVIDENCE_EVIDENCE_ROUND_H

#include "agent/evidence/stack_tools.h"

#include <sched.h>
#include <systemd/sd-event.h>

#define EVIDENCE_SNAPSHOT_MS 10000 /* then the look is given up */
#define EVIDENCE_TOOL_MS 5000      /* the same of one tool for one process */
#define EVIDENCE_TOOLS_MS 20000    /* no tool is begun later in a round */

struct evidence_source {
	sd_event *loop;
	const struct stack_tools *tools; /* borrowed */
	const cpu_set_t *cpus; /* where tools may run; NULL: anywhere */
	pid_t root;         /* of regatta-init; not above 0: it is not known */
	int64_t first_rank; /* of the task */
	uint64_t round;
	bool stops; /* tools may halt the processes */
	int fd;     /* the lines are appended here; owned, also on failure */
};

struct evidence_round;

/* Runs from the loop, once: the last line is written. The round is freed after
 * it.
 */
typedef void evidence_round_fn(void *arg);

/* ENOMEM, or what kept the look from starting; the last line is written then,
 * and done() never runs.
 */
struct evidence_round *evidence_round_begin(const struct evidence_source *from,
					    evidence_round_fn *done, void *arg,
					    struct error *err);
/* done() does not run. NULL is fine. */
void evidence_round_cancel(struct evidence_round *round);
OWNED_POINTER(struct evidence_round, evidence_round_cancel)

#endif
