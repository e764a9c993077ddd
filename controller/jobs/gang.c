/* gang.c - the life of a gang: what is done when a job's tasks change.
 */
#include "controller/jobs/gang.h"
#include "controller/images/image_digest.h"
#include "controller/images/image_progress.h"
#include "controller/jobs/homogeneity.h"
#include "controller/jobs/job.h"
#include "controller/jobs/job_result.h"
#include "controller/jobs/node_commands.h"
#include "controller/jobs/task_status.h"
#include "controller/logs/log_ingest.h"
#include "controller/nodes/node.h"
#include "protocol/base/log.h"
#include "protocol/base/printable.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATE_MS 1000 /* until a late job is looked at again */

/* A task that no active job knows: it is of a job that is over, or of none. */
static void discard_stranger(struct cluster *cluster, struct node *node,
			     const struct task_status *status)
{
	node_command_discard(cluster, node, status->job, status->attempt,
			     status->rank);
	node_add_discard(cluster, node, status->job, status->attempt,
			 status->rank);
}

/* Allocating. */

static cJSON *node_names(const struct gang *gang)
{
	cJSON *data = cJSON_CreateObject();
	cJSON *names = cJSON_AddArrayToObject(data, "nodes");

	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		cJSON_AddItemToArray(names, cJSON_CreateString(
						    gang->tasks[i].node->name));
	return data;
}

/* Every node is told to prepare. Without room for the event nobody is; it is
 * tried again every half second.
 */
static int prepare(struct cluster *cluster, struct job *job, struct error *err)
{
	if (job_event(cluster, job, JOB_EVENT_PREPARE, NULL, err) < 0)
		return -1;
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++) {
		job->gang->tasks[i].state = TASK_PREPARING;
		node_command_prepare(&job->gang->tasks[i]);
	}
	return 0;
}

static bool place(void *arg, uint64_t id, const struct shape *shape,
		  const struct placement *placements)
{
	struct cluster *cluster = arg;
	struct job *job = job_find(cluster, id);
	struct error err = { 0 };

	if (!job || job_make_gang(cluster, job, &err) < 0) {
		for (uint32_t i = 0; i < shape->nodes; i++)
			slot_release(&node_slots(cluster)[placements[i].slot],
				     placements[i].devices);
		log_error("job=%" PRIu64 " not placed: %s", id, err.text);
		if (job)
			queue_add(cluster->queue, shape, id, job->priority,
				  NULL);
		return false;
	}
	for (uint32_t i = 0; i < shape->nodes; i++)
		task_assign(cluster, &job->gang->tasks[i],
			    node_at(cluster, placements[i].slot),
			    placements[i].devices);
	if (job_event(cluster, job, JOB_EVENT_ALLOC, node_names(job->gang),
		      &err) < 0) {
		/* No room for the event: it stays queued. */
		job_drop_gang(cluster, job);
		queue_add(cluster->queue, shape, id, job->priority, NULL);
		return false;
	}
	return prepare(cluster, job, &err) == 0;
}

static bool avoid(void *arg, uint64_t id, size_t slot)
{
	struct cluster *cluster = arg;
	const struct job *job = job_find(cluster, id);

	return job && job->avoid && job->avoid->index == slot;
}

void gang_schedule(struct cluster *cluster)
{
	struct error err;

	cluster->schedule_due = false;
	if (!cluster->draining &&
	    scheduler_run(cluster->queue, node_slots(cluster),
			  node_count(cluster), avoid, place, cluster, &err) < 0)
		log_error("%s", err.text);
}

/* Ending. */

/* A final job is forgotten when no node holds anything of it any more. */
static void forget_removed(struct cluster *cluster, struct job *job)
{
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++)
		if (job->gang->tasks[i].held)
			return;
	if (job_event(cluster, job, JOB_EVENT_REMOVED, NULL, NULL) == 0)
		job_forget(cluster, job);
}

static void drop_discarded(struct cluster *cluster, struct task *task)
{
	task->discarding = false;
	task_release(cluster, task);
	forget_removed(cluster, task->job);
}

/* The job is final: have containers and spools removed. A node that is out of
 * reach is told when it reports again.
 */
