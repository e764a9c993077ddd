/* gang_relay.c - relays commands between the tasks of a job.
 */
#include "controller/gang_relay.h"

#include "controller/nodes/node.h"
#include "protocol/wire/wire.h"

#include <stdio.h>
#include <string.h>

static void pass_on(const struct node *node, enum message_type type,
		    const void *body, const void *data, size_t size)
{
	if (node && node_peer(node))
		wire_server_send(node_peer(node), type, body, data, size, NULL);
}

static bool is_named(const struct task *task, const char *host)
{
	return task_node(task) &&
	       (!strcmp(node_name(task_node(task)), host) ||
		!strcmp(node_view(task_node(task))->address, host));
}

/* The task on that host; localhost is the task itself. */
static struct task *task_on(struct task *asking, const char *host)
{
	static const char *const own[] = { "localhost", "127.0.0.1", "::1" };
	const struct gang *gang = task_gang(asking);

	for (uint32_t i = 0; i < gang_nodes(gang); i++)
		if (is_named(gang_task(gang, i), host))
			return gang_task(gang, i);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strcmp(host, own[i]))
			return asking;
	return NULL;
}

static void gang_relay_refuse(struct node *node,
			      const struct message_command *command, char *text)
{
	const struct message_command_answer answer = {
		.job = command->job,
		.attempt = command->attempt,
		.rank = command->rank,
		.id = command->id,
		.text = text,
	};

	pass_on(node, MESSAGE_COMMAND_ANSWER, &answer, NULL, 0);
}

void gang_relay_command(const struct job_table *jobs, struct node *node,
			struct message_command *command, const void *data,
			size_t size)
{
	struct task *asking = task_find(jobs, node, command->job,
					command->attempt, command->rank),
		    *to;
	char text[400];

	if (!asking || !gang_spec(task_gang(asking))->container.ssh)
		return;
	to = task_on(asking, command->host);
	if (!to)
		snprintf(text, sizeof(text),
			 "%.100s is not a node of this job (expected its "
			 "address or name)",
			 command->host);
	else if (task_state(to) == TASK_ENDED)
		snprintf(text, sizeof(text), "the task on %.100s has ended",
			 command->host);
	if (!to || task_state(to) == TASK_ENDED) {
		gang_relay_refuse(node, command, text);
		return;
	}
	command->to = task_rank(to);
	pass_on(task_node(to), MESSAGE_COMMAND, command, data, size);
}

void gang_relay_answer(const struct job_table *jobs, struct node *node,
		       const struct message_command_answer *answer,
		       const void *data, size_t size)
{
	const struct job *job = job_find(jobs, answer->job);
	const struct gang *gang = job ? job_gang(job) : NULL;
	bool is_member = false;

	if (!gang || job_attempt(job) != answer->attempt ||
	    answer->rank >= gang_nodes(gang))
		return;
	for (uint32_t i = 0; i < gang_nodes(gang); i++)
		is_member |= task_node(gang_task(gang, i)) == node;
	if (is_member)
		pass_on(task_node(gang_task(gang, answer->rank)),
			MESSAGE_COMMAND_ANSWER, answer, data, size);
}
