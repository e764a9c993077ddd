/* job_info.c - describes a job for replies, from the store and its state. */
#include "controller/api/jobs.h"
#include "controller/api/streams.h"
#include "controller/images/image_progress.h"
#include "controller/jobs/failure_budget.h"
#include "controller/jobs/blame.h"
#include "controller/jobs/dependencies.h"
#include "controller/jobs/race_rows.h"
#include "controller/jobs/expected_time.h"
#include "controller/jobs/allocation.h"
#include "controller/jobs/hang.h"
#include "controller/jobs/job.h"
#include "controller/jobs/unschedulable.h"
#include "controller/logs/log_reader.h"
#include "controller/nodes/node.h"
#include "controller/logs/sampling.h"
#include "controller/results/series.h"
#include "controller/store/store.h"
#include "protocol/base/clock.h"
#include "protocol/hardware/device_metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_RUNS 5 /* of a cell */
#define RECENT_STEPS 10

#define EVENTS_MAX 1000 /* of one job in one answer */

/* The metrics of the last step. */
static void add_step(const struct record *latest, struct progress_info *to)
{
	if (record_has(latest, RECORD_STEP))
		to->step = (uint64_t)latest->step;
	if (record_has(latest, RECORD_STEPS))
		to->steps = (uint64_t)latest->steps_total;
	if (record_has(latest, RECORD_LOSS))
		to->loss = latest->loss;
}

/* The last readings of the job's devices. */
static void add_readings(const struct gang *gang, struct progress_info *to)
{
	struct device_metrics device;

	for (uint32_t rank = 0; rank < gang_nodes(gang); rank++)
		for (size_t i = 0; log_reader_device(gang, rank, i, &device);
		     i++) {
			if (device.has & 1U << READING_POWER_W)
				to->power_w =
					(isnan(to->power_w) ? 0 : to->power_w) +
					device.value[READING_POWER_W];
			if (device.has & 1U << READING_TEMP_C)
				to->temp_c = fmax(to->temp_c,
						  device.value[READING_TEMP_C]);
		}
}

/* The rates of the last runs of a cell. */
struct usual_rates {
	struct rate of[USUAL_RUNS];
	size_t count;
};

static int note_usual(const struct job_row *row, void *arg)
{
	struct usual_rates *usual = arg;

	if (usual->count < USUAL_RUNS && row->rate.value > 0)
		usual->of[usual->count++] = row->rate;
	return 0;
}

