/* job.c - active jobs: found by id, changed by events, kept in the store.
 */
#include "controller/jobs/job.h"
#include "controller/catalog/descriptions.h"
#include "controller/images/image_progress.h"
#include "controller/images/logins.h"
#include "controller/images/sweep_image.h"
#include "controller/jobs/repeats.h"
#include "controller/jobs/allocation.h"
#include "controller/jobs/blame.h"
#include "controller/jobs/core.h"
#include "controller/jobs/dependencies.h"
#include "controller/jobs/failure_budget.h"
#include "controller/jobs/race_rows.h"
#include "controller/logs/log_reading.h"
#include "controller/logs/log_reader.h"
#include "controller/nodes/node.h"
#include "controller/store/store.h"
#include "protocol/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPEC_TEXT_MAX (4 << 20)

static void job_free(struct job *job)
{
	if (!job)
		return;
	free((char *)job->shape.vendor);
	free((char *)job->shape.chip);
	free((char *)job->shape.labels);
	free((uint32_t *)job->shape.pins);
	free(job->follows);
	free(job->skip);
	free(job->text);
	free(job->note);
	free(job);
}
OWNED_POINTER(struct job, job_free)

/* The labels that its nodes must have; NULL: none, or out of memory. Of a job
 * with pods of its own, the cluster has heeded those of the sweep.
 */
static char *job_labels(const struct jobs *jobs, uint64_t id,
			const char *labels)
{
	char *text = NULL;

	if (!jobs->pods)
		return labels ? strdup(labels) : NULL;
	return asprintf(&text, "job=%" PRIu64, id) < 0 ? NULL : text;
}

static struct job *job_new(struct jobs *jobs, uint64_t id, uint64_t sweep,
			   uint64_t cell_index, const struct job_spec *spec,
			   struct error *err)
{
	owned(job_free) struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return error_null(error_nomem(err, "job"));
	job->shape = spec_shape(spec);
	job->shape.vendor = strdup(spec->vendor);
	if (spec->measure.chip)
		job->shape.chip = strdup(spec->measure.chip);
	job->shape.labels = job_labels(jobs, id, spec->labels);
	if (!job->shape.vendor || !job->shape.chip != !spec->measure.chip ||
	    !job->shape.labels != !(spec->labels || jobs->pods))
		return error_null(error_nomem(err, "job"));
	if (dependencies_init(job, spec, err) < 0)
		return NULL;
	job->jobs = jobs;
	job->id = id;
	job->sweep = sweep;
	job->cell_index = cell_index;
	job->priority = spec->priority;
	job->until = spec->until;
	job->races = spec->race.steps;
	job->heat = spec->race.heat;
	job->repeat = spec->repeat;
	job->attempt = job->first_attempt = 1;
	job->image = sweep_image_get(jobs->images, sweep, spec, err);
	if (!job->image)
		return NULL;
	job->budget = failure_budget_get(jobs, sweep, err);
	if (!job->budget || job_list(jobs->table, job, err) < 0) {
		failure_budget_drop(jobs, job->budget);
		sweep_image_drop(jobs->images, job->image);
		return NULL;
	}
	return take(job);
}

/* No node removes the job's image while the job is not final. */
static void count_image(struct job *job, bool needed)
{
	if (job->image_needed != needed)
		sweep_image_count(job->image, job->shape.vendor, needed);
	job->image_needed = needed;
}

void job_forget(struct job *job)
{
	if (job->state == JOB_QUEUED)
		queue_remove(job->jobs->queue, &job->shape, job->id);
	dependencies_clear(job);
	repeats_leave(job);
	race_leave(job);
	count_image(job, false);
	job_drop_gang(job);
	sweep_image_drop(job->jobs->images, job->image);
	failure_budget_drop(job->jobs, job->budget);
	job_unlist(job->jobs->table, job);
	job_free(job);
}

