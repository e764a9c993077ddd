/* expected_time.c - how long a job is going to take, by those like it.
 */
#include "controller/jobs/expected_time.h"
#include "controller/jobs/core.h"
#include "controller/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 8 /* the last ones of a cell count */

struct run_times {
	int64_t times[RUNS_MAX];
	uint32_t count;
};

static int add_run(const struct job_row *row, void *arg)
{
	struct run_times *runs = arg;

	if (row->started_ms && row->ended_ms >= row->started_ms &&
	    runs->count < RUNS_MAX)
		runs->times[runs->count++] = row->ended_ms - row->started_ms;
	return 0;
}

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t median_time(struct run_times *runs)
{
	size_t half = runs->count / 2;

	if (!runs->count)
		return 0;
	qsort(runs->times, runs->count, sizeof(runs->times[0]), compare_times);
	if (runs->count % 2)
		return runs->times[half];
	return (runs->times[half - 1] + runs->times[half]) / 2;
}

int cell_time(struct store *store, const char *key, uint32_t *runs,
	      int64_t *median_ms, struct error *err)
{
	struct run_times times = { .count = 0 };

	if (store_runs(store, key, NULL, RUNS_MAX, add_run, &times, err) < 0)
		return -1;
	*runs = times.count;
	*median_ms = median_time(&times);
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
	struct run_times like = { .count = 0 };
	int64_t median_ms = 0;
	uint32_t runs = 0;

	if (store_job(store, job->id, copy_key, &key, NULL) < 0 || !key ||
	    cell_time(store, key, &runs, &median_ms, NULL) < 0)
		return 0;
	if (runs)
		return median_ms;
	store_sweep_runs(store, job->sweep, RUNS_MAX, add_run, &like, NULL);
	return median_time(&like);
}

/* The longest that any slot of its kind stays. */
static int64_t longest_left(const struct job *job, const struct slot *slots,
			    size_t count)
{
	int64_t longest = 0;

	for (size_t i = 0; i < count; i++)
		if (slot_suits(&slots[i], &job->shape) &&
		    slots[i].left_ms > longest)
			longest = slots[i].left_ms;
	return longest;
}

bool expected_late(const struct job *job, const struct slot *slots,
		   size_t count, char *text, size_t size)
{
	int64_t left_ms = longest_left(job, slots, count);
	int64_t lasts_ms = left_ms ? expected_time(job) : 0;

	if (!shape_late(&job->shape, slots, count, lasts_ms))
		return false;
	snprintf(text, size,
		 "runs for about %lld min like others of its cell or sweep; "
		 "its nodes leave in %lld min",
		 (long long)(lasts_ms + 59999) / 60000,
		 (long long)left_ms / 60000);
	return true;
}
