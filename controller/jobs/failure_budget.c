/* failure_budget.c - stops a sweep whose commands fail again and again.
 */
#include "controller/jobs/failure_budget.h"
#include "controller/jobs/core.h"
#include "controller/store/store.h"
#include "protocol/base/log.h"

#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

struct failure_budget {
	uint64_t sweep;
	size_t uses;            /* active jobs */
	bool loaded;            /* from the store: */
	uint64_t failed;        /* in class exit */
	bool judged;            /* not by its first jobs, or not any more */
	uint32_t alike;         /* of the first jobs, with this code */
	int64_t code;           /* of the process that failed first */
	bool paused;            /* so it is stored */
	enum budget_stop due;   /* what must be done */
	char text[BUDGET_TEXT]; /* why */
};

static int budget_compare(const void *a, const void *b)
{
	const struct failure_budget *x = a, *y = b;

	return x->sweep < y->sweep ? -1 : x->sweep > y->sweep;
}

static int budget_read_pause(const struct sweep_row *row, void *arg)
{
	struct failure_budget *budget = arg;

	budget->paused = row->paused;
	snprintf(budget->text, sizeof(budget->text), "%s",
		 row->paused ? row->paused : "");
	return 0;
}

struct failure_budget *failure_budget_get(struct jobs *jobs, uint64_t sweep,
					  struct error *err)
{
	struct failure_budget *made = calloc(1, sizeof(*made)), *budget;
	void *place;

	if (!made)
		return error_null(error_nomem(err, "job"));
	made->sweep = sweep;
	place = tsearch(made, &jobs->budgets, budget_compare);
	budget = place ? *(struct failure_budget **)place : NULL;
	if (budget != made)
		free(made);
	if (!budget)
		return error_null(error_nomem(err, "job"));
	/* A sweep that is not stored yet is not paused. */
	if (!budget->uses++)
		store_sweep(jobs->store, sweep, budget_read_pause, budget,
			    NULL);
	return budget;
}

void failure_budget_drop(struct jobs *jobs, struct failure_budget *budget)
{
	if (!budget || --budget->uses)
		return;
	tdelete(budget, &jobs->budgets, budget_compare);
	free(budget);
}

static int budget_count_row(const struct job_row *row, void *arg)
{
	struct failure_budget *budget = arg;

	budget->failed +=
		row->state == JOB_FAILED && row->failure == FAILURE_EXIT;
	return 0;
}

/* What ended before this budget was made. */
static void budget_load(struct failure_budget *budget, struct store *store)
{
	uint64_t counts[JOB_STATES] = { 0 };

	if (budget->loaded ||
	    store_sweep_counts(store, budget->sweep, counts, NULL) < 0)
		return;
	budget->loaded = true;
	budget->judged |= counts[JOB_COMPLETED] > 0;
	if (counts[JOB_FAILED])
		store_jobs(store, budget->sweep, 0, 0, budget_count_row, budget,
			   NULL);
}

static void budget_stop(struct failure_budget *budget, enum budget_stop due,
			struct jobs *jobs)
{
	log_warning("sweep=%" PRIu64 " %s: %s", budget->sweep,
		    due == BUDGET_PAUSES ? "pauses" : "stops", budget->text);
	budget->due = due;
	jobs->stops = true;
}

/* The code of the first process that failed; 0: none is known. */
static int64_t first_exit_code(const struct job *job)
{
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++)
		if (job->gang->tasks[i].exit_code)
			return job->gang->tasks[i].exit_code;
	return 0;
}

/* All jobs of the sweep, as far as they are stored. */
static uint64_t budget_jobs(const struct failure_budget *budget,
			    struct store *store)
{
	uint64_t counts[JOB_STATES] = { 0 }, all = 0;

	store_sweep_counts(store, budget->sweep, counts, NULL);
	for (int state = 0; state < JOB_STATES; state++)
		all += counts[state];
	return all;
}

