/* node_events.c - handles what nodes report of their tasks, and nodes that
 * are lost.
 */
#include "controller/jobs/node_events.h"
#include "controller/images/image_progress.h"
#include "controller/images/sweep_image.h"
#include "controller/jobs/blame.h"
#include "controller/jobs/core.h"
#include "controller/jobs/finish.h"
#include "controller/jobs/gang.h"
#include "controller/jobs/job.h"
#include "controller/jobs/node_commands.h"
#include "controller/logs/log_ingest.h"
#include "controller/logs/log_reader.h"
#include "controller/logs/task_streams.h"
#include "controller/nodes/node.h"
#include "protocol/base/log.h"
#include "protocol/base/printable.h"
#include "protocol/message/stream_index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_TURN 2 /* pieces per turn of the loop */

static void output_check(struct task *task);

/* Output. */

/* Where the log rules define signs of life, only these are some. That there is
 * another followed file is none: its bytes are.
 */
static bool output_tells_life(const struct task *task, const char *stream)
{
	return task_stream_is_output(task, stream) &&
	       !stream_index_is_index(stream) &&
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

/* Is all output of the ended task here, and all that it collected? Files that
 * are not here are fetched; a file that the node cannot send is dropped.
 */
static void output_check(struct task *task)
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

#define LEAVES "%s leaves: its time is over"
#define FACTS_MAX 16384 /* bytes of JSON about the node in a task's status */

/* The status of a task. */

static void task_keep_text(char **to, const char *from)
{
	free(*to);
	*to = from ? strdup(from) : NULL;
}

/* Facts of other names are not kept, so that nothing else can grow here. */
static void keep_facts(struct task *task, const cJSON *facts)
{
	static const char *const names[] = {
		"driver",  "sdk", "clock", "governor", "memory_available_bytes",
		"warnings"
	};
	owned(buffer_clear) struct buffer text = BUFFER_INIT(FACTS_MAX);

	if (facts && codec_print(facts, &text, NULL) == 0) {
		cJSON_Delete(task->facts);
		task->facts = cJSON_CreateObject();
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			const cJSON *fact =
				cJSON_GetObjectItemCaseSensitive(facts,
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
	task_keep_text(&task->text, status->text);
	if (status->image_id)
		task_keep_text(&task->image_id, status->image_id);
	if (status->image_pin) {
		task_keep_text(&task->image_pin, status->image_pin);
		task->pin_learnt = false;
	}
	task->exit_code = status->exit_code;
	task->started_ms = (int64_t)status->started_ms;
	task->ended_ms = (int64_t)status->ended_ms;
	task->memory_peak_bytes = status->memory_peak_bytes;
	strings_clear(&task->ulimits);
	task->ulimits = status->ulimits;
	status->ulimits = (struct strings){ 0 };
	if (status->port)
		task->port = status->port;
	keep_facts(task, status->facts);
	for (size_t i = 0; i < task->streams_count; i++)
		free(task->streams[i].name);
	free(task->streams);
	/* The lists of the message are moved. */
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
	output_limit_files(task);
	task->collecting = status->collecting;
}

/* A task of no active job. */
static void discard_unknown(struct jobs *jobs, struct node *node,
			    const struct task_status *status)
{
	const struct message_discard discard = { status->job, status->attempt,
						 status->rank };

	node_command_discard(jobs, node, &discard);
	node_add_discard(jobs->nodes, node, &discard);
}

static bool was_started(const struct job *job)
{
	return job->state == JOB_READY || job->state == JOB_RUNNING;
}

/* The node has received the image. */
static void record_image(struct task *task)
{
	cJSON *data =
		image_progress_summary(task, effects_mono_ms(
						     task->job->jobs->effects));
	struct error err;

	if (data)
		job_event(task->job, JOB_EVENT_IMAGE, data, &err);
}

/* Was it just started, or has it ended by itself? */
static bool works_well(const struct task *task, enum task_state was)
{
	if (failure_infrastructure(task->failure))
		return false;
	return task->state == TASK_ENDED
		       ? was < TASK_ENDED &&
				 (was >= TASK_RUNNING || task->started_ms)
		       : task->state == TASK_RUNNING && was < TASK_RUNNING;
}

void node_event_status(struct jobs *jobs, struct node *node,
		       const struct task_status *status)
{
	struct task *task = task_find(jobs->table, node, status->job,
				      status->attempt, status->rank);
	struct job *job = task ? task->job : NULL;
	char text[400];
	bool ending; /* the job ends early already */
	enum task_state was;

	if (!task) {
		discard_unknown(jobs, node, status);
		return;
	}
	task->reported = true;
	if (job_state_final(job->state)) {
		/* Disconnected when the others were told to discard. */
		if (!task->discarding)
			discard_unknown(jobs, node, status);
		return;
	}
	if (status->image_look) {
		task_keep_text(&task->image_look, status->image_look);
		gang_looked(job);
		return;
	}
	ending = job->state == JOB_COLLECTING && job->failure;
	was = task->state;
	keep_status(task, (struct task_status *)status);
	if (job->state == JOB_PREPARING && was == TASK_PREPARING &&
	    task->state == TASK_READY)
		record_image(task);
	if (task->state == TASK_ENDED)
		output_check(task);
	if (works_well(task, was))
		blame_none(task, task->state == TASK_ENDED);
	if (task->failure && !ending) {
		snprintf(text, sizeof(text), "%s: %s", node_name(node),
			 task->text ? task->text : failure_name(task->failure));
		printable(text, strlen(text));
		blame_task(task, status->code, text);
		gang_exception(job, task->failure, status->code, text);
	} else if (task->state == TASK_READY && was_started(job)) {
		/* The command was lost, or the agent restarted. */
		node_command_start(task);
	}
	/* The exception may have freed the job. */
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
	image_transfer_keep(&task->transfer, &progress->image,
			    effects_mono_ms(jobs->effects));
	changes_progress(jobs->changes);
}

void node_event_discarded(struct jobs *jobs, struct node *node,
			  const struct message_discard *discarded)
{
	struct task *task = task_find(jobs->table, node, discarded->job,
				      discarded->attempt, discarded->rank);

	node_drop_discard(jobs->nodes, node, discarded);
	if (task && task->discarding)
		job_drop_discarded(task);
}

/* Devices. */

static void record_lost(struct task *task, const struct device_info *device)
{
	const char *why = device->text ? device->text : "it has disappeared";
	const char *node = node_name(task_node(task));
	cJSON *data = cJSON_CreateObject();

	cJSON_AddStringToObject(data, "node", node);
	cJSON_AddNumberToObject(data, "rank", task->rank);
	cJSON_AddNumberToObject(data, "device", device->index);
	if (device->bus_id)
		cJSON_AddStringToObject(data, "bus_id", device->bus_id);
	cJSON_AddStringToObject(data, "text", why);
	log_warning("job=%" PRIu64 " rank=%u lost device %u of node=%s: %s",
		    task->job->id, task->rank, device->index, node, why);
	job_event(task->job, JOB_EVENT_DEVICE, data, NULL);
}

void node_event_devices(struct node *node, uint64_t lost)
{
	const struct node_view *view = node_view(node);
	struct task *task;

	for (task = node_first_task(node); lost && task;
	     task = node_next_task(task))
		for (size_t i = 0; i < view->inventory_count; i++)
			if ((task_devices(task) & lost) >> i & 1 &&
			    !job_state_final(task->job->state))
				record_lost(task, &view->inventory[i]);
}

/* Engines. */

void node_event_engine(struct jobs *jobs, struct node *node)
{
	const char *away = node_view(node)->engine_away.text;

	if (away)
		log_warning("node=%s: its engine is away: %s", node_name(node),
			    away);
	else
		log_info("node=%s: its engine is back", node_name(node));
	/* Another node may resolve the names of images. */
	node_command_waiting(jobs);
}

/* Reports. */

typedef bool task_is_fn(const struct task *task);

/* A task of the node; NULL: none is so. What is done with one task may remove
 * others from the node, so callers search from the first one again.
 */
static struct task *node_find_task(const struct node *node, task_is_fn *is)
{
	struct task *task = node_first_task(node);

	while (task && !is(task))
		task = node_next_task(task);
	return task;
}

static void end_job(struct job *job, enum failure failure, const char *why)
{
	const struct jobs *jobs = job->jobs;
	uint64_t id = job->id;

	gang_exception(job, failure, 0, why);
	/* It may have been ending already. */
	if (job_find(jobs->table, id) == job && job->gang)
		gang_advance(job);
}

static bool is_unreported(const struct task *task)
{
	return !task->reported;
}

/* The node does not have this task (any more). */
static void task_missing(struct task *task)
{
	struct job *job = task->job;
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
		return; /* all its output is here */
	task->state = TASK_ENDED;
	task->collected = true;
	snprintf(text, sizeof(text), "%s no longer has the task",
		 node_name(task_node(task)));
	blame_node(job, task_node(task), FAILURE_NODE_LOST, 0, text);
	end_job(job, FAILURE_NODE_LOST, text);
}

/* Repeat the commands that the node may have missed. */
static void repeat_commands(struct task *task)
{
	struct job *job = task->job;

	log_ingest_tell_lengths(task->job->jobs->ingest, task);
	if (task->discarding)
		node_command_discard(job->jobs, task_node(task),
				     &(struct message_discard){ job->id,
								job->attempt,
								task->rank });
	else if (job->state == JOB_COLLECTING && task->state != TASK_ENDED)
		node_command_stop(task);
}

static bool is_at_work(const struct task *task)
{
	return task->job->state < JOB_COLLECTING && !task->job->failure;
}

/* The node leaves: its jobs end, and are queued again. */
static void node_preempt_tasks(struct node *node)
{
	struct task *task;
	char text[KEY_NAME_SIZE + 60];

	snprintf(text, sizeof(text), LEAVES, node_name(node));
	while ((task = node_find_task(node, is_at_work)))
		gang_exception(task->job, FAILURE_PREEMPTED, 0, text);
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
			repeat_commands(task);
	}
	while ((task = node_find_task(node, is_unreported))) {
		task->reported = true;
		task_missing(task);
	}
	if (node_view(node)->leaving)
		node_preempt_tasks(node);
}

/* Nodes that disconnect. */

static bool is_uncollected(const struct task *task)
{
	return !task->collected;
}

static bool is_discarding(const struct task *task)
{
	return task->discarding;
}

/* A job that only awaits its last output may yet get it, if this is a broken
 * connection.
 */
static bool is_lost_with_node(const struct task *task)
{
	return !task->collected && (is_at_work(task) || task->job->failure);
}

/* No more output comes from these tasks. */
static void lose_tasks(struct node *node, task_is_fn *is, enum failure failure,
		       const char *why)
{
	struct task *task;

	while ((task = node_find_task(node, is))) {
		task->state = TASK_ENDED;
		task->collected = true;
		blame_node(task->job, node, failure, 0, why);
		end_job(task->job, failure, why);
	}
}

void node_event_gone(struct jobs *jobs, struct node *node)
{
	char text[KEY_NAME_SIZE + 60];
	struct task *task;

	snprintf(text, sizeof(text), LEAVES, node_name(node));
	if (node_view(node)->leaving)
		lose_tasks(node, is_lost_with_node, FAILURE_PREEMPTED, text);
	node_drop_discards(jobs->nodes, node);
	while ((task = node_find_task(node, is_discarding)))
		job_drop_discarded(task);
}

void node_event_lost(struct jobs *jobs, struct node *node, const char *why)
{
	enum failure failure =
		node_is_over(node, effects_wall_ms(jobs->effects))
			? FAILURE_PREEMPTED
			: FAILURE_NODE_LOST;
	struct task *task;

	for (task = node_first_task(node); task; task = node_next_task(task))
		node_command_discard(jobs, node,
				     &(struct message_discard){
					     task->job->id, task->job->attempt,
					     task->rank });
	lose_tasks(node, is_uncollected, failure, why);
}