int job_enqueue(struct job *job, struct error *err)
{
	if (failure_budget_holds(job))
		return 0;
	job->jobs->schedule_due = true;
	return queue_add(job->jobs->queue, &job->shape, job->id, job->priority,
			 err);
}

int job_queue(struct job *job, struct error *err)
{
	return dependencies_hold(job) || race_holds(job)
		       ? 0
		       : job_enqueue(job, err);
}

static void jobs_forget_one(struct job *job, void *arg)
{
	job_forget(job);
}

void job_free_all(struct jobs *jobs)
{
	job_each(jobs->table, jobs_forget_one, NULL);
}

/* The store's row of the job's state. */

#define DEVICES_TEXT 24 /* bytes of a hexadecimal number */

/* Append the text of the gang's allocation. */
static int write_allocation(const struct gang *gang, struct buffer *text,
			    struct error *err)
{
	uint32_t count = gang ? gang->spec.nodes : 0;
	owned_free struct allocated_task *tasks =
		calloc(count + 1, sizeof(*tasks));
	owned_free char(*devices)[DEVICES_TEXT] =
		calloc(count + 1, sizeof(*devices));
	struct job_allocation allocation = {
		.tasks = tasks,
		.tasks_count = count,
	};

	if (!tasks || !devices)
		return error_nomem(err, "allocation");
	if (gang) {
		allocation.port = gang->port;
		allocation.address = gang->address;
		allocation.addresses = gang->addresses;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct task *task = &gang->tasks[i];
		const struct node *node = task_node(task);

		snprintf(devices[i], DEVICES_TEXT, "%" PRIx64,
			 task_devices(task));
		tasks[i].node = (char *)(node ? node_name(node) : "");
		tasks[i].devices = devices[i];
	}
	return codec_encode(&job_allocation_schema, &allocation, text, err);
}

/* A job that is queued again has no failure; an event tells what ended the
 * attempt before.
 */
static bool keeps_failure(enum job_state state)
{
	return state == JOB_COLLECTING || job_state_final(state);
}

/* Does the event change the row of the job's state? The row of a submitted job
 * was put just before. After "alloc", "prepare" follows in the same turn, and
 * so in the same commit.
 */
static bool changes_row(enum job_event event)
{
	return event != JOB_EVENT_SUBMIT && event != JOB_EVENT_ALLOC &&
	       event != JOB_EVENT_PIN && event != JOB_EVENT_IMAGE &&
	       event != JOB_EVENT_REMOVED;
}

/* The allocation is complete with "ready", which adds the address. */
static bool changes_allocation(enum job_event event)
{
	return changes_row(event) && event != JOB_EVENT_START &&
	       event != JOB_EVENT_END && event != JOB_EVENT_COMPLETE;
}

/* Times of the job after an event. */
static void job_row_set_times(struct job_row *row, const struct job *job,
			      enum job_event event, int64_t now)
{
	row->queued_ms = job->queued_ms;
	row->started_ms = job->started_ms;
	row->ended_ms = job->ended_ms;
	if (event == JOB_EVENT_RETRY) {
		row->queued_ms = now;
		row->started_ms = row->ended_ms = 0;
	} else if (event == JOB_EVENT_READY) {
		row->started_ms = now;
	} else if (job_state_final(row->state) &&
		   !job_state_final(job->state)) {
		row->ended_ms = now;
	}
}

/* Queue both rows or none. state NULL: the stored state does not change. */
static int job_event_store(struct store *store, const struct event_row *event,
			   enum job_state was, const struct job_row *state,
			   struct error *err)
{
	struct store_mark mark = store_mark(store);

	if (store_put_event(store, event, err) < 0)
		return -1;
	if (!state || store_set_job(store, was, state, err) == 0)
		return 0;
	store_undo(store, &mark);
	return -1;
}

