/* gang.c - the life of a gang: what follows when a job's tasks change.
 */
#include "controller/jobs/gang.h"
#include "controller/images/sweep_image.h"
#include "controller/jobs/blame.h"
#include "controller/jobs/core.h"
#include "controller/jobs/expected_time.h"
#include "controller/jobs/finish.h"
#include "controller/jobs/homogeneity.h"
#include "controller/jobs/job.h"
#include "controller/jobs/node_commands.h"
#include "controller/logs/log_reader.h"
#include "controller/nodes/node.h"
#include "protocol/base/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages that waited while none was received arrive within this time. */
#define ARREARS_MS 10000

/* Allocating. */

static cJSON *node_names(const struct gang *gang)
{
	cJSON *data = cJSON_CreateObject();
	cJSON *names = cJSON_AddArrayToObject(data, "nodes");

	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		cJSON_AddItemToArray(names,
				     cJSON_CreateString(node_name(
					     task_node(&gang->tasks[i]))));
	return data;
}

/* Command every node to prepare. If the event cannot be stored, no node gets
 * the command; gang_advance() tries again.
 */
static int prepare(struct job *job, struct error *err)
{
	if (job_event(job, JOB_EVENT_PREPARE, NULL, err) < 0)
		return -1;
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++) {
		job->gang->tasks[i].state = TASK_PREPARING;
		node_command_prepare(&job->gang->tasks[i]);
	}
	return 0;
}

static bool gang_place(void *arg, uint64_t id, const struct shape *shape,
		       const struct placement *placements)
{
	struct jobs *jobs = arg;
	struct job *job = job_find(jobs->table, id);
	struct error err = { 0 };

	if (!job || job_make_gang(job, &err) < 0) {
		for (uint32_t i = 0; i < shape->nodes; i++)
			slot_release(&node_slots(
					     jobs->nodes)[placements[i].slot],
				     placements[i].devices);
		log_error("job=%" PRIu64 " not placed: %s", id, err.text);
		if (job)
			queue_add(jobs->queue, shape, id, job->priority, NULL);
		return false;
	}
	for (uint32_t i = 0; i < shape->nodes; i++)
		node_assign(jobs->nodes, &job->gang->tasks[i],
			    node_at(jobs->nodes, placements[i].slot),
			    placements[i].devices);
	if (job_event(job, JOB_EVENT_ALLOC, node_names(job->gang), &err) < 0) {
		/* The event could not be stored: it stays queued. */
		job_drop_gang(job);
		queue_add(jobs->queue, shape, id, job->priority, NULL);
		return false;
	}
	return prepare(job, &err) == 0;
}

static enum avoided avoid(void *arg, uint64_t id, size_t slot)
{
	struct jobs *jobs = arg;
	const struct job *job = job_find(jobs->table, id);
	enum avoided avoided =
		job ? blame_avoids(job, node_at(jobs->nodes, slot))
		    : AVOIDED_NOT;

	jobs->elsewhere |= avoided == AVOIDED_WAIT;
	return avoided;
}

static int64_t ends(void *arg, uint64_t id)
{
	struct jobs *jobs = arg;
	const struct job *job = job_find(jobs->table, id);
	int64_t lasts_ms = job ? expected_time(job) : 0;

	return lasts_ms ? effects_wall_ms(jobs->effects) + lasts_ms : 0;
}

void gang_schedule(struct jobs *jobs)
{
	struct error err;

	if (!nodes_changed(jobs->nodes) && !jobs->schedule_due)
		return;
	jobs->schedule_due = jobs->elsewhere = false;
	if (!jobs->draining && queue_length(jobs->queue) &&
	    scheduler_run(jobs->queue, node_slots(jobs->nodes),
			  node_count(jobs->nodes), avoid, ends, gang_place,
			  jobs, &err) < 0)
		log_error("%s", err.text);
}

/* Ending. */

static bool all_tasks(const struct job *job, enum task_state from,
		      enum task_state to)
{
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++)
		if (job->gang->tasks[i].state < from ||
		    job->gang->tasks[i].state > to)
			return false;
	return true;
}

/* All commands have ended. The job does not wait for output that is missing. */
static void drop_output(struct job *job, char *text, size_t size)
{
	uint32_t count = 0;
	size_t used = strlen(text);

	for (uint32_t i = 0; i < job->gang->spec.nodes; i++) {
		count += !job->gang->tasks[i].collected;
		job->gang->tasks[i].collected = true;
	}
	snprintf(text + used, size - used,
		 "; missing output of %u task(s) is dropped", count);
}

/* Does the failure change the end of a job that is being collected? */
static bool end_collecting(struct job *job, enum failure failure, char *text,
			   size_t size)
{
	bool ended = all_tasks(job, TASK_ENDED, TASK_ENDED);
	bool again = failure == FAILURE_CANCELLED &&
		     failure_infrastructure(job->failure);

	/* Its work is worth nothing without its output. */
	if (!job->failure &&
	    (failure == FAILURE_NODE_LOST || failure == FAILURE_PREEMPTED))
		return true;
	if (!again && (!ended || failure != FAILURE_CANCELLED))
		return false;
	if (again)
		job_clear_failure(job); /* so that it is not tried again */
	if (ended)
		drop_output(job, text, size);
	return true;
}