static int gain_compare_rates(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median rate of the last steps; 0: there are too few. */
static double recent_rate(const struct gang *gang, uint32_t unit)
{
	const struct extract *extract = log_reader_extract(gang);
	double rates[RECENT_STEPS];
	const struct record *records;
	size_t count = 0, n = 0;

	records = extract ? extract_records(extract, &count) : NULL;
	for (size_t i = count > RECENT_STEPS ? count - RECENT_STEPS : 0;
	     i < count; i++) {
		struct rate rate =
			step_rate(&records[i], &gang_spec(gang)->measure,
				  gang_devices(gang));

		if (rate.unit == unit && rate.value > 0)
			rates[n++] = rate.value;
	}
	if (n < RECENT_STEPS)
		return 0;
	qsort(rates, n, sizeof(*rates), gain_compare_rates);
	return (rates[(n - 1) / 2] + rates[n / 2]) / 2;
}

/* The rate of the last steps beside that of the last runs of the cell. */
static void add_gain(const struct api *api, const struct gang *gang,
		     const struct job_row *row, uint32_t unit,
		     struct progress_info *progress)
{
	struct usual_rates usual = { 0 };
	double recent = recent_rate(gang, unit), sum = 0;

	if (!(recent > 0) || !row->key ||
	    store_runs(api->store, row->key, NULL, USUAL_RUNS, note_usual,
		       &usual, NULL) < 0)
		return;
	for (size_t i = 0; i < usual.count; i++) {
		if (usual.of[i].unit != unit)
			continue;
		sum += usual.of[i].value;
		progress->gain_runs++;
	}
	if (progress->gain_runs)
		progress->gain = recent * progress->gain_runs / sum - 1;
}

static int job_info_add_progress(const struct api *api, const struct job *job,
				 const struct job_row *row, struct job_info *to,
				 struct error *err)
{
	const struct gang *gang = job ? job_gang(job) : NULL;
	const struct record *latest = log_reader_latest(gang);
	struct progress_info *progress;

	if (!gang || job_state_final(job_state(job)))
		return 0;
	progress = to->progress = calloc(1, sizeof(*progress));
	if (!progress)
		return error_nomem(err, "job");
	progress->image.rate = progress->image.eta_seconds = (double)NAN;
	progress->loss = (double)NAN;
	progress->power_w = progress->temp_c = progress->gain = (double)NAN;
	if (job_state(job) == JOB_PREPARING &&
	    image_progress_add_sum(gang, clock_mono_ms(), progress, err) < 0)
		return -1;
	if (latest) {
		struct rate rate = step_rate(latest, &gang_spec(gang)->measure,
					     gang_devices(gang));

		add_step(latest, progress);
		to->rate = rate.value;
		to->rate_unit = rate.unit;
		add_gain(api, gang, row, rate.unit, progress);
	}
	add_readings(gang, progress);
	if (job_state(job) == JOB_RUNNING) {
		progress->step_age = hang_step_age(gang);
		progress->suspected = hang_suspected(gang);
		return hang_straggler(gang, &progress->straggler, err) < 0 ||
				       (*hang_found(gang) &&
					string_set(&progress->found,
						   hang_found(gang), err) < 0)
			       ? -1
			       : 0;
	}
	return 0;
}

/* The nodes of the allocation, and the number of their devices. */
static int add_allocation(const char *text, struct job_info *to,
			  struct error *err)
{
	struct job_allocation allocation;
	uint32_t devices = 0;
	int rc = 0;

	if (allocation_read(text, &allocation, NULL) < 0)
		return 0; /* another version wrote it */
	for (size_t i = 0; rc == 0 && i < allocation.tasks_count; i++) {
		rc = strings_add(&to->allocation, allocation.tasks[i].node,
				 err);
		devices += (uint32_t)__builtin_popcountll(
			allocation_devices(&allocation.tasks[i]));
	}
	if (devices)
		to->devices = devices;
	codec_clear(&job_allocation_schema, &allocation);
	return rc;
}

static int note_facts(const struct job_row *row, void *arg)
{
	*(struct job_facts *)arg = (struct job_facts){
		.sweep = row->sweep,
		.origin = row->origin,
		.attempt = row->attempt,
		.state = row->state,
	};
	return 0;
}

int job_facts_read(const struct api *api, uint64_t job, struct job_facts *facts,
		   struct error *err)
{
	return store_job(api->store, job, note_facts, facts, err);
}

int job_describe_origin(const struct api *api, const struct job_row *row,
			struct job_origin **to, struct error *err)
{
	struct job_facts facts = { 0 };

	if (!row->origin)
		return 0;
	*to = calloc(1, sizeof(**to));
	if (!*to)
		return error_nomem(err, "job");
	job_facts_read(api, row->origin, &facts, NULL);
	(*to)->job = row->origin;
	(*to)->sweep = facts.sweep;
	return 0;
}

/* The previous attempt has ended, but may still be cleaned up, or other nodes
 * may be in use.
 */
static bool next_attempt(const struct job *job, const struct job_info *info,
			 char *text, size_t size)
{
	const struct node *failed = blame_last(job);

	if (info->attempt < 2)
		return false;
	if (failed && blame_waits_until(job) && blame_leaves_others(job))
		snprintf(text, size,
			 "waits to start attempt %u on another node than %s, "
			 "where it failed; for %d minutes at most",
			 info->attempt, node_name(failed),
			 (int)(BLAME_WAIT_MS / 60000));
	else
		snprintf(text, size, "waits to start attempt %u",
			 info->attempt);
	return true;
}

/* The first of the job's nodes whose engine does not answer. */
static bool engine_is_away(const struct job *job, char *text, size_t size)
{
	const struct gang *gang = job_gang(job);

	for (uint32_t i = 0; i < gang_nodes(gang); i++) {
		const struct node *node = task_node(gang_task(gang, i));
		const char *away =
			node ? node_view(node)->engine_away.text : NULL;

		if (!away || job_state_final(job_state(job)))
			continue;
		snprintf(text, size, "%s: the engine is away: %s",
			 node_name(node), away);
		return true;
	}
	return false;
}

/* Why a queued job does not start, or another does not go on. */
static int add_waits(const struct api *api, const struct job *job,
		     struct job_info *to, struct error *err)
{
	const struct slot *slots = node_slots(api->nodes);
	size_t count = node_count(api->nodes);
	char text[300];
	bool waits = false;

	if (job && job_state(job) == JOB_QUEUED && failure_budget_holds(job))
		return string_set(&to->waits, "its sweep is paused", err);
	if (job && race_holds(job))
		return string_set(&to->waits, "waits for its turn in the race",
				  err);
	if (job && job_state(job) == JOB_QUEUED && job_note(job))
		return string_set(&to->waits, job_note(job), err);
	if (job && dependencies_waits(job, text, sizeof(text)))
		waits = true;
	else if (job && job_gang(job))
		waits = engine_is_away(job, text, sizeof(text));
	else if (job && job_state(job) == JOB_QUEUED)
		waits = unschedulable_of(slots, count, job_shape(job), text,
					 sizeof(text)) != UNSCHEDULABLE_NONE ||
			(to->late = expected_late(job, slots, count, text,
						  sizeof(text))) ||
			next_attempt(job, to, text, sizeof(text));
	return waits ? string_set(&to->waits, text, err) : 0;
}

int job_describe(const struct api *api, const struct job_row *row,
		 struct job_info *to, struct error *err)
{
	const struct job *job = job_find(api->table, row->id);

	to->job = row->id;
	to->sweep = row->sweep;
	to->repeat = row->repeat;
	to->attempt = row->attempt;
	to->nodes = row->nodes;
	to->devices = row->devices;
	to->queued_ms = row->queued_ms;
	to->started_ms = row->started_ms;
	to->ended_ms = row->ended_ms;
	to->removed = job_state_final(row->state) && !job;
	to->step = row->step;
	to->loss = row->loss;
	to->rate = row->rate.value;
	to->rate_unit = row->rate.unit;
	to->suspect = row->suspect;
	if (string_set(&to->cell, row->cell, err) < 0 ||
	    string_set(&to->state, job_state_name(row->state), err) < 0 ||
	    string_set(&to->failure, failure_name(row->failure), err) < 0 ||
	    string_set(&to->text, row->text, err) < 0 ||
	    string_set(&to->vendor, row->vendor, err) < 0 ||
	    add_allocation(row->allocation, to, err) < 0 ||
	    job_info_add_progress(api, job, row, to, err) < 0 ||
	    add_waits(api, job, to, err) < 0)
		return -1;
	return job_describe_origin(api, row, &to->from, err);
}

static int describe_task(const struct task *task, uint32_t rank,
			 struct task_info *to, struct error *err)
{
	to->rank = rank;
	to->exit_code = task_exit_code(task);
	if (string_set(&to->node, node_name(task_node(task)), err) < 0 ||
	    string_set(&to->state, task_state_name(task_state(task)), err) <
		    0 ||
	    string_set(&to->failure, failure_name(task_failure(task)), err) <
		    0 ||
	    string_set(&to->text, task_text(task), err) < 0)
		return -1;
	return image_progress_of_task(task, clock_mono_ms(), &to->transfer,
				      err);
}

static int add_tasks(const struct job *job, struct job_info *to,
		     struct error *err)
{
	uint32_t count = job && job_gang(job) ? gang_nodes(job_gang(job)) : 0;

	if (!count)
		return 0;
	to->tasks = calloc(count, sizeof(*to->tasks));
	if (!to->tasks)
		return error_nomem(err, "job");
	to->tasks_count = count;
	for (uint32_t i = 0; i < count; i++)
		if (describe_task(gang_task(job_gang(job), i), i, &to->tasks[i],
				  err) < 0)
			return -1;
	return 0;
}

int event_describe(const struct event_row *row, struct event_info *to,
		   struct error *err)
{
	to->seq = row->seq;
	to->job = row->job;
	to->attempt = row->attempt;
	to->time_ms = row->time_ms;
	if (row->data)
		to->data = codec_parse(row->data, strlen(row->data), NULL);
	return string_set(&to->kind, row->kind, err);
}

struct filling {
	struct job_info *to;
	struct error *err;
};

static int add_event(const struct event_row *row, void *arg)
{
	struct filling *filling = arg;
	struct job_info *to = filling->to;

	return event_describe(row, &to->events[to->events_count++],
			      filling->err);
}

/* A part of what is stored, and its schema. */
struct stored_part {
	const struct schema *schema;
	struct stored_result *to;
};

/* What another version stored in a form that is not read is no result. */
static int note_stored(const struct result_row *row, void *arg)
{
	struct stored_part *part = arg;

	codec_decode_other(part->schema, row->json, strlen(row->json), part->to,
			   NULL);
	return 0;
}

void job_stored_read(const struct api *api, uint64_t job,
		     const struct schema *schema, struct stored_result *to)
{
	struct stored_part part = { schema, to };

	*to = (struct stored_result){ 0 };
	store_result(api->store, job, note_stored, &part, NULL);
}

int job_describe_whole(const struct api *api, const struct job_row *row,
		       struct job_info *to, struct error *err)
{
	struct filling filling = { to, err };
	struct stored_result stored;

	to->spec = codec_parse(row->spec, strlen(row->spec), NULL);
	to->events = calloc(EVENTS_MAX, sizeof(*to->events));
	if (!to->events)
		return error_nomem(err, "job");
	if (job_describe(api, row, to, err) < 0 ||
	    add_tasks(job_find(api->table, row->id), to, err) < 0 ||
	    (row->state == JOB_QUEUED && !to->waits &&
	     job_describe_queue(api, row->id, &to->queue, err) < 0) ||
	    store_events(api->store, row->id, 0, EVENTS_MAX, add_event,
			 &filling, err) < 0 ||
	    streams_describe(api, row->origin ? row->origin : row->id,
			     row->attempt, true, &to->streams,
			     &to->streams_count, err) < 0)
		return -1;
	job_stored_read(api, row->id, &stored_figures_schema, &stored);
	to->result = take(stored.result);
	to->provenance = take(stored.provenance);
	to->reason = take(stored.reason);
	to->ends = take(stored.ends);
	to->ends_count = stored.ends_count;
	return 0;
}
