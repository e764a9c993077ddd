/* output.c - what follows for a job when output and files of its tasks arrive.
 */
#include "controller/jobs/output.h"
#include "controller/jobs/core.h"
#include "controller/jobs/gang.h"
#include "controller/logs/log_ingest.h"
#include "controller/logs/log_reader.h"
#include "controller/logs/task_streams.h"
#include "controller/nodes/node.h"
#include "protocol/base/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define READ_TURN 2 /* pieces per turn of the loop */

/* Output. */

/* Where the log rules define signs of life, only these are some. */
static bool output_tells_life(const struct task *task, const char *stream)
{
	return task_stream_is_output(task, stream) &&
	       !log_reader_tells_life(task->job->jobs->reader, task->job->gang);
}

void output_append(struct jobs *jobs, struct node *node,
		   const struct message_log *log, const void *data, size_t size)
{
	struct task *task =
		task_find(jobs->table, node, log->job, log->attempt, log->rank);
	unsigned int found;

	if (!task || job_state_final(task->job->state))
		return; /* the node is told to discard it */
	found = log_ingest_append(jobs->ingest, task, log, data, size);
	if (!found)
		return;
	if (output_tells_life(task, log->stream))
		task->job->gang->heard_ms = effects_mono_ms(jobs->effects);
	if (found & LOG_STORED)
		task->job->gang->synced = false;
	task->crowded |= (found & LOG_CROWDED) != 0;
	log_reader_wake(task, log->stream);
	if (task->state != TASK_ENDED)
		return;
	output_check(task);
	if (task->collected)
		gang_advance(task->job);
}

void output_read(struct jobs *jobs)
{
	struct log_read read;

	for (int i = 0; i < READ_TURN && log_reader_next(jobs->reader, &read);
	     i++) {
		if (read.alive)
			read.gang->heard_ms = effects_mono_ms(jobs->effects);
		if (read.whole)
			gang_advance(read.gang->job);
	}
	log_reader_rest(jobs->reader);
}

/* Files. */

static void output_drop_file(struct collected_file *file, const char *why)
{
	free(file->content);
	file->content = NULL;
	free(file->text);
	file->text = strdup(why);
}

void output_limit_files(struct task *task)
{
	const struct container_spec *container =
		&task->job->gang->spec.container;
	uint64_t left = container->collect_limit_bytes
				? container->collect_limit_bytes
				: COLLECT_LIMIT_DEFAULT;

	if (task->files_count > container->collect.count) {
		log_error("node=%s job=%" PRIu64 ": the node reports %zu "
			  "collected files, but %zu were requested: none is "
			  "stored",
			  node_name(task_node(task)), task->job->id,
			  task->files_count, container->collect.count);
		task_drop_files(task);
		return;
	}
	for (size_t i = 0; i < task->files_count; i++) {
		struct collected_file *file = &task->files[i];

		if (!file->content)
			continue;
		if (file->bytes <= left)
			left -= file->bytes;
		else
			output_drop_file(file, "it is larger than "
					       "collect_limit allows");
	}
}

static bool output_files_here(struct task *task)
{
	const struct job_effects *effects = task->job->jobs->effects;
	bool all = !task->collecting;

	for (size_t i = 0; i < task->files_count; i++) {
		struct collected_file *file = &task->files[i];
		struct error err;
		int rc = file->content
				 ? effects->fetch(effects->arg, task_node(task),
						  file->content, file->bytes,
						  &err)
				 : 1;

		if (rc < 0)
			output_drop_file(file, err.text);
		all &= rc != 0;
	}
	return all;
}

void output_check(struct task *task)
{
	task->collected = log_ingest_complete(task->job->jobs->ingest, task) &&
			  output_files_here(task);
}

/* Did the last file of one of its tasks arrive? */
static bool output_files_came(struct gang *gang)
{
	bool collected = false;

	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		struct task *task = &gang->tasks[i];

		if (!task->files_count || task->state != TASK_ENDED ||
		    task->collected)
			continue;
		output_check(task);
		collected |= task->collected;
	}
	return collected;
}

void output_check_files(struct jobs *jobs)
{
	struct gang *gang, *next;

	for (gang = gang_first(jobs->table); gang; gang = next) {
		struct job *job = gang->job;

		next = gang_next(gang);
		if ((job->state == JOB_COLLECTING ||
		     job->state == JOB_RUNNING) &&
		    output_files_came(gang))
			gang_advance(job);
	}
}
