/* node_events.c - handles what nodes report of their tasks, and nodes that
 * are lost.
 */
#include "controller/jobs/node_events.h"
#include "controller/blobs/artifact_fetch.h"
#include "controller/images/image_digest.h"
#include "controller/images/image_progress.h"
#include "controller/jobs/conclude.h"
#include "controller/jobs/core.h"
#include "controller/jobs/gang.h"
#include "controller/jobs/job.h"
#include "controller/jobs/node_commands.h"
#include "controller/logs/log_ingest.h"
#include "controller/nodes/node.h"
#include "protocol/base/printable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAVES "%s leaves: its time is over"
#define FACTS_MAX 16384 /* bytes of JSON that a task tells of its node */

/* What a node says of a task, kept. */

static void keep_text(char **to, const char *from)
{
	free(*to);
	*to = from ? strdup(from) : NULL;
}

/* Only what is meant to be told: nothing else can grow here. */
static void keep_facts(struct task *task, const cJSON *told)
{
	static const char *const names[] = {
		"driver",  "sdk", "clock", "governor", "memory_available_bytes",
		"warnings"
	};
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, FACTS_MAX);
	if (told && codec_print(told, &text, NULL) == 0) {
		cJSON_Delete(task->facts);
		task->facts = cJSON_CreateObject();
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			const cJSON *fact =
				cJSON_GetObjectItemCaseSensitive(told,
								 names[i]);

			if (fact)
				cJSON_AddItemToObject(task->facts, names[i],
						      cJSON_Duplicate(fact,
								      true));
		}
		node_renew(task_node(task), task->facts);
	}
}

static void keep_status(struct task *task, struct task_status *status)
{
	task->state = task_state_from(status->state);
	task->failure = failure_from(status->failure);
	keep_text(&task->text, status->text);
	if (status->image_id)
		keep_text(&task->image_id, status->image_id);
	if (status->image_pin)
		keep_text(&task->image_pin, status->image_pin);
	task->exit_code = status->exit_code;
	task->started_ms = (int64_t)status->started_ms;
	task->ended_ms = (int64_t)status->ended_ms;
	task->memory_peak_bytes = status->memory_peak_bytes;
	if (status->port)
		task->port = status->port;
	keep_facts(task, status->facts);
	for (size_t i = 0; i < task->streams_count; i++)
		free(task->streams[i].name);
	free(task->streams);
	/* The message gives its list away. */
	task->streams = take(status->streams);
	task->streams_count = status->streams_count;
	status->streams_count = 0;
	free(task->ends);
	task->ends = take(status->ends);
	task->ends_count = status->ends_count;
	status->ends_count = 0;
	task_drop_files(task);
	task->files = take(status->files);
	task->files_count = status->files_count;
	status->files_count = 0;
	artifact_fetch_check(task);
	task->collecting = status->collecting;
}

/* A task that no active job knows: it is of a job that is over, or of none. */
static void discard_stranger(struct jobs *jobs, struct node *node,
			     const struct task_status *status)
{
	node_command_discard(jobs, node, status->job, status->attempt,
			     status->rank);
	node_add_discard(jobs->nodes, node, status->job, status->attempt,
			 status->rank);
}

static bool was_started(const struct job *job)
{
	return job->state == JOB_READY || job->state == JOB_RUNNING;
}

/* Its image's name is known there; false: it means something else here. */
static bool learn_image(struct task *task, const char *found, char *text,
			size_t size)
{
	int learnt = found ? image_digest_learn(task->job->jobs->digests, task,
						found, text, size)
			   : 0;
	struct job *job = task->job;
	struct error err;
	cJSON *data;

	if (learnt <= 0)
		return learnt == 0;
	data = cJSON_CreateObject();
	cJSON_AddStringToObject(data, "image", job->gang->spec.container.image);
	cJSON_AddStringToObject(data, "pin", found);
	cJSON_AddStringToObject(data, "node", node_name(task_node(task)));
	job_event(job, JOB_EVENT_PIN, data, &err);
	node_command_waiting(task->job->jobs);
	return true;
}