/* Queue the event, and the row of the state after it, or neither. */
static int record(const struct job *job, enum job_event event,
		  const cJSON *data, int64_t now, struct job_row *row,
		  struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(STORE_TEXT_MAX);
	owned(buffer_clear) struct buffer allocated =
		BUFFER_INIT(STORE_TEXT_MAX);
	struct event_row event_row = {
		.job = job->id,
		.attempt = row->attempt,
		.time_ms = now,
		.kind = job_event_name(event),
	};
	int rc = 0;

	if (data)
		rc = codec_print(data, &text, err);
	if (rc == 0 && changes_allocation(event))
		rc = write_allocation(job->gang, &allocated, err);
	event_row.data = data ? text.data : NULL;
	row->allocation = changes_allocation(event) ? allocated.data : NULL;
	if (rc == 0)
		rc = job_event_store(job->jobs->store, &event_row, job->stored,
				     changes_row(event) ? row : NULL, err);
	row->allocation = NULL;
	return rc;
}

cJSON *job_failure_data(const struct job *job)
{
	cJSON *data = job->failure ? cJSON_CreateObject() : NULL;

	if (!data)
		return NULL;
	cJSON_AddStringToObject(data, "failure", failure_name(job->failure));
	cJSON_AddStringToObject(data, "text", job->text ? job->text : "");
	return data;
}

/* The event is queued for the store: change the job. */
static void job_enter_state(struct job *job, enum job_event event,
			    const struct job_row *row)
{
	bool ends = job_state_final(row->state) && !job_state_final(job->state);

	log_debug("job=%" PRIu64 " %s -> %s (%s)", job->id,
		  job->state ? job_state_name(job->state) : "new",
		  job_state_name(row->state), job_event_name(event));
	job->state = row->state;
	if (changes_row(event))
		job->stored = row->state;
	job->attempt = row->attempt;
	job->queued_ms = row->queued_ms;
	job->started_ms = row->started_ms;
	job->ended_ms = row->ended_ms;
	count_image(job, !job_state_final(job->state));
	job->jobs->changes->events = true;
	changes_add_job(job->jobs->changes, job->id);
	if (job->jobs->effects->changed)
		job->jobs->effects->changed(job->jobs->effects->arg, job,
					    event);
	if (ends) {
		repeats_ended(job);
		race_ended(job);
		dependencies_ended(job);
		failure_budget_ended(job);
		logins_ended(job->jobs->logins, job->sweep);
	}
}

/* The figures of the result, if it has one. */
static void set_figures(struct job_row *row, const struct gang *gang)
{
	bool ended = gang && gang->measured && job_state_final(row->state);

	row->step = ended ? gang->step : 0;
	row->loss = ended ? gang->loss : (double)NAN;
	row->rate = ended ? gang->job->rate : rate_of(0, 0, 0, 0);
	row->suspect = ended && gang->suspect;
}

int job_event(struct job *job, enum job_event event, cJSON *data,
	      struct error *err)
{
	enum job_state next = job_next(job->state, event);
	int64_t now = effects_wall_ms(job->jobs->effects);
	struct job_row row = {
		.id = job->id,
		.sweep = job->sweep,
		.state = next,
		.attempt = job->attempt + (event == JOB_EVENT_RETRY),
		.first_attempt = job->first_attempt,
		.failure = keeps_failure(next) ? job->failure : FAILURE_NONE,
		.text = keeps_failure(next) ? job->text : NULL,
	};
	struct error why;
	int rc;

	if (next == JOB_NONE) {
		cJSON_Delete(data);
		return error_set(err, EINVAL,
				 "job %" PRIu64
				 " is %s; event '%s' is not valid now",
				 job->id, job_state_name(job->state),
				 job_event_name(event));
	}
	job_row_set_times(&row, job, event, now);
	set_figures(&row, job->gang);
	rc = record(job, event, data, now, &row, &why);
	cJSON_Delete(data);
	if (rc < 0) {
		log_error("job=%" PRIu64 ": %s", job->id, why.text);
		return error_set(err, why.code, "%s", why.text);
	}
	job_enter_state(job, event, &row);
	return 0;
}

