/* time_left.c - how long a sweep takes yet.
 */
#include "controller/cli/time_left.h"

#include <stdlib.h>
#include <string.h>

struct took {
	double sum_ms;
	size_t count;
};

static const char *cell_of(const struct watched *job)
{
	return job->job && job->job->cell ? job->job->cell : "";
}

static int by_cell(const void *a, const void *b)
{
	return strcmp(cell_of(*(const struct watched *const *)a),
		      cell_of(*(const struct watched *const *)b));
}

static double elapsed(const struct watched *job, int64_t now_ms)
{
	const struct job_info *info = job->job;
	int64_t end = info && info->ended_ms ? info->ended_ms : now_ms;

	return info && info->started_ms && end > info->started_ms
		       ? (double)(end - info->started_ms)
		       : 0;
}

/* From start to end; 0: nothing says so. */
static double whole(const struct watched *job, int64_t now_ms)
{
	const struct progress_info *progress =
		job->job ? job->job->progress : NULL;

	if (job->state == JOB_COMPLETED)
		return elapsed(job, now_ms);
	if (job->state != JOB_RUNNING || !progress || !progress->step ||
	    progress->steps < progress->step)
		return 0;
	return elapsed(job, now_ms) * (double)progress->steps /
	       (double)progress->step;
}

static void add(struct took *took, double ms)
{
	took->sum_ms += ms;
	took->count += ms > 0;
}

static double mean(const struct took *took)
{
	return took->count ? took->sum_ms / (double)took->count : 0;
}

/* Of jobs of one cell. */
static double cell_left(const struct watched *const *jobs, size_t count,
			double all_mean, int64_t now_ms, double *longest)
{
	struct took took = { 0 };
	double left = 0, expected;

	for (size_t i = 0; i < count; i++)
		add(&took, whole(jobs[i], now_ms));
	expected = took.count ? mean(&took) : all_mean;
	for (size_t i = 0; i < count; i++) {
		double own = whole(jobs[i], now_ms), one;

		if (job_state_final(jobs[i]->state))
			continue;
		one = (own > 0 ? own : expected) - elapsed(jobs[i], now_ms);
		one = one > 0 ? one : 0;
		left += one;
		*longest = one > *longest ? one : *longest;
	}
	return left;
}

int64_t time_left(const struct watched_sweep *sweep, int64_t now_ms)
{
	const struct watched *jobs = sweep->jobs;
	size_t count = sweep->count;
	const struct watched **sorted = calloc(count + 1, sizeof(void *));
	size_t active = 0, open = 0, from = 0;
	double left = 0, longest = 0;
	struct took took = { 0 };

	for (size_t i = 0; sorted && i < count; i++) {
		sorted[i] = &jobs[i];
		add(&took, whole(&jobs[i], now_ms));
		open += !job_state_final(jobs[i].state);
		active += !job_state_final(jobs[i].state) &&
			  jobs[i].state != JOB_QUEUED;
	}
	if (!sorted || !open || !took.count) {
		free(sorted);
		return -1;
	}
	qsort(sorted, count, sizeof(void *), by_cell);
	for (size_t i = 1; i <= count; i++) {
		if (i < count && !by_cell(&sorted[from], &sorted[i]))
			continue;
		left += cell_left(sorted + from, i - from, mean(&took), now_ms,
				  &longest);
		from = i;
	}
	free(sorted);
	left /= (double)(active ? active : 1);
	return (int64_t)(left > longest ? left : longest);
}