/* The image was sent there, and is there. */
static void note_image(struct task *task)
{
	cJSON *data =
		image_progress_summary(task, effects_mono_ms(
						     task->job->jobs->effects));
	struct error err;

	if (data)
		job_event(task->job, JOB_EVENT_IMAGE, data, &err);
}

void node_event_status(struct jobs *jobs, struct node *node,
		       const struct task_status *status)
{
	struct task *task = task_find(jobs->table, node, status->job,
				      status->attempt, status->rank);
	struct job *job = task ? task->job : NULL;
	char text[400];
	bool again; /* the job is ending already: it says nothing new */
	enum task_state was;

	if (!task) {
		discard_stranger(jobs, node, status);
		return;
	}
	task->reported = true;
	if (job_state_final(job->state)) {
		/* Out of reach when the others were told to discard. */
		if (!task->discarding)
			discard_stranger(jobs, node, status);
		return;
	}
	again = job->state == JOB_COLLECTING && job->failure;
	was = task->state;
	keep_status(task, (struct task_status *)status);
	if (job->state == JOB_PREPARING && was == TASK_PREPARING &&
	    task->state == TASK_READY)
		note_image(task);
	if (task->state == TASK_ENDED)
		log_ingest_check(jobs->ingest, task);
	if (task->failure && !again) {
		snprintf(text, sizeof(text), "%s: %s", node_name(node),
			 task->text ? task->text : failure_name(task->failure));
		printable(text, strlen(text));
		if (!job->failure && failure_infrastructure(task->failure))
			job->avoid = node;
		gang_exception(job, task->failure, status->code, text);
	} else if (job->state == JOB_PREPARING &&
		   !learn_image(task, status->image_pin, text, sizeof(text))) {
		job->avoid = node;
		gang_exception(job, FAILURE_PREFLIGHT, 0, text);
	} else if (task->state == TASK_READY && was_started(job)) {
		/* The order was lost, or its agent began again meanwhile. */
		node_command_start(task);
	}
	/* The exception may have been the job's last word. */
	if (job_find(jobs->table, status->job) == job && job->gang)
		gang_advance(job);
	jobs->changes->events = true;
}

void node_event_progress(struct jobs *jobs, struct node *node,
			 const struct message_progress *progress)
{
	struct task *task = task_find(jobs->table, node, progress->job,
				      progress->attempt, progress->rank);

	if (!task || task->state != TASK_PREPARING)
		return;
	image_progress_keep(task, progress, effects_mono_ms(jobs->effects));
	changes_progress(jobs->changes);
}

void node_event_discarded(struct jobs *jobs, struct node *node,
			  const struct message_discard *discarded)
{
	struct task *task = task_find(jobs->table, node, discarded->job,
				      discarded->attempt, discarded->rank);

	node_drop_discard(jobs->nodes, node, discarded->job, discarded->attempt,
			  discarded->rank);
	if (task && task->discarding)
		job_drop_discarded(task);
}

/* Reports. */

/* The node does not have this task (any more). */
static void task_missing(struct task *task)
{
	struct job *job = task->job;
	struct jobs *jobs = job->jobs;
	uint64_t id = job->id;
	char text[200];

	if (task->discarding) {
		job_drop_discarded(task);
		return;
	}
	if (job->state == JOB_ALLOCATED || job->state == JOB_PREPARING) {
		task->state = TASK_PREPARING;
		node_command_prepare(task);
		return;
	}
	if (task->collected)
		return; /* all that it had is here */
	task->state = TASK_ENDED;
	task->collected = true;
	snprintf(text, sizeof(text), "%s no longer has the task",
		 node_name(task_node(task)));
	gang_exception(job, FAILURE_NODE_LOST, 0, text);
	/* It may have been ending already. */
	if (job_find(jobs->table, id) == job && job->gang)
		gang_advance(job);
}