static void discard_all(struct cluster *cluster, struct job *job)
{
	uint32_t nodes = job->gang->spec.nodes;
	struct task *tasks = job->gang->tasks;

	for (uint32_t i = 0; i < nodes; i++) {
		tasks[i].discarding = true;
		node_command_discard(cluster, tasks[i].node, job->id,
				     job->attempt, i);
	}
	/* The last one that is let go forgets the job. */
	for (uint32_t left = nodes, i = 0; i < nodes; i++) {
		if (tasks[i].node->peer)
			continue;
		left--;
		drop_discarded(cluster, &tasks[i]);
		if (!left)
			return;
	}
}

static bool may_retry(const struct job *job)
{
	return failure_infrastructure(job->failure) && job->code != ENOENT &&
	       job->attempt - job->first_attempt < job->gang->spec.retries;
}

static cJSON *failure_data(const struct job *job)
{
	cJSON *data = cJSON_CreateObject();

	cJSON_AddStringToObject(data, "failure", failure_name(job->failure));
	cJSON_AddStringToObject(data, "text", job->text ? job->text : "");
	return data;
}

/* All of the old attempt goes; the next one begins at the queue. */
static void retry(struct cluster *cluster, struct job *job)
{
	uint32_t attempt = job->attempt;
	struct gang *gang = job->gang;
	struct error err;

	if (job_event(cluster, job, JOB_EVENT_RETRY, failure_data(job), &err) <
	    0)
		return;
	log_warning("job=%" PRIu64 " attempt=%u failed, trying again: %s: %s",
		    job->id, attempt, failure_name(job->failure),
		    job->text ? job->text : "");
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		struct node *node = gang->tasks[i].node;

		if (!node->peer)
			continue;
		node_command_discard(cluster, node, job->id, attempt, i);
		node_add_discard(cluster, node, job->id, attempt, i);
	}
	cluster->effects->log_close(cluster->world, job->id, attempt);
	job_drop_gang(cluster, job);
	job_clear_failure(job);
	if (queue_add(cluster->queue, &job->shape, job->id, job->priority,
		      &err) < 0)
		log_error("job=%" PRIu64 ": %s", job->id, err.text);
}

/* A job that did its work may have words all the same: of its output. */
static void note_output(struct job *job)
{
	for (uint32_t i = 0; !job->text && i < job->gang->spec.nodes; i++) {
		const struct task *task = &job->gang->tasks[i];

		if (task->text && *task->text &&
		    asprintf(&job->text, "%s: %s", task->node->name,
			     task->text) < 0)
			job->text = NULL;
	}
	if (job->text)
		printable(job->text, strlen(job->text));
}

/* What was collected is an event, from which it is listed; and stays. */
static int keep_files(struct cluster *cluster, struct job *job,
		      struct error *err)
{
	cJSON *told = NULL;

	if (cluster->effects->keep_files(cluster->world, job, &told, err) < 0)
		return -1;
	return told ? job_event(cluster, job, JOB_EVENT_FILES, told, err) : 0;
}

/* What is removed from the nodes must be safe on this disk. */
static int sync_output(struct cluster *cluster, struct job *job,
		       struct error *err)
{
	struct gang *gang = job->gang;

	if (!gang->synced && cluster->effects->log_sync(cluster->world, job->id,
							job->attempt, err) < 0)
		return -1;
	gang->synced = true;
	return 0;
}

/* All that is stored of a job that ends. Each part once: one that fails is
 * tried again every half second, for as long as a disk is full.
 */
static int keep_all(struct cluster *cluster, struct job *job, struct error *err)
{
	struct gang *gang = job->gang;

	if (!gang->kept && keep_files(cluster, job, err) < 0)
		return -1;
	gang->kept = true;
	if (!gang->measured && job_result_store(cluster, job, err) < 0)
		return -1;
	gang->measured = true;
	return 0;
}

/* Everything is here: say what became of the job. */
static void conclude(struct cluster *cluster, struct job *job)
{
	enum job_event event = JOB_EVENT_COMPLETE;
	struct error err = { 0 };
	int rc = sync_output(cluster, job, &err);

	if (rc == 0 && may_retry(job)) {
		retry(cluster, job);
		return;
	}
	if (rc == 0)
		rc = keep_all(cluster, job, &err);
	if (rc < 0) {
		log_error("job=%" PRIu64 " waits: %s", job->id, err.text);
		return;
	}
	if (job->failure == FAILURE_CANCELLED)
		event = JOB_EVENT_CANCEL;
	else if (job->failure)
		event = JOB_EVENT_FAIL;
	else
		note_output(job);
	if (job_event(cluster, job, event,
		      job->failure ? failure_data(job) : NULL, &err) < 0)
		return;
	log_info("job=%" PRIu64 " %s%s%s", job->id, job_state_name(job->state),
		 job->failure ? ": " : "", job->text ? job->text : "");
	job->gang->deadline_ms = 0;
	cluster->effects->log_close(cluster->world, job->id, job->attempt);
	discard_all(cluster, job);
}