/* Submitting, loading, and queueing again. */

static void copy_for_lists(struct job_row *row, const struct job_spec *spec)
{
	row->cell = spec->cell;
	row->vendor = spec->vendor;
	row->nodes = spec->nodes;
	row->devices = spec->devices;
}

int job_submit(struct jobs *jobs, uint64_t sweep, uint64_t cell_index,
	       const struct job_spec *spec, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(SPEC_TEXT_MAX);
	struct job_row row = {
		.id = store_next_job(jobs->store),
		.sweep = sweep,
		.cell_index = cell_index,
		.key = spec->key,
		.repeat = spec->repeat,
		.priority = spec->priority,
		.state = JOB_QUEUED,
		.attempt = 1,
		.first_attempt = 1,
		.queued_ms = effects_wall_ms(jobs->effects),
		.loss = (double)NAN,
	};
	struct job *job;

	if (codec_encode(&job_spec_schema, spec, &text, err) < 0)
		return -1;
	row.spec = text.data;
	copy_for_lists(&row, spec);
	job = job_new(jobs, row.id, sweep, cell_index, spec, err);
	if (!job)
		return -1;
	job->stored = row.state;
	job->queued_ms = row.queued_ms;
	if (repeats_join(job, spec->repeat, true, err) < 0 ||
	    race_join(job, spec, err) < 0 ||
	    store_put_job(jobs->store, &row, err) < 0 ||
	    job_event(job, JOB_EVENT_SUBMIT, NULL, err) < 0 ||
	    job_queue(job, err) < 0) {
		job_forget(job);
		return -1;
	}
	return 0;
}

int job_take_over(struct jobs *jobs, uint64_t sweep, uint64_t cell_index,
		  const struct job_spec *spec, const struct job_row *from,
		  struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(SPEC_TEXT_MAX);
	struct job_row row = *from;
	struct event_row event = {
		.attempt = from->attempt,
		.time_ms = effects_wall_ms(jobs->effects),
		.kind = job_event_name(JOB_EVENT_TAKE),
	};
	char data[80];

	if (codec_encode(&job_spec_schema, spec, &text, err) < 0)
		return -1;
	row.id = event.job = store_next_job(jobs->store);
	row.sweep = sweep;
	row.cell_index = cell_index;
	row.priority = spec->priority;
	row.spec = text.data;
	row.origin = from->id;
	copy_for_lists(&row, spec);
	snprintf(data, sizeof(data),
		 "{\"job\":%" PRIu64 ",\"sweep\":%" PRIu64 "}", from->id,
		 from->sweep);
	event.data = data;
	if (store_put_job(jobs->store, &row, err) < 0 ||
	    store_put_event(jobs->store, &event, err) < 0)
		return -1;
	return repeats_taken(jobs, &row, spec, err) < 0
		       ? -1
		       : race_taken(jobs, &row, spec, err);
}

static struct job *job_from_row(struct jobs *jobs, const struct job_row *row,
				struct error *err)
{
	struct job_spec spec;
	struct job *job;

	if (codec_decode(&job_spec_schema, row->spec, strlen(row->spec), &spec,
			 err) < 0)
		return error_null(error_prefix(err, "job %" PRIu64, row->id));
	job = job_new(jobs, row->id, row->sweep, row->cell_index, &spec, err);
	codec_clear(&job_spec_schema, &spec);
	if (!job)
		return NULL;
	job->state = job->stored = row->state;
	count_image(job, !job_state_final(job->state));
	job->attempt = row->attempt;
	job->first_attempt = row->first_attempt;
	job->queued_ms = row->queued_ms;
	job->started_ms = row->started_ms;
	job->ended_ms = row->ended_ms;
	if (keeps_failure(row->state))
		job_set_failure(job, row->failure, 0, row->text);
	return job;
}

