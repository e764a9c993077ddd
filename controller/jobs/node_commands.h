/* node_commands.h - sends nodes their commands about tasks.
 *
 * Commands wait in the wire's queue until the commit of the turn. A node that
 * is not connected gets none; it gets what applies when it reports.
 */
#pragma once

#include "controller/cluster/active_job.h"

/* Does nothing while the task must wait for the digest of its image
 * (sweep_image.h).
 */
void node_command_prepare(struct task *task);
/* Send it to the tasks that need not wait any more. */
void node_command_waiting(struct jobs *jobs);
/* It need not prepare any more. */
void node_command_forget(struct task *task);
void node_command_start(struct task *task);
void node_command_stop(struct task *task);
/* The job is complete: the task ends without a failure. */
void node_command_finish(struct task *task);

/* All nodes of the gang observe its processes; returns the number of the round.
 * stops: tools may pause them meanwhile.
 */
uint64_t node_commands_look(struct gang *gang, bool stops);

/* Also for tasks whose job is not active any more. */
void node_command_discard(struct jobs *jobs, struct node *node,
			  const struct message_discard *discard);
