/* repeats.c - the repeats of cells that are repeated until their rate is known.
 */
#include "controller/jobs/repeats.h"
#include "controller/jobs/core.h"
#include "controller/store/store.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static int compare_trials(const void *a, const void *b)
{
	const struct trial *x = a, *y = b;

	if (x->sweep != y->sweep)
		return x->sweep < y->sweep ? -1 : 1;
	return x->cell_index < y->cell_index ? -1
					     : x->cell_index > y->cell_index;
}

struct trial *trial_find(const struct jobs *jobs, uint64_t sweep,
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

static struct trial *trial_add(struct jobs *jobs, uint64_t sweep,
			       uint64_t cell_index,
			       const struct until_spec *until,
			       struct error *err)
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

static void trial_list_ended(struct jobs *jobs, struct trial *trial, bool ended)
{
	if (trial->ended == ended)
		return;
	trial->ended = ended;
	if (ended)
		TAILQ_INSERT_TAIL(&jobs->ended, trial, by_end);
	else
		TAILQ_REMOVE(&jobs->ended, trial, by_end);
}

void trial_drop(struct jobs *jobs, struct trial *trial)
{
	trial_list_ended(jobs, trial, false);
	tdelete(trial, &jobs->trials, compare_trials);
	trial_free(trial);
}

static void trial_count_repeat(struct repeats *repeats, uint32_t repeat)
{
	if (repeat >= repeats->count)
		repeats->count = repeat + 1;
}

static void trial_count_completed(struct repeats *repeats, double rate)
{
	repeats->completed++;
	if (rate > 0 && repeats->rates_count < repeats->until.max)
		repeats->rates[repeats->rates_count++] = rate;
}

static int trial_read_rate(const struct result_row *row, void *arg)
{
	struct stored_result stored;

	if (codec_decode_other(&stored_figures_schema, row->json,
			       strlen(row->json), &stored, NULL) == 0 &&
	    stored.result)
		*(double *)arg = result_rate(stored.result).value;
	codec_clear(&stored_figures_schema, &stored);
	return 0;
}

struct history {
	struct jobs *jobs;
	struct repeats *repeats;
};

static int trial_add_history(const struct job_row *row, void *arg)
{
	struct history *history = arg;
	double rate = 0;

	trial_count_repeat(history->repeats, row->repeat);
	if (row->state != JOB_COMPLETED)
		return 0;
	store_result(history->jobs->store, row->id, trial_read_rate, &rate,
		     NULL);
	trial_count_completed(history->repeats, rate);
	return 0;
}

int repeats_join(struct job *job, uint32_t repeat, bool fresh,
		 struct error *err)
{
	struct trial *trial;
	struct history history = { .jobs = job->jobs };

	if (job->until.width <= 0 || job->trial)
		return 0;
	trial = trial_find(job->jobs, job->sweep, job->cell_index);
	if (!trial) {
		trial = trial_add(job->jobs, job->sweep, job->cell_index,
				  &job->until, err);
		if (!trial)
			return -1;
		history.repeats = &trial->repeats;
		if (!fresh &&
		    store_cell(job->jobs->store, job->sweep, job->cell_index,
			       trial_add_history, &history, err) < 0) {
			trial_drop(job->jobs, trial);
			return -1;
		}
	}
	trial_list_ended(job->jobs, trial, false);
	trial_count_repeat(&trial->repeats, repeat);
	trial->active++;
	job->trial = trial;
	return 0;
}

void repeats_ended(struct job *job)
{
	struct trial *trial = take(job->trial);

	if (!trial)
		return;
	trial->last = job->id;
	trial->last_attempt = job->attempt;
	if (job->state == JOB_COMPLETED)
		trial_count_completed(&trial->repeats, job->rate.value);
	else if (job->state == JOB_CANCELLED || job->failure == FAILURE_SKIPPED)
		trial->repeats.given_up = true;
	if (!--trial->active)
		trial_list_ended(job->jobs, trial, true);
}

int repeats_taken(struct jobs *jobs, const struct job_row *row,
		  const struct job_spec *spec, struct error *err)
{
	struct trial *trial;
	double rate = 0;

	if (spec->until.width <= 0)
		return 0;
	trial = trial_find(jobs, row->sweep, row->cell_index);
	if (!trial)
		trial = trial_add(jobs, row->sweep, row->cell_index,
				  &spec->until, err);
	if (!trial)
		return -1;
	store_result(jobs->store, row->origin, trial_read_rate, &rate, NULL);
	trial_count_repeat(&trial->repeats, spec->repeat);
	trial_count_completed(&trial->repeats, rate);
	trial->last = row->id;
	trial->last_attempt = row->attempt;
	return 0;
}

void repeats_undo(struct jobs *jobs, uint64_t sweep, uint64_t cell_index)
{
	struct trial *trial = trial_find(jobs, sweep, cell_index);

	if (trial && !trial->active)
		trial_drop(jobs, trial);
}

void repeats_leave(struct job *job)
{
	struct trial *trial = take(job->trial);

	if (trial && !--trial->active)
		trial_list_ended(job->jobs, trial, true);
}

static void trial_free_one(void *trial)
{
	trial_free(trial);
}

void repeats_free_all(struct jobs *jobs)
{
	tdestroy(jobs->trials, trial_free_one);
	jobs->trials = NULL;
	TAILQ_INIT(&jobs->ended);
}