/* The limit of `stop_after`. */
static void budget_count(struct failure_budget *budget, const struct job *job)
{
	const struct job_spec *spec = &job->gang->spec;
	uint64_t limit = spec->stop_failures;

	budget->failed++;
	if (spec->stop_share > 0) {
		uint64_t all = budget_jobs(budget, job->jobs->store);

		limit = (uint64_t)(spec->stop_share * (double)all);
		limit += limit < spec->stop_share * (double)all;
		limit += !limit;
	}
	if (!limit || budget->failed < limit)
		return;
	snprintf(budget->text, sizeof(budget->text),
		 "the sweep stopped: %" PRIu64
		 " of its jobs failed (stop_after); regatta retry %" PRIu64
		 " runs what is left",
		 budget->failed, budget->sweep);
	budget->failed = 0;
	budget_stop(budget, BUDGET_ENDS, job->jobs);
}

/* The first jobs: do all fail alike? */
static void budget_judge(struct failure_budget *budget, const struct job *job)
{
	bool quick = job->started_ms &&
		     job->ended_ms - job->started_ms <= BUDGET_QUICK_MS;
	int64_t code = job->failure == FAILURE_EXIT ? first_exit_code(job) : 0;

	if (!code || !quick || (budget->alike && code != budget->code)) {
		budget->judged = true;
		return;
	}
	budget->code = code;
	if (++budget->alike < BUDGET_ALIKE)
		return;
	snprintf(budget->text, sizeof(budget->text),
		 "its first %d jobs exited with code %" PRId64
		 "; regatta retry %" PRIu64
		 " runs them and the rest, regatta cancel %" PRIu64 " ends it",
		 BUDGET_ALIKE, code, budget->sweep, budget->sweep);
	budget->alike = 0;
	budget_stop(budget, BUDGET_PAUSES, job->jobs);
}

void failure_budget_ended(const struct job *job)
{
	struct failure_budget *budget = job->budget;
	const struct job_spec *spec;

	if (!job->gang || job->failure == FAILURE_CANCELLED)
		return;
	spec = &job->gang->spec;
	budget_load(budget, job->jobs->store);
	if (spec->stop_failures || spec->stop_share > 0) {
		if (job->failure == FAILURE_EXIT)
			budget_count(budget, job);
	} else if (!spec->stop_never && !budget->judged) {
		budget_judge(budget, job);
	}
}

static struct failure_budget *failure_budget_find(const struct jobs *jobs,
						  uint64_t sweep)
{
	const struct failure_budget key = { .sweep = sweep };
	void *place = tfind(&key, &jobs->budgets, budget_compare);

	return place ? *(struct failure_budget **)place : NULL;
}

static void find_stopping(const void *at, VISIT visit, void *arg)
{
	struct failure_budget *budget = *(struct failure_budget *const *)at;
	struct failure_budget **found = arg;

	if ((visit == postorder || visit == leaf) && budget->due)
		*found = budget;
}

enum budget_stop failure_budget_stops(struct jobs *jobs, uint64_t *sweep,
				      char text[BUDGET_TEXT])
{
	struct failure_budget *found = NULL;

	if (jobs->stops)
		twalk_r(jobs->budgets, find_stopping, &found);
	jobs->stops = found;
	if (!found || (found->due == BUDGET_PAUSES && !found->paused &&
		       store_pause_sweep(jobs->store, found->sweep, found->text,
					 NULL) < 0))
		return BUDGET_NOT;
	found->paused = found->due == BUDGET_PAUSES;
	*sweep = found->sweep;
	snprintf(text, BUDGET_TEXT, "%s", found->text);
	return found->due;
}

void failure_budget_stopped(struct jobs *jobs, uint64_t sweep)
{
	struct failure_budget *budget = failure_budget_find(jobs, sweep);

	/* Its last job may have freed it. */
	if (budget)
		budget->due = BUDGET_NOT;
}

const char *failure_budget_paused(const struct jobs *jobs, uint64_t sweep)
{
	const struct failure_budget *budget = failure_budget_find(jobs, sweep);

	return budget && budget->paused ? budget->text : NULL;
}

bool failure_budget_holds(const struct job *job)
{
	return job->budget->paused;
}

int failure_budget_resume(struct jobs *jobs, uint64_t sweep, struct error *err)
{
	struct failure_budget *budget = failure_budget_find(jobs, sweep);

	if (store_pause_sweep(jobs->store, sweep, NULL, err) < 0)
		return -1;
	budget->paused = false;
	budget->due = BUDGET_NOT;
	return 0;
}
