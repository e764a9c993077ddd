/* launcher_end.c - detects a launcher that reports a failed process and does
 * not end.
 */
#include "controller/jobs/launcher_end.h"
#include "controller/causes/failure_patterns.h"
#include "controller/cluster/job_life.h"
#include "controller/jobs/core.h"
#include "controller/jobs/job_reason.h"
#include "controller/logs/task_streams.h"
#include "controller/nodes/node.h"

#include <stdio.h>
#include <string.h>

/* Of each stream: the report of a launcher is its last output. */
#define TAIL_BYTES 16384
#define COMMAND_BYTES 8192

static bool restarts(const struct gang *gang)
{
	const struct strings *argv = &gang->spec.container.argv;
	owned(buffer_clear) struct buffer command;
	struct failure_hit hit;

	buffer_init(&command, COMMAND_BYTES);
	for (size_t i = 0; i < argv->count; i++)
		if (buffer_printf(&command, NULL, "%s ", argv->items[i]) < 0)
			break;
	return command.size &&
	       failure_patterns_find(gang->job->jobs->failures, FAILURE_RESTART,
				     NULL, command.data, command.size, false,
				     &hit);
}

/* For tasks of one process; of several, regatta-init is the launcher. */
static bool gave_up(const struct task *task)
{
	const struct job *job = task->job;
	char name[TASK_STREAM_SIZE];
	struct reason_job asked = {
		.effects = job->jobs->effects,
		.world = job->jobs->effects->arg,
		.id = job->id,
		.attempt = job->attempt,
		.streams = { { .name = name, .rank = task->rank } },
		.count = 1,
	};

	task_stream_name(task, 0, name);
	return job_reason_gave_up(job->jobs->failures, &asked, TAIL_BYTES);
}

bool launcher_end(struct gang *gang)
{
	struct job *job = gang->job;
	char text[200];

	if (!job->jobs->failures || gang->spec.container.processes ||
	    restarts(gang))
		return false;
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];

		if (!task_node(task) || !gave_up(task))
			continue;
		snprintf(text, sizeof(text),
			 "%s: the launcher reported a failed process and did "
			 "not end for %d s",
			 node_name(task_node(task)), LAUNCHER_GRACE_MS / 1000);
		job->life->exception(job, FAILURE_EXIT, 0, text);
		return true;
	}
	return false;
}