/* commanded: the node of the task may have got commands. */
static void end_task(struct task *task, bool commanded)
{
	if (task->waits || !commanded) {
		node_command_forget(task);
		task->state = TASK_ENDED;
		task->collected = true;
	} else if (task->state != TASK_ENDED) {
		node_command_stop(task);
	}
}

static int end_queued(struct job *job, enum failure failure)
{
	enum job_event event = JOB_EVENT_FAIL;

	if (failure == FAILURE_CANCELLED)
		event = JOB_EVENT_CANCEL;
	else if (failure == FAILURE_PRUNED)
		event = JOB_EVENT_PRUNE;
	if (job_event(job, event, job_failure_data(job), NULL) < 0) {
		job_clear_failure(job);
		return -1;
	}
	queue_remove(job->jobs->queue, &job->shape, job->id);
	job_forget(job);
	return 0;
}

/* If the event cannot be stored, gang_advance() tries again. */
static int end_early(struct job *job)
{
	bool commanded = job->state != JOB_ALLOCATED;

	job->unstored = job_event(job, JOB_EVENT_EXCEPTION,
				  job_failure_data(job), NULL) < 0;
	if (job->unstored)
		return -1;
	log_info("job=%" PRIu64 " ends early: %s: %s", job->id,
		 failure_name(job->failure), job->text ? job->text : "");
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++)
		end_task(&job->gang->tasks[i], commanded);
	sweep_image_release(job);
	node_command_waiting(job->jobs);
	gang_advance(job);
	return 0;
}

int gang_exception(struct job *job, enum failure failure, int64_t code,
		   const char *why)
{
	char text[500];

	snprintf(text, sizeof(text), "%s", why ? why : "");
	if (job_state_final(job->state) ||
	    (job->state == JOB_COLLECTING &&
	     !end_collecting(job, failure, text, sizeof(text))))
		return 0;
	job_set_failure(job, failure, code, text);
	return job->state == JOB_QUEUED ? end_queued(job, failure)
					: end_early(job);
}

/* Advancing. */

/* Past the deadline: does a task still run? A task on a disconnected node may
 * have ended in time.
 */
static bool is_late(const struct gang *gang)
{
	bool runs = false;

	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];

		if (task->state == TASK_ENDED)
			continue;
		if (!task_node(task) || !node_up(task_node(task)))
			return false;
		runs = true;
	}
	return runs;
}

static void end_late(struct gang *gang)
{
	char text[120];

	gang->deadline_ms = 0;
	snprintf(text, sizeof(text),
		 "not ended within its limit of %" PRIu64 " s",
		 gang->spec.timeout_ms / 1000);
	gang_exception(gang->job, FAILURE_TIMEOUT, 0, text);
}

void gang_tick(struct jobs *jobs)
{
	int64_t now = effects_mono_ms(jobs->effects);
	struct gang *gang, *next;

	for (gang = gang_first(jobs->table); gang; gang = next) {
		next = gang_next(gang);
		if (gang->deadline_ms && gang->deadline_ms <= now &&
		    is_late(gang))
			end_late(gang);
		else
			gang_advance(gang->job);
	}
}

void gang_extend_deadlines(struct jobs *jobs)
{
	int64_t now = effects_mono_ms(jobs->effects);
	struct gang *gang;

	for (gang = gang_first(jobs->table); gang; gang = gang_next(gang)) {
		gang->heard_ms = now;
		if (gang->deadline_ms && gang->deadline_ms < now + ARREARS_MS)
			gang->deadline_ms = now + ARREARS_MS;
	}
}

static void set_deadline(struct job *job)
{
	uint64_t timeout_ms = job->gang->spec.timeout_ms;
	int64_t left = job->started_ms + (int64_t)timeout_ms -
		       effects_wall_ms(job->jobs->effects);

	if (!timeout_ms)
		return;
	/* The wall clock may have jumped: never longer than the limit. */
	if (left > (int64_t)timeout_ms)
		left = (int64_t)timeout_ms;
	job->gang->deadline_ms =
		effects_mono_ms(job->jobs->effects) + (left > 0 ? left : 0);
}

static int keep_addresses(struct gang *gang)
{
	strings_clear(&gang->addresses);
	if (!container_wants_addresses(&gang->spec.container))
		return 0;
	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		if (strings_add(&gang->addresses,
				node_view(task_node(&gang->tasks[i]))->address,
				NULL) < 0)
			return -1;
	return 0;
}

/* If the sweep asks for one driver and chip, differences end the attempt. */
static bool refuse_unlike(struct job *job)
{
	struct node *odd = NULL;
	char text[400];

	if (!job->gang->spec.same_driver ||
	    gang_alike(job->gang, text, sizeof(text), &odd))
		return false;
	blame_avoid(job, odd, FAILURE_PREFLIGHT);
	gang_exception(job, FAILURE_PREFLIGHT, 0, text);
	return true;
}