static bool all_tasks(const struct job *job, enum task_state from,
		      enum task_state to)
{
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++)
		if (job->gang->tasks[i].state < from ||
		    job->gang->tasks[i].state > to)
			return false;
	return true;
}

/* The commands are over, only output is awaited: who ends the job does without
 * what has not come.
 */
static void drop_output(struct job *job, char *text, size_t size)
{
	uint32_t count = 0;
	size_t used = strlen(text);

	for (uint32_t i = 0; i < job->gang->spec.nodes; i++) {
		count += !job->gang->tasks[i].collected;
		job->gang->tasks[i].collected = true;
	}
	snprintf(text + used, size - used,
		 "; output of %u task(s) that had not come is dropped", count);
}

/* May a job that is being collected end otherwise? false: it goes on. */
static bool end_collecting(struct job *job, enum failure failure, char *text,
			   size_t size)
{
	bool ended = all_tasks(job, TASK_ENDED, TASK_ENDED);
	bool again = failure == FAILURE_CANCELLED &&
		     failure_infrastructure(job->failure);

	/* What it did is worth nothing without what it had to say. */
	if (failure == FAILURE_NODE_LOST && !job->failure)
		return true;
	if (!again && (!ended || failure != FAILURE_CANCELLED))
		return false;
	if (again)
		job_clear_failure(job); /* so that it is not tried again */
	if (ended)
		drop_output(job, text, size);
	return true;
}

/* One that was told nothing yet has nothing to stop. */
static void end_task(struct cluster *cluster, struct task *task, bool told)
{
	if (task->waits || !told) {
		image_digest_stop_waiting(cluster, task);
		task->state = TASK_ENDED;
		task->collected = true;
	} else if (task->state != TASK_ENDED) {
		node_command_stop(task);
	}
}

/* Those whose image is known now, or who are to find out next. */
static void prepare_waiting(struct cluster *cluster)
{
	struct task *task;

	while ((task = image_digest_next(cluster)))
		node_command_prepare(task);
}

static void end_queued(struct cluster *cluster, struct job *job,
		       enum failure failure)
{
	struct error err;

	if (job_event(cluster, job,
		      failure == FAILURE_CANCELLED ? JOB_EVENT_CANCEL
						   : JOB_EVENT_FAIL,
		      failure_data(job), &err) == 0) {
		queue_remove(cluster->queue, &job->shape, job->id);
		job_forget(cluster, job);
	} else {
		job_clear_failure(job);
	}
}

/* The job's failure is why. Without room for the event the job goes on, but
 * does nothing new, until gang_advance() has tried again.
 */
static void end_early(struct cluster *cluster, struct job *job)
{
	bool told = job->state != JOB_ALLOCATED;
	struct error err;

	if (job_event(cluster, job, JOB_EVENT_EXCEPTION, failure_data(job),
		      &err) < 0)
		return;
	log_info("job=%" PRIu64 " ends early: %s: %s", job->id,
		 failure_name(job->failure), job->text ? job->text : "");
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++)
		end_task(cluster, &job->gang->tasks[i], told);
	image_digest_release(cluster, job);
	prepare_waiting(cluster);
	gang_advance(cluster, job);
}

void gang_exception(struct cluster *cluster, struct job *job,
		    enum failure failure, int64_t code, const char *why)
{
	char text[500];

	snprintf(text, sizeof(text), "%s", why ? why : "");
	if (job_state_final(job->state) ||
	    (job->state == JOB_COLLECTING &&
	     !end_collecting(job, failure, text, sizeof(text))))
		return;
	job_set_failure(job, failure, code, text);
	if (job->state == JOB_QUEUED)
		end_queued(cluster, job, failure);
	else
		end_early(cluster, job);
}

