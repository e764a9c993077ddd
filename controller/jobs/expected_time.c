/* expected_time.c - the expected duration of a job, from similar jobs.
 */
#include "controller/jobs/expected_time.h"
#include "controller/jobs/core.h"
#include "controller/scheduler/run_times.h"
#include "controller/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add_run(const struct job_row *row, void *arg)
{
	if (row->started_ms)
		run_times_add(arg, row->ended_ms - row->started_ms);
	return 0;
}

int cell_time(struct store *store, const char *key, uint32_t *runs,
	      int64_t *median_ms, struct error *err)
{
	struct run_times times = { 0 };

	if (store_runs(store, key, NULL, RUN_TIMES_MAX, add_run, &times, err) <
	    0)
		return -1;
	*runs = times.count;
	*median_ms = run_times_median(&times);
	return 0;
}

static int copy_key(const struct job_row *row, void *arg)
{
	char **key = arg;

	*key = row->key ? strdup(row->key) : NULL;
	return 0;
}

int64_t expected_time(const struct job *job)
{
	struct store *store = job->jobs->store;
	owned_free char *key = NULL;
	struct run_times cell = { 0 }, sweep = { 0 };

	if (store_job(store, job->id, copy_key, &key, NULL) < 0 || !key ||
	    store_runs(store, key, NULL, RUN_TIMES_MAX, add_run, &cell, NULL) <
		    0)
		return 0;
	if (!cell.count)
		store_sweep_runs(store, job->sweep, RUN_TIMES_MAX, add_run,
				 &sweep, NULL);
	return run_times_expected(&cell, &sweep);
}

/* When the last of the suitable nodes that will leave does so; 0: none will. */
static int64_t last_leaves(const struct job *job, const struct slot *slots,
			   size_t count)
{
	int64_t last = 0;

	for (size_t i = 0; i < count; i++)
		if (slot_suits(&slots[i], &job->shape) &&
		    slots[i].until_ms > last)
			last = slots[i].until_ms;
	return last;
}

bool expected_late(const struct job *job, const struct slot *slots,
		   size_t count, char *text, size_t size)
{
	int64_t now_ms = effects_wall_ms(job->jobs->effects);
	int64_t until_ms = last_leaves(job, slots, count);
	int64_t lasts_ms = until_ms ? expected_time(job) : 0;

	if (!lasts_ms ||
	    !shape_late(&job->shape, slots, count, now_ms + lasts_ms))
		return false;
	snprintf(text, size,
		 "runs for about %lld min like others of its cell or sweep; "
		 "its nodes leave in %lld min",
		 (long long)(lasts_ms + 59999) / 60000,
		 (long long)(until_ms - now_ms) / 60000);
	return true;
}