/* Tell a task that is there what it may have missed. */
static void remind(struct task *task)
{
	struct job *job = task->job;

	log_ingest_tell_lengths(task->job->jobs->ingest, task);
	if (task->discarding)
		node_command_discard(task->job->jobs, task_node(task), job->id,
				     job->attempt, task->rank);
	else if (job->state == JOB_COLLECTING && task->state != TASK_ENDED)
		node_command_stop(task);
}

/* Is there something to end? What has ended is only collected. */
static bool is_at_work(const struct job *job)
{
	return job->state < JOB_COLLECTING && !job->failure;
}

/* The node leaves: its jobs end, and are queued again. */
static void leave(struct node *node)
{
	struct task *task;
	char text[KEY_NAME_SIZE + 60];

	snprintf(text, sizeof(text), LEAVES, node_name(node));
	/* Each may take others off the list. */
	do {
		for (task = node_first_task(node); task;
		     task = node_next_task(task))
			if (is_at_work(task->job))
				break;
		if (task)
			gang_exception(task->job, FAILURE_PREEMPTED, 0, text);
	} while (task);
}

void node_event_report(struct jobs *jobs, struct node *node,
		       const struct message_report *report)
{
	struct task *task;

	node_reported(jobs->nodes, node, report);
	for (task = node_first_task(node); task; task = node_next_task(task))
		task->reported = false;
	for (size_t i = 0; i < report->tasks_count; i++) {
		const struct task_status *status = &report->tasks[i];

		node_event_status(jobs, node, status);
		task = task_find(jobs->table, node, status->job,
				 status->attempt, status->rank);
		if (task)
			remind(task);
	}
	/* A missing one may end its job, and with it others on the list. */
	do {
		for (task = node_first_task(node); task;
		     task = node_next_task(task)) {
			if (!task->reported)
				break;
		}
		if (task) {
			task->reported = true;
			task_missing(task);
		}
	} while (task);
	if (node_view(node)->leaving)
		leave(node);
}

/* Nodes that go. */

/* Nothing more comes of the task. */
static void lose_task(struct jobs *jobs, struct task *task,
		      enum failure failure, const char *why)
{
	struct job *job = task->job;
	uint64_t id = job->id;

	task->state = TASK_ENDED;
	task->collected = true;
	job->avoid = task_node(task);
	gang_exception(job, failure, 0, why);
	if (job_find(jobs->table, id) == job && job->gang)
		gang_advance(job);
}

/* It will not come back with what it had. What only awaits its last output may
 * yet get it, if this is no more than a broken connection.
 */
static void left(struct jobs *jobs, struct node *node)
{
	char text[KEY_NAME_SIZE + 60];
	struct task *task;

	snprintf(text, sizeof(text), LEAVES, node_name(node));

	do {
		for (task = node_first_task(node); task;
		     task = node_next_task(task))
			if (!task->collected &&
			    (is_at_work(task->job) || task->job->failure))
				break;
		if (task)
			lose_task(jobs, task, FAILURE_PREEMPTED, text);
	} while (task);
}

void node_event_gone(struct jobs *jobs, struct node *node)
{
	struct task *task;

	if (node_view(node)->leaving)
		left(jobs, node);

	node_drop_discards(jobs->nodes, node);
	do {
		for (task = node_first_task(node); task;
		     task = node_next_task(task)) {
			if (task->discarding)
				break;
		}
		if (task)
			job_drop_discarded(task);
	} while (task);
}

void node_event_lost(struct jobs *jobs, struct node *node, const char *why)
{
	enum failure failure =
		node_is_over(node, effects_wall_ms(jobs->effects))
			? FAILURE_PREEMPTED
			: FAILURE_NODE_LOST;
	struct task *task;

	/* One that is in reach ends what it has. */
	for (task = node_first_task(node); task; task = node_next_task(task)) {
		node_command_discard(jobs, node, task->job->id,
				     task->job->attempt, task->rank);
	}
	do {
		for (task = node_first_task(node); task;
		     task = node_next_task(task)) {
			if (!task->collected)
				break;
		}
		if (task)
			lose_task(jobs, task, failure, why);
	} while (task);
}