/* Advancing. */

/* A command on a node that is out of reach may have ended in time. */
static bool ends_unknown(const struct gang *gang)
{
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];

		if (task->state != TASK_ENDED &&
		    !(task->node && task->node->reported))
			return true;
	}
	return false;
}

static void past_deadline(struct cluster *cluster, struct gang *gang)
{
	char text[120];

	if (ends_unknown(gang)) {
		gang->deadline_ms = cluster_mono_ms(cluster) + LATE_MS;
		return;
	}
	gang->deadline_ms = 0;
	snprintf(text, sizeof(text),
		 "not ended within its limit of %" PRIu64 " s",
		 gang->spec.timeout_ms / 1000);
	gang_exception(cluster, gang->job, FAILURE_TIMEOUT, 0, text);
}

static void wake_at(struct cluster *cluster, int64_t mono_ms)
{
	if (cluster->next_deadline_ms && cluster->next_deadline_ms <= mono_ms)
		return;
	cluster->next_deadline_ms = mono_ms;
	cluster->effects->wake_at(cluster->world, mono_ms);
}

void gang_deadlines(struct cluster *cluster)
{
	int64_t now = cluster_mono_ms(cluster);
	struct gang *gang, *next;

	for (gang = TAILQ_FIRST(&cluster->gangs); gang; gang = next) {
		next = TAILQ_NEXT(gang, by_cluster);
		if (gang->deadline_ms && gang->deadline_ms <= now)
			past_deadline(cluster, gang);
	}
	cluster->next_deadline_ms = 0;
	TAILQ_FOREACH(gang, &cluster->gangs, by_cluster)
	{
		if (gang->deadline_ms)
			wake_at(cluster, gang->deadline_ms);
	}
}

static void set_deadline(struct cluster *cluster, struct job *job)
{
	uint64_t timeout_ms = job->gang->spec.timeout_ms;
	int64_t left = job->started_ms + (int64_t)timeout_ms -
		       cluster_wall_ms(cluster);

	if (!timeout_ms)
		return;
	/* The wall clock may have jumped: never longer than the limit. */
	if (left > (int64_t)timeout_ms)
		left = (int64_t)timeout_ms;
	job->gang->deadline_ms =
		cluster_mono_ms(cluster) + (left > 0 ? left : 0);
	wake_at(cluster, job->gang->deadline_ms);
}

static int keep_addresses(struct gang *gang)
{
	strings_clear(&gang->addresses);
	if (!container_wants_addresses(&gang->spec.container))
		return 0;
	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		if (strings_add(&gang->addresses, gang->tasks[i].node->address,
				NULL) < 0)
			return -1;
	return 0;
}

/* Where the sweep asks for one driver and one chip, others end the attempt. */
static bool refuse_unlike(struct cluster *cluster, struct job *job)
{
	struct node *odd = NULL;
	char text[400];

	if (!job->gang->spec.same_driver ||
	    gang_alike(job->gang, text, sizeof(text), &odd))
		return false;
	job->avoid = odd;
	gang_exception(cluster, job, FAILURE_PREFLIGHT, 0, text);
	return true;
}

static void all_ready(struct cluster *cluster, struct job *job)
{
	struct gang *gang = job->gang;
	cJSON *data;

	if (refuse_unlike(cluster, job))
		return;

	/* Kept: after a restart, rank 0's node may come back last. */
	free(gang->address);
	gang->address = strdup(gang->tasks[0].node->address);
	if (!gang->address || keep_addresses(gang) < 0)
		return;
	gang->port = gang->tasks[0].port;
	data = cJSON_CreateObject();
	cJSON_AddNumberToObject(data, "port", gang->port);
	cJSON_AddStringToObject(data, "address", gang->address);
	if (job_event(cluster, job, JOB_EVENT_READY, data, NULL) < 0)
		return;
	set_deadline(cluster, job);
	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		node_command_start(&gang->tasks[i]);
}

static bool all_collected(const struct job *job)
{
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++)
		if (!job->gang->tasks[i].collected)
			return false;
	return true;
}

/* It ends early, or could not be told, but there was no room for the event. */
static bool is_held_up(struct cluster *cluster, struct job *job)
{
	struct error err;

	if (job_state_final(job->state)) {
		forget_removed(cluster, job);
		return true;
	}
	if (job->failure && job->state != JOB_COLLECTING) {
		end_early(cluster, job);
		return true;
	}
	if (job->state == JOB_ALLOCATED)
		prepare(cluster, job, &err);
	return false;
}

