/* adaptive_repeats.c - repeats cells until their rate is known precisely
 * enough.
 */
#include "controller/jobs/adaptive_repeats.h"
#include "controller/jobs/core.h"
#include "controller/results/t_quantile.h"
#include "controller/store/store.h"
#include "protocol/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cell with repeats that are active, or have ended in this turn. Its rows in
 * the store were read when the first repeat joined. Later repeats are counted
 * here, because reads do not see rows that are not committed.
 */
struct trial {
	uint64_t sweep, cell_index;
	struct repeats repeats;
	uint32_t active;
	uint64_t last; /* the job that ended last */
	uint32_t last_attempt;
	bool ended; /* listed in jobs->ended */
	TAILQ_ENTRY(trial) by_end;
};

double adaptive_repeats_rate(const cJSON *result)
{
	static const char *const names[] = { "tokens_per_second_per_device",
					     "samples_per_second" };
	double step;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const cJSON *rate =
			cJSON_GetObjectItemCaseSensitive(result, names[i]);

		if (cJSON_IsNumber(rate) && rate->valuedouble > 0)
			return rate->valuedouble;
	}
	step = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(result, "iteration_ms"),
		"median"));
	return step > 0 ? 1000 / step : 0;
}

bool repeats_more(const struct repeats *repeats, char *text, size_t size)
{
	const struct until_spec *until = &repeats->until;
	struct mean_known known =
		mean_known(repeats->rates, repeats->rates_count,
			   until->confidence);
	char words[120];

	if (repeats->given_up || !repeats->completed) {
		snprintf(text, size, "not repeated further: %s",
			 repeats->given_up ? "a repeat was cancelled or skipped"
					   : "no repeat completed");
		return false;
	}
	if (!repeats->rates_count) {
		snprintf(text, size,
			 "not repeated further: the runs have no rate");
		return false;
	}
	if (isfinite(known.half))
		snprintf(words, sizeof(words),
			 "mean %.6g +- %.2f %% (%g %% confidence, n %zu)",
			 known.mean, known.half * 100, until->confidence * 100,
			 known.n);
	else
		snprintf(words, sizeof(words), "one rate is not enough");
	if (known.half <= until->width) {
		snprintf(text, size, "known within %g %%: %s",
			 until->width * 100, words);
		return false;
	}
	if (repeats->count >= until->max) {
		snprintf(text, size,
			 "not known within %g %% after %u repeats, the most "
			 "that are allowed: %s",
			 until->width * 100, repeats->count, words);
		return false;
	}
	snprintf(text, size, "not known within %g %%: %s", until->width * 100,
		 words);
	return true;
}

/* The trials. */

static int compare_trials(const void *a, const void *b)
{
	const struct trial *x = a, *y = b;

	if (x->sweep != y->sweep)
		return x->sweep < y->sweep ? -1 : 1;
	return x->cell_index < y->cell_index ? -1
					     : x->cell_index > y->cell_index;
}

static struct trial *find(const struct jobs *jobs, uint64_t sweep,
			  uint64_t cell_index)
{
	struct trial key = { .sweep = sweep, .cell_index = cell_index };
	void *found = tfind(&key, &jobs->trials, compare_trials);

	return found ? *(struct trial **)found : NULL;
}

static void trial_free(struct trial *trial)
{
	if (!trial)
		return;
	free(trial->repeats.rates);
	free(trial);
}
OWNED_POINTER(struct trial, trial_free)

static struct trial *add(struct jobs *jobs, uint64_t sweep, uint64_t cell_index,
			 const struct until_spec *until, struct error *err)
{
	owned(trial_free) struct trial *trial = calloc(1, sizeof(*trial));
	double *rates = calloc(until->max + 1, sizeof(*rates));

	if (trial)
		trial->repeats.rates = rates;
	else
		free(rates);
	if (!trial || !rates)
		return error_null(error_nomem(err, "repeats"));
	trial->sweep = sweep;
	trial->cell_index = cell_index;
	trial->repeats.until = *until;
	if (!tsearch(trial, &jobs->trials, compare_trials))
		return error_null(error_nomem(err, "repeats"));
	return take(trial);
}

