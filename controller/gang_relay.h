/* gang_relay.h - commands that the tasks of a job hand to each other, passed on
 * between their nodes.
 *
 * Nothing is kept here: who asks asks again until it is answered. Only tasks of
 * one job reach each other, and only where its sweep says so (`ssh`).
 */
#ifndef CONTROLLER_GANG_RELAY_H
#define CONTROLLER_GANG_RELAY_H

#include "controller/cluster/active_job.h"
#include "protocol/message/message.h"

/* From the node: to the node of the job that it names. One that the job does
 * not have is refused in words; one that is out of reach hears it later.
 */
void gang_relay_command(const struct job_table *jobs, struct node *node,
			struct message_command *command, const void *data,
			size_t size);
void gang_relay_answer(const struct job_table *jobs, struct node *node,
		       const struct message_command_answer *answer,
		       const void *data, size_t size);

#endif