/* Its nodes start commands on each other: those of rank 0's did, and it has
 * ended, so the others have nothing more to do.
 */
static void finish_served(const struct gang *gang)
{
	if (!gang->spec.container.ssh || gang->tasks[0].state != TASK_ENDED)
		return;
	for (uint32_t i = 1; i < gang->spec.nodes; i++)
		if (gang->tasks[i].state == TASK_RUNNING)
			node_command_finish(&gang->tasks[i]);
}

void gang_advance(struct cluster *cluster, struct job *job)
{
	if (is_held_up(cluster, job))
		return;
	if (job->state == JOB_PREPARING &&
	    all_tasks(job, TASK_READY, TASK_READY))
		all_ready(cluster, job);
	if (job->state == JOB_READY && all_tasks(job, TASK_RUNNING, TASK_ENDED))
		job_event(cluster, job, JOB_EVENT_START, NULL, NULL);
	if (job->state == JOB_RUNNING)
		finish_served(job->gang);
	if (job->state == JOB_RUNNING &&
	    all_tasks(job, TASK_ENDED, TASK_ENDED) &&
	    job_event(cluster, job, JOB_EVENT_END, NULL, NULL) == 0)
		job->gang->deadline_ms = 0;
	if (job->state == JOB_COLLECTING &&
	    all_tasks(job, TASK_ENDED, TASK_ENDED) && all_collected(job) &&
	    log_ingest_read_all(cluster, job))
		conclude(cluster, job);
}

void gang_resume(struct cluster *cluster, struct job *job)
{
	if (job->state == JOB_READY || job->state == JOB_RUNNING)
		set_deadline(cluster, job);
}

/* Hearing of tasks. */

static bool was_started(const struct job *job)
{
	return job->state == JOB_READY || job->state == JOB_RUNNING;
}

/* Its image's name is known there; false: it means something else here. */
static bool learn_image(struct cluster *cluster, struct task *task,
			const char *found, char *text, size_t size)
{
	int news = found ? image_digest_learn(cluster, task, found, text, size)
			 : 0;
	struct job *job = task->job;
	struct error err;
	cJSON *data;

	if (news <= 0)
		return news == 0;
	data = cJSON_CreateObject();
	cJSON_AddStringToObject(data, "image", job->gang->spec.container.image);
	cJSON_AddStringToObject(data, "pin", found);
	cJSON_AddStringToObject(data, "node", task->node->name);
	job_event(cluster, job, JOB_EVENT_PIN, data, &err);
	prepare_waiting(cluster);
	return true;
}

/* The image was sent there, and is there. */
static void note_image(struct cluster *cluster, struct task *task)
{
	cJSON *data = image_progress_summary(task);
	struct error err;

	if (data)
		job_event(cluster, task->job, JOB_EVENT_IMAGE, data, &err);
}

void gang_status(struct cluster *cluster, struct node *node,
		 const struct task_status *status)
{
	struct task *task = task_find(cluster, node, status->job,
				      status->attempt, status->rank);
	struct job *job = task ? task->job : NULL;
	char text[400];
	bool again; /* the job is ending already: it says nothing new */
	enum task_state was;

	if (!task) {
		discard_stranger(cluster, node, status);
		return;
	}
	task->reported = true;
	if (job_state_final(job->state)) {
		/* Out of reach when the others were told to discard. */
		if (!task->discarding)
			discard_stranger(cluster, node, status);
		return;
	}
	again = job->state == JOB_COLLECTING && job->failure;
	was = task->state;
	task_keep_status(task, (struct task_status *)status);
	if (job->state == JOB_PREPARING && was == TASK_PREPARING &&
	    task->state == TASK_READY)
		note_image(cluster, task);
	if (task->state == TASK_ENDED)
		log_ingest_check(cluster, task);
	if (task->failure && !again) {
		snprintf(text, sizeof(text), "%s: %s", node->name,
			 task->text ? task->text : failure_name(task->failure));
		printable(text, strlen(text));
		if (!job->failure && failure_infrastructure(task->failure))
			job->avoid = node;
		gang_exception(cluster, job, task->failure, status->code, text);
	} else if (job->state == JOB_PREPARING &&
		   !learn_image(cluster, task, status->image_pin, text,
				sizeof(text))) {
		job->avoid = node;
		gang_exception(cluster, job, FAILURE_PREFLIGHT, 0, text);
	} else if (task->state == TASK_READY && was_started(job)) {
		/* The order was lost, or its agent began again meanwhile. */
		node_command_start(task);
	}
	/* The exception may have been the job's last word. */
	if (job_find(cluster, status->job) == job && job->gang)
		gang_advance(cluster, job);
	cluster->news.events = true;
}

