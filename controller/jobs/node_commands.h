/* node_commands.h - sends nodes their commands about tasks.
 *
 * Commands wait in the wire's queue until the commit of the turn. A node that
 * is out of reach gets none: it is reminded when it reports.
 */
#ifndef CONTROLLER_JOBS_NODE_COMMANDS_H
#define CONTROLLER_JOBS_NODE_COMMANDS_H

#include "controller/cluster/active_job.h"

/* No-op while the task has to wait for what its image means (image_digest.h).
 */
void node_command_prepare(struct task *task);
/* Those whose image is known now, or who are to find out next. */
void node_command_waiting(struct jobs *jobs);
void node_command_start(struct task *task);
void node_command_stop(struct task *task);
/* The job's work is done: the task ends, and well. */
void node_command_finish(struct task *task);

/* All nodes of the gang look at its processes, in the round that is returned.
 * stops: tools may halt them for it.
 */
uint64_t node_commands_look(struct gang *gang, bool stops);

/* Also of tasks that no job knows any more. */
void node_command_discard(struct jobs *jobs, struct node *node, uint64_t job,
			  uint32_t attempt, uint32_t rank);

#endif