/* Give the tasks the nodes that the store's allocation names. */
static int load_allocation(struct job *job, const char *text, struct error *err)
{
	struct gang *gang = job->gang;
	struct job_allocation allocation;
	uint32_t rank = 0;

	if (allocation_read(text, &allocation, err) < 0)
		return error_prefix(err, "job %" PRIu64, job->id);
	gang->port = allocation.port;
	gang->address = take(allocation.address);
	gang->addresses = allocation.addresses;
	allocation.addresses = (struct strings){ 0 };
	while (rank < allocation.tasks_count && rank < gang->spec.nodes) {
		const struct allocated_task *task = &allocation.tasks[rank];
		struct node *node = node_get(job->jobs->nodes, task->node, err);

		if (!node)
			break;
		node_assign(job->jobs->nodes, &gang->tasks[rank++], node,
			    allocation_devices(task));
	}
	codec_clear(&job_allocation_schema, &allocation);
	return rank == gang->spec.nodes
		       ? 0
		       : error_set(err, EPROTO,
				   "job %" PRIu64
				   ": the stored allocation is not valid",
				   job->id);
}

int job_load(struct jobs *jobs, const struct job_row *row, struct error *err)
{
	struct job *job = job_from_row(jobs, row, err);

	if (!job || repeats_join(job, row->repeat, false, err) < 0 ||
	    race_join(job, NULL, err) < 0)
		return -1;
	if (job->state == JOB_QUEUED)
		return job_queue(job, err);
	if (job_make_gang(job, err) < 0)
		return -1;
	return load_allocation(job, row->allocation, err);
}

/* Containers of the old attempt are still being removed. */
static void keep_discards(struct job *job)
{
	for (uint32_t i = 0; job->gang && i < job->gang->spec.nodes; i++)
		if (job->gang->tasks[i].discarding)
			node_add_discard(job->jobs->nodes,
					 task_node(&job->gang->tasks[i]),
					 &(struct message_discard){
						 job->id, job->attempt, i });
}

bool job_lost_race(const struct job_row *row)
{
	owned(cJSON_Delete) cJSON *spec = NULL;

	if (row->state != JOB_COMPLETED || row->failure != FAILURE_PRUNED)
		return false;
	spec = codec_parse(row->spec, strlen(row->spec), NULL);
	return cJSON_GetObjectItemCaseSensitive(spec, "after") != NULL;
}

int job_revive(struct jobs *jobs, const struct job_row *row, struct error *err)
{
	struct job *job = job_find(jobs->table, row->id);

	if (job) {
		keep_discards(job);
		job_drop_gang(job);
	} else {
		job = job_from_row(jobs, row, err);
		if (!job)
			return -1;
	}
	job_clear_failure(job);
	blame_forget(job);
	job->first_attempt = job->attempt + 1;
	if (repeats_join(job, row->repeat, false, err) < 0 ||
	    race_join(job, NULL, err) < 0 ||
	    job_event(job, JOB_EVENT_RETRY, NULL, err) < 0)
		return -1;
	return job_queue(job, err);
}

/* Gangs. */

struct spec_read {
	struct job_spec *spec;
	struct error *err;
};

static int job_read_spec(const struct job_row *row, void *arg)
{
	struct spec_read *read = arg;

	return codec_decode(&job_spec_schema, row->spec, strlen(row->spec),
			    read->spec, read->err);
}

/* Descriptions of the sweep are valid for its own gangs only. */
static void gang_read_descriptions(struct gang *gang,
				   const struct catalog *catalog)
{
	const struct measure_spec *measure = &gang->spec.measure;
	const struct framework *format;
	struct error err;

	gang->catalog = catalog;
	if (!measure->described)
		return;
	gang->own_catalog =
		catalog_with_descriptions(catalog, measure->described, &err);
	if (!gang->own_catalog) {
		log_error("job=%" PRIu64 ": %s", gang->job->id, err.text);
		return;
	}
	gang->catalog = gang->own_catalog;
	format = log_reader_format(gang);
	if (format && format->log)
		gang->own_rules = log_formats_compile(gang->catalog, format);
	if (gang->own_rules)
		extract_rules_limit(gang->own_rules);
}