void gang_progress(struct cluster *cluster, struct node *node,
		   const struct message_progress *progress)
{
	struct task *task = task_find(cluster, node, progress->job,
				      progress->attempt, progress->rank);

	if (!task || task->state != TASK_PREPARING)
		return;
	image_progress_keep(task, progress);
	task->job->progress_seq = ++cluster->progress_seq;
	cluster->news.events = true;
}

void gang_discarded(struct cluster *cluster, struct node *node,
		    const struct message_discard *discarded)
{
	struct task *task = task_find(cluster, node, discarded->job,
				      discarded->attempt, discarded->rank);

	node_drop_discard(cluster, node, discarded->job, discarded->attempt,
			  discarded->rank);
	if (task && task->discarding)
		drop_discarded(cluster, task);
}

/* Reports. */

/* The node does not have this task (any more). */
static void task_missing(struct cluster *cluster, struct task *task)
{
	struct job *job = task->job;
	uint64_t id = job->id;
	char text[200];

	if (task->discarding) {
		drop_discarded(cluster, task);
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
		 task->node->name);
	gang_exception(cluster, job, FAILURE_NODE_LOST, 0, text);
	/* It may have been ending already. */
	if (job_find(cluster, id) == job && job->gang)
		gang_advance(cluster, job);
}

/* Tell a task that is there what it may have missed. */
static void remind(struct cluster *cluster, struct task *task)
{
	struct job *job = task->job;

	log_ingest_tell_lengths(cluster, task);
	if (task->discarding)
		node_command_discard(cluster, task->node, job->id, job->attempt,
				     task->rank);
	else if (job->state == JOB_COLLECTING && task->state != TASK_ENDED)
		node_command_stop(task);
}

void gang_report(struct cluster *cluster, struct node *node,
		 const struct message_report *report)
{
	struct task *task;

	node->reported = true;
	node_drop_discards(cluster, node);
	TAILQ_FOREACH(task, &node->tasks, by_node)
	task->reported = false;
	for (size_t i = 0; i < report->tasks_count; i++) {
		const struct task_status *status = &report->tasks[i];

		gang_status(cluster, node, status);
		task = task_find(cluster, node, status->job, status->attempt,
				 status->rank);
		if (task)
			remind(cluster, task);
	}
	/* A missing one may end its job, and with it others on the list. */
	do {
		TAILQ_FOREACH(task, &node->tasks, by_node)
		{
			if (!task->reported)
				break;
		}
		if (task) {
			task->reported = true;
			task_missing(cluster, task);
		}
	} while (task);
}

/* Nodes that go. */

void gang_node_gone(struct cluster *cluster, struct node *node)
{
	struct task *task;

	node_drop_discards(cluster, node);
	do {
		TAILQ_FOREACH(task, &node->tasks, by_node)
		{
			if (task->discarding)
				break;
		}
		if (task)
			drop_discarded(cluster, task);
	} while (task);
}

void gang_node_lost(struct cluster *cluster, struct node *node, const char *why)
{
	struct task *task;

	/* One that is in reach ends what it has. */
	TAILQ_FOREACH(task, &node->tasks, by_node)
	{
		node_command_discard(cluster, node, task->job->id,
				     task->job->attempt, task->rank);
	}
	do {
		TAILQ_FOREACH(task, &node->tasks, by_node)
		{
			if (!task->collected)
				break;
		}
		if (task) {
			struct job *job = task->job;
			uint64_t id = job->id;

			task->state = TASK_ENDED;
			task->collected = true;
			job->avoid = node;
			gang_exception(cluster, job, FAILURE_NODE_LOST, 0, why);
			if (job_find(cluster, id) == job && job->gang)
				gang_advance(cluster, job);
		}
	} while (task);
}