static void list(struct jobs *jobs, struct trial *trial, bool ended)
{
	if (trial->ended == ended)
		return;
	trial->ended = ended;
	if (ended)
		TAILQ_INSERT_TAIL(&jobs->ended, trial, by_end);
	else
		TAILQ_REMOVE(&jobs->ended, trial, by_end);
}

static void drop(struct jobs *jobs, struct trial *trial)
{
	list(jobs, trial, false);
	tdelete(trial, &jobs->trials, compare_trials);
	trial_free(trial);
}

static void count_repeat(struct repeats *repeats, uint32_t repeat)
{
	if (repeat >= repeats->count)
		repeats->count = repeat + 1;
}

static void count_completed(struct repeats *repeats, double rate)
{
	repeats->completed++;
	if (rate > 0 && repeats->rates_count < repeats->until.max)
		repeats->rates[repeats->rates_count++] = rate;
}

static int read_rate(const struct result_row *row, void *arg)
{
	cJSON *all = codec_parse(row->json, strlen(row->json), NULL);

	*(double *)arg = adaptive_repeats_rate(
		cJSON_GetObjectItemCaseSensitive(all, "result"));
	cJSON_Delete(all);
	return 0;
}

struct history {
	struct jobs *jobs;
	struct repeats *repeats;
};

static int add_history(const struct job_row *row, void *arg)
{
	struct history *history = arg;
	double rate = 0;

	count_repeat(history->repeats, row->repeat);
	if (row->state != JOB_COMPLETED)
		return 0;
	store_result(history->jobs->store, row->id, read_rate, &rate, NULL);
	count_completed(history->repeats, rate);
	return 0;
}

int adaptive_repeats_join(struct job *job, uint32_t repeat, bool fresh,
			  struct error *err)
{
	struct trial *trial;
	struct history history = { .jobs = job->jobs };

	if (job->until.width <= 0 || job->trial)
		return 0;
	trial = find(job->jobs, job->sweep, job->cell_index);
	if (!trial) {
		trial = add(job->jobs, job->sweep, job->cell_index, &job->until,
			    err);
		if (!trial)
			return -1;
		history.repeats = &trial->repeats;
		if (!fresh &&
		    store_cell(job->jobs->store, job->sweep, job->cell_index,
			       add_history, &history, err) < 0) {
			drop(job->jobs, trial);
			return -1;
		}
	}
	list(job->jobs, trial, false);
	count_repeat(&trial->repeats, repeat);
	trial->active++;
	job->trial = trial;
	return 0;
}

void adaptive_repeats_ended(struct job *job)
{
	struct trial *trial = take(job->trial);

	if (!trial)
		return;
	trial->last = job->id;
	trial->last_attempt = job->attempt;
	if (job->state == JOB_COMPLETED)
		count_completed(&trial->repeats, job->rate);
	else if (job->state == JOB_CANCELLED || job->failure == FAILURE_SKIPPED)
		trial->repeats.given_up = true;
	if (!--trial->active)
		list(job->jobs, trial, true);
}

int adaptive_repeats_taken(struct jobs *jobs, const struct job_row *row,
			   const struct job_spec *spec, struct error *err)
{
	struct trial *trial;
	double rate = 0;

	if (spec->until.width <= 0)
		return 0;
	trial = find(jobs, row->sweep, row->cell_index);
	if (!trial)
		trial = add(jobs, row->sweep, row->cell_index, &spec->until,
			    err);
	if (!trial)
		return -1;
	store_result(jobs->store, row->origin, read_rate, &rate, NULL);
	count_repeat(&trial->repeats, spec->repeat);
	count_completed(&trial->repeats, rate);
	trial->last = row->id;
	trial->last_attempt = row->attempt;
	return 0;
}

/* Judging. */