int job_make_gang(struct job *job, struct error *err)
{
	struct gang *gang = calloc(1, sizeof(*gang));
	struct spec_read read = { gang ? &gang->spec : NULL, err };

	if (!gang)
		return error_nomem(err, "gang");
	if (store_job(job->jobs->store, job->id, job_read_spec, &read, err) <
	    0) {
		free(gang);
		return -1;
	}
	gang->tasks = calloc(gang->spec.nodes, sizeof(*gang->tasks));
	if (!gang->tasks) {
		codec_clear(&job_spec_schema, &gang->spec);
		free(gang);
		return error_nomem(err, "gang");
	}
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		gang->tasks[i].job = job;
		gang->tasks[i].rank = i;
	}
	gang->job = job;
	gang->output = gang_output_new(job->jobs->reader, gang, err);
	if (!gang->output) {
		codec_clear(&job_spec_schema, &gang->spec);
		free(gang->tasks);
		free(gang);
		return -1;
	}
	gang_read_descriptions(gang, job->jobs->catalog);
	gang_list(job->jobs->table, gang);
	job->gang = gang;
	free(take(job->note));
	return 0;
}

static void task_clear(struct task *task)
{
	task->job->jobs->waiting -= task->waits;
	task_drop_files(task);
	image_transfer_free(task->transfer);
	node_release(task->job->jobs->nodes, task);
	free(task->text);
	free(task->image_id);
	free(task->image_pin);
	free(task->image_look);
	strings_clear(&task->ulimits);
	cJSON_Delete(task->facts);
	for (size_t i = 0; i < task->streams_count; i++)
		free(task->streams[i].name);
	free(task->streams);
	free(task->ends);
}

void job_drop_gang(struct job *job)
{
	struct gang *gang = take(job->gang);

	if (!gang)
		return;
	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		task_clear(&gang->tasks[i]);
	gang_unlist(job->jobs->table, gang);
	gang_output_free(gang->output);
	free(gang->tasks);
	free(gang->address);
	free(gang->hang);
	strings_clear(&gang->addresses);
	extract_rules_free(gang->own_rules);
	catalog_free(gang->own_catalog);
	codec_clear(&job_spec_schema, &gang->spec);
	free(gang);
}

int task_make_spec(const struct task *task, struct task_spec *spec,
		   struct error *err)
{
	const struct gang *gang = task->job->gang;
	const struct job_spec *job = &gang->spec;
	const char *pin =
		sweep_image_digest(task->job->jobs->images, task->job);
	uint32_t processes = job->container.processes;
	uint32_t devices = (uint32_t)__builtin_popcountll(task_devices(task));
	int rc = 0;

	*spec = (struct task_spec){
		.job = task->job->id,
		.owner = job->owner,
		.pin = (char *)pin,
		.attempt = task->job->attempt,
		.rank = task->rank,
		.nodes = job->nodes,
		.repeat = job->repeat,
		.shared = job->shared,
		.foreign_allowed = job->foreign_allowed,
		.first_rank = processes ? task->rank * processes : task->rank,
		.processes_per_node = processes ? processes : devices,
		.container = job->container,
	};
	spec->world_size = spec->processes_per_node * job->nodes;
	for (int i = 0; rc == 0 && i < SCHEDULER_DEVICES_MAX; i++)
		if (task_devices(task) & (UINT64_C(1) << i))
			rc = strings_printf(&spec->devices, err, "%d", i);
	if (rc < 0)
		task_drop_spec(spec);
	return rc;
}

void task_drop_spec(struct task_spec *spec)
{
	spec->owner = spec->pin = NULL;
	spec->container = (struct container_spec){ 0 };
	codec_clear(&task_spec_schema, spec);
}