static void record_pin(const struct task *task, const char *pin)
{
	struct job *job = task->job;
	cJSON *data = cJSON_CreateObject();

	cJSON_AddStringToObject(data, "image", job->gang->spec.container.image);
	cJSON_AddStringToObject(data, "pin", pin);
	cJSON_AddStringToObject(data, "node", node_name(task_node(task)));
	job_event(job, JOB_EVENT_PIN, data, NULL);
}

/* Nodes resolved the name of the image. If one of them found another image than
 * the sweep has, the attempt ends.
 */
static bool refuse_image(struct job *job)
{
	enum image_learnt learnt;
	char text[400];

	for (uint32_t i = 0; i < job->gang->spec.nodes; i++) {
		struct task *task = &job->gang->tasks[i];

		if (!task->image_pin || task->pin_learnt)
			continue;
		learnt = sweep_image_learn(job->jobs->images, task,
					   task->image_pin, text, sizeof(text));
		task->pin_learnt = learnt != IMAGE_UNSTORED;
		if (learnt == IMAGE_OTHER) {
			blame_avoid(job, task_node(task), FAILURE_PREFLIGHT);
			gang_exception(job, FAILURE_PREFLIGHT, 0, text);
			return true;
		}
		if (learnt == IMAGE_NEW) {
			record_pin(task, task->image_pin);
			node_command_waiting(job->jobs);
		}
	}
	return false;
}

void gang_looked(struct job *job)
{
	struct gang *gang = job->gang;
	enum image_learnt learnt = IMAGE_OTHER;
	char text[400];

	if (!gang || job->state != JOB_PREPARING || !gang_has_looked(gang))
		return;
	for (uint32_t i = 0; learnt == IMAGE_OTHER && i < gang->spec.nodes;
	     i++) {
		struct task *task = &gang->tasks[i];

		learnt =
			sweep_image_learn(job->jobs->images, task,
					  task->image_look, text, sizeof(text));
		if (learnt == IMAGE_NEW)
			record_pin(task, task->image_look);
	}
	node_command_waiting(job->jobs);
}

static void all_ready(struct job *job)
{
	struct gang *gang = job->gang;
	cJSON *data;

	if (refuse_unlike(job))
		return;
	/* Stored, because rank 0's node may come back last after a restart. */
	free(gang->address);
	gang->address = strdup(node_view(task_node(&gang->tasks[0]))->address);
	if (!gang->address || keep_addresses(gang) < 0)
		return;
	gang->port = gang->tasks[0].port;
	data = cJSON_CreateObject();
	cJSON_AddNumberToObject(data, "port", gang->port);
	cJSON_AddStringToObject(data, "address", gang->address);
	if (job_event(job, JOB_EVENT_READY, data, NULL) < 0)
		return;
	set_deadline(job);
	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		node_command_start(&gang->tasks[i]);
	/* Its nodes need not have told what the image's name resolves to. */
	sweep_image_release(job);
	node_command_waiting(job->jobs);
}

static bool all_collected(const struct job *job)
{
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++)
		if (!job->gang->tasks[i].collected)
			return false;
	return true;
}

/* Repeat a step whose event could not be stored; true: nothing else is to do.
 */
static bool is_held_up(struct job *job)
{
	struct error err;

	if (job_state_final(job->state)) {
		job_forget_removed(job);
		return true;
	}
	if (job->unstored) {
		end_early(job);
		return true;
	}
	if (job->state == JOB_ALLOCATED)
		prepare(job, &err);
	return false;
}

/* With `ssh`, rank 0 starts commands on the other nodes. When it has ended,
 * these have nothing more to do.
 */
static void finish_served(const struct gang *gang)
{
	if (!gang->spec.container.ssh || gang->tasks[0].state != TASK_ENDED)
		return;
	for (uint32_t i = 1; i < gang->spec.nodes; i++)
		if (gang->tasks[i].state == TASK_RUNNING)
			node_command_finish(&gang->tasks[i]);
}

void gang_advance(struct job *job)
{
	if (is_held_up(job) ||
	    (job->state == JOB_PREPARING && refuse_image(job)))
		return;
	if (job->state == JOB_PREPARING &&
	    all_tasks(job, TASK_READY, TASK_READY))
		all_ready(job);
	if (job->state == JOB_READY && all_tasks(job, TASK_RUNNING, TASK_ENDED))
		job_event(job, JOB_EVENT_START, NULL, NULL);
	if (job->state == JOB_RUNNING)
		finish_served(job->gang);
	if (job->state == JOB_RUNNING &&
	    all_tasks(job, TASK_ENDED, TASK_ENDED) &&
	    job_event(job, JOB_EVENT_END, NULL, NULL) == 0)
		job->gang->deadline_ms = 0;
	if (job->state == JOB_COLLECTING &&
	    all_tasks(job, TASK_ENDED, TASK_ENDED) && all_collected(job) &&
	    log_reader_done(job->gang))
		job_finish(job);
}

void gang_resume(struct job *job)
{
	if (job->state == JOB_READY || job->state == JOB_RUNNING)
		set_deadline(job);
}