static int put_event(struct jobs *jobs, const struct trial *trial,
		     uint64_t next, const char *why, struct error *err)
{
	cJSON *data = cJSON_CreateObject();
	struct event_row row = {
		.job = trial->last,
		.attempt = trial->last_attempt,
		.time_ms = effects_wall_ms(jobs->effects),
		.kind = job_event_name(next ? JOB_EVENT_MORE
					    : JOB_EVENT_ENOUGH),
	};
	char *text;
	int rc;

	if (next)
		cJSON_AddNumberToObject(data, "job", (double)next);
	cJSON_AddStringToObject(data, "text", why);
	text = cJSON_PrintUnformatted(data);
	row.data = text;
	rc = store_put_event(jobs->store, &row, err);
	cJSON_Delete(data);
	cJSON_free(text);
	return rc;
}

static int read_spec(const struct job_row *row, void *arg)
{
	return codec_decode(&job_spec_schema, row->spec, strlen(row->spec), arg,
			    NULL);
}

/* One more job of the cell; only the number of the repeat differs. */
static int submit(struct jobs *jobs, const struct trial *trial,
		  const struct job_spec *like, struct error *err)
{
	struct job_spec spec = { 0 };
	uint32_t repeat;
	int rc;

	if (like)
		spec = *like;
	else if (store_job(jobs->store, trial->last, read_spec, &spec, err) < 0)
		return -1;
	repeat = spec.repeat;
	spec.repeat = trial->repeats.count;
	rc = jobs->life->submit(jobs, trial->sweep, trial->cell_index, &spec,
				err);
	spec.repeat = repeat;
	if (!like)
		codec_clear(&job_spec_schema, &spec);
	return rc;
}

static int decide(struct jobs *jobs, struct trial *trial,
		  const struct job_spec *like, struct error *err)
{
	struct store_mark mark = store_mark(jobs->store);
	uint32_t count = trial->repeats.count;
	uint64_t next = 0;
	char why[240];

	/* Jobs that end because the controller stops say nothing of the cell.
	 */
	if (jobs->draining) {
		drop(jobs, trial);
		return 0;
	}
	if (repeats_more(&trial->repeats, why, sizeof(why)))
		next = store_coming_job(jobs->store);
	if (put_event(jobs, trial, next, why, err) < 0)
		return -1;
	if (next && submit(jobs, trial, like, err) < 0) {
		store_undo(jobs->store, &mark);
		trial->repeats.count = count;
		return -1;
	}
	log_info("job=%" PRIu64 " %s%s", trial->last, why,
		 next ? ": one more" : "");
	jobs->changes->events = true;
	if (!next)
		drop(jobs, trial);
	return 0;
}

int adaptive_repeats_resume(struct jobs *jobs, uint64_t sweep,
			    uint64_t cell_index, const struct job_spec *spec,
			    struct error *err)
{
	struct trial *trial = find(jobs, sweep, cell_index);

	return trial && !trial->active ? decide(jobs, trial, spec, err) : 0;
}

void adaptive_repeats_settle(struct jobs *jobs)
{
	struct trial *trial, *next;

	for (trial = TAILQ_FIRST(&jobs->ended); trial; trial = next) {
		struct error err = { 0 };

		next = TAILQ_NEXT(trial, by_end);
		if (decide(jobs, trial, NULL, &err) == 0)
			continue;
		log_error("job=%" PRIu64 " not repeated: %s", trial->last,
			  err.text);
		if (err.code != ENOENT)
			break; /* tried again in the next turn */
		drop(jobs, trial);
	}
}

void adaptive_repeats_undo(struct jobs *jobs, uint64_t sweep,
			   uint64_t cell_index)
{
	struct trial *trial = find(jobs, sweep, cell_index);

	if (trial && !trial->active)
		drop(jobs, trial);
}

void adaptive_repeats_leave(struct job *job)
{
	struct trial *trial = take(job->trial);

	if (trial && !--trial->active)
		list(job->jobs, trial, true);
}

static void free_one(void *trial)
{
	trial_free(trial);
}

void adaptive_repeats_free_all(struct jobs *jobs)
{
	tdestroy(jobs->trials, free_one);
	jobs->trials = NULL;
	TAILQ_INIT(&jobs->ended);
}
