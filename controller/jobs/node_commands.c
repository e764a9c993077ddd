/* node_commands.c - what nodes are told to do with tasks.
 */
#include "controller/jobs/node_commands.h"

#include "controller/images/image_digest.h"
#include "controller/images/logins.h"
#include "controller/jobs/job.h"
#include "controller/nodes/node.h"
#include "protocol/base/log.h"

#include <inttypes.h>

static void tell(struct task *task, enum message_type type, const void *body)
{
	struct cluster *cluster = task->job->gang->cluster;
	struct error err;

	if (task->node && task->node->peer && task->node->reported &&
	    cluster->effects->send(cluster->world, task->node, type, body,
				   &err) < 0)
		log_error("node=%s: %s", task->node->name, err.text);
}

void node_command_prepare(struct task *task)
{
	struct message_prepare prepare;
	struct error err;

	if (!image_digest_may_prepare(task->job->gang->cluster, task))
		return;
	if (!task->node || !task->node->peer)
		return;
	if (task_make_spec(task, &prepare.task, &err) < 0) {
		log_error("job=%" PRIu64 ": %s", task->job->id, err.text);
		return;
	}
	if (logins_give(task->job->gang->cluster, task->job->sweep,
			task->node->key,
			prepare.task.container.build
				? NULL
				: prepare.task.container.image,
			&prepare.task.logins, &prepare.task.logins_count,
			&err) < 0)
		log_error("job=%" PRIu64 ": %s", task->job->id, err.text);
	tell(task, MESSAGE_PREPARE, &prepare);
	codec_clear(&task_spec_schema, &prepare.task);
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

	tell(task, MESSAGE_START, &start);
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

	tell(task, MESSAGE_STOP, &stop);
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

	tell(task, MESSAGE_STOP, &stop);
}

void node_command_discard(struct cluster *cluster, struct node *node,
			  uint64_t job, uint32_t attempt, uint32_t rank)
{
	struct message_discard discard = { job, attempt, rank };
	struct error err;

	if (node->peer &&
	    cluster->effects->send(cluster->world, node, MESSAGE_DISCARD,
				   &discard, &err) < 0)
		log_error("node=%s: %s", node->name, err.text);
}
