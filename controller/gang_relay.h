/* gang_relay.h - relays commands between the tasks of a job.
 *
 * Nothing is stored here: a task repeats its command until it has the answer.
 * Only tasks of the same job reach each other, and only if its sweep has `ssh`.
 */
#pragma once

#include "controller/cluster/active_job.h"
#include "protocol/message/message.h"

/* Send a command of a task to the task on the host that it names. A host that
 * is not of the job is refused with a sentence. A disconnected node gets the
 * command when it is repeated.
 */
void gang_relay_command(const struct job_table *jobs, struct node *node,
			struct message_command *command, const void *data,
			size_t size);
/* Send the answer to the task that asked. */
void gang_relay_answer(const struct job_table *jobs, struct node *node,
		       const struct message_command_answer *answer,
		       const void *data, size_t size);
