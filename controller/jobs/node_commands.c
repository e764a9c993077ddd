/* node_commands.c - sends nodes their commands about tasks.
 */
#include "controller/jobs/node_commands.h"

#include "controller/images/logins.h"
#include "controller/images/sweep_image.h"
#include "controller/jobs/core.h"
#include "controller/jobs/job.h"
#include "controller/nodes/node.h"
#include "protocol/base/log.h"

#include <inttypes.h>

static void task_send(struct task *task, enum message_type type,
		      const void *body)
{
	struct jobs *jobs = task->job->jobs;
	struct error err;

	if (task_node(task) && node_up(task_node(task)) &&
	    jobs->effects->send(jobs->effects->arg, task_node(task), type, body,
				&err) < 0)
		log_error("node=%s: %s", node_name(task_node(task)), err.text);
}

void node_command_prepare(struct task *task)
{
	struct message_prepare prepare;
	struct error err;

	node_command_forget(task);
	task->waits = !sweep_image_may_prepare(task->job->jobs->images, task);
	task->job->jobs->waiting += task->waits;
	if (task->waits &&
	    !sweep_image_must_look(task->job->jobs->images, task))
		return;
	if (!task_node(task) || !node_peer(task_node(task)))
		return;
	if (task_make_spec(task, &prepare.task, &err) < 0) {
		log_error("job=%" PRIu64 ": %s", task->job->id, err.text);
		return;
	}
	prepare.task.look = task->waits;
	if (logins_give(task->job->jobs->logins, task->job->sweep,
			node_view(task_node(task))->key,
			prepare.task.container.build
				? NULL
				: prepare.task.container.image,
			&prepare.task.logins, &prepare.task.logins_count,
			&err) < 0)
		log_error("job=%" PRIu64 ": %s", task->job->id, err.text);
	task_send(task, MESSAGE_PREPARE, &prepare);
	task_drop_spec(&prepare.task);
}

void node_command_waiting(struct jobs *jobs)
{
	struct gang *gang;

	if (!jobs->waiting)
		return;
	for (gang = gang_first(jobs->table); gang; gang = gang_next(gang))
		for (uint32_t i = 0;
		     gang->job->state == JOB_PREPARING && i < gang->spec.nodes;
		     i++)
			if (gang->tasks[i].waits)
				node_command_prepare(&gang->tasks[i]);
}

void node_command_forget(struct task *task)
{
	task->job->jobs->waiting -= task->waits;
	task->waits = false;
}

void node_command_start(struct task *task)
{
	const struct gang *gang = task->job->gang;
	struct message_start start = {
		.job = task->job->id,
		.attempt = task->job->attempt,
		.rank = task->rank,
		.master_addr = gang->address,
		.master_port = gang->port,
		.time_ms = (uint64_t)task->job->started_ms,
		.addresses = gang->addresses,
	};

	task_send(task, MESSAGE_START, &start);
}

void node_command_stop(struct task *task)
{
	enum failure failure = task->job->failure;
	struct message_stop stop = {
		.job = task->job->id,
		.attempt = task->job->attempt,
		.rank = task->rank,
		.reason = (char *)failure_name(failure ? failure
						       : FAILURE_CANCELLED),
	};

	task_send(task, MESSAGE_STOP, &stop);
}

void node_command_finish(struct task *task)
{
	struct message_stop stop = {
		.job = task->job->id,
		.attempt = task->job->attempt,
		.rank = task->rank,
		.reason = (char *)"",
		.done = true,
	};

	task_send(task, MESSAGE_STOP, &stop);
}

uint64_t node_commands_look(struct gang *gang, bool stops)
{
	uint64_t round = (uint64_t)effects_wall_ms(gang->job->jobs->effects);

	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		struct message_observe observe = {
			.job = gang->job->id,
			.attempt = gang->job->attempt,
			.rank = i,
			.round = round,
			.stops = stops,
		};

		task_send(&gang->tasks[i], MESSAGE_OBSERVE, &observe);
	}
	return round;
}

void node_command_discard(struct jobs *jobs, struct node *node,
			  const struct message_discard *discard)
{
	struct error err;

	if (node_peer(node) &&
	    jobs->effects->send(jobs->effects->arg, node, MESSAGE_DISCARD,
				discard, &err) < 0)
		log_error("node=%s: %s", node_name(node), err.text);
}
