/* watched.c - the jobs of a followed sweep: their order and remaining time.
 */
#include "controller/cli/watched.h"
#include "controller/scheduler/run_times.h"

#include <stdlib.h>
#include <string.h>

static const unsigned places[JOB_STATES] = {
	[JOB_FAILED] = 1,
	[JOB_QUEUED] = 2,
	[JOB_CANCELLED] = 3,
	[JOB_COMPLETED] = 4,
};

int watched_by_place(const void *a, const void *b)
{
	const struct watched *x = *(const struct watched *const *)a;
	const struct watched *y = *(const struct watched *const *)b;

	if (places[x->state] != places[y->state])
		return places[x->state] < places[y->state] ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* The remaining time. */

static const char *watched_cell(const struct watched *job)
{
	return job->job && job->job->cell ? job->job->cell : "";
}

static int64_t end_of(const struct watched *job)
{
	return job->job && job->job->ended_ms ? job->job->ended_ms : INT64_MAX;
}

/* Running jobs first, then the jobs that ended last. */
static int by_age(const void *a, const void *b)
{
	int64_t x = end_of(*(const struct watched *const *)a);
	int64_t y = end_of(*(const struct watched *const *)b);

	return x > y ? -1 : x < y;
}

static int compare_cells(const struct watched *a, const struct watched *b)
{
	return strcmp(watched_cell(a), watched_cell(b));
}

static int watched_by_cell(const void *a, const void *b)
{
	int order = compare_cells(*(const struct watched *const *)a,
				  *(const struct watched *const *)b);

	return order ? order : by_age(a, b);
}

static int64_t elapsed(const struct watched *job, int64_t now_ms)
{
	const struct job_info *info = job->job;
	int64_t end = info && info->ended_ms ? info->ended_ms : now_ms;

	return info && info->started_ms && end > info->started_ms
		       ? end - info->started_ms
		       : 0;
}

/* The expected or measured time of the whole job; 0: unknown. */
static int64_t watched_whole_time(const struct watched *job, int64_t now_ms)
{
	const struct progress_info *progress =
		job->job ? job->job->progress : NULL;

	if (job->state == JOB_COMPLETED)
		return elapsed(job, now_ms);
	if (job->state != JOB_RUNNING || !progress)
		return 0;
	return run_times_by_steps(elapsed(job, now_ms), progress->step,
				  progress->steps);
}

static void watched_add_times(struct run_times *times,
			      const struct watched *const *jobs, size_t count,
			      int64_t now_ms)
{
	for (size_t i = 0; i < count; i++)
		run_times_add(times, watched_whole_time(jobs[i], now_ms));
}

/* The remaining time of the jobs of one cell, one after the other. */
static int64_t cell_left(const struct watched *const *jobs, size_t count,
			 const struct run_times *all, int64_t now_ms,
			 int64_t *longest)
{
	struct run_times times = { 0 };
	int64_t left = 0, expected;

	watched_add_times(&times, jobs, count, now_ms);
	expected = run_times_expected(&times, all);
	for (size_t i = 0; i < count; i++) {
		int64_t own = watched_whole_time(jobs[i], now_ms), one;

		if (job_state_final(jobs[i]->state))
			continue;
		one = (own > 0 ? own : expected) - elapsed(jobs[i], now_ms);
		one = one > 0 ? one : 0;
		left += one;
		*longest = one > *longest ? one : *longest;
	}
	return left;
}

int64_t watched_time_left(const struct watched_sweep *sweep, int64_t now_ms)
{
	const struct watched *jobs = sweep->jobs;
	size_t count = sweep->count;
	const struct watched **sorted = calloc(count + 1, sizeof(void *));
	size_t active = 0, open = 0, from = 0;
	struct run_times all = { 0 };
	int64_t left = 0, longest = 0;

	for (size_t i = 0; sorted && i < count; i++) {
		sorted[i] = &jobs[i];
		open += !job_state_final(jobs[i].state);
		active += !job_state_final(jobs[i].state) &&
			  jobs[i].state != JOB_QUEUED;
	}
	if (sorted && open) {
		qsort(sorted, count, sizeof(void *), by_age);
		watched_add_times(&all, sorted, count, now_ms);
	}
	if (!all.count) {
		free(sorted);
		return -1;
	}
	qsort(sorted, count, sizeof(void *), watched_by_cell);
	for (size_t i = 1; i <= count; i++) {
		if (i < count && !compare_cells(sorted[from], sorted[i]))
			continue;
		left += cell_left(sorted + from, i - from, &all, now_ms,
				  &longest);
		from = i;
	}
	free(sorted);
	left /= (int64_t)(active ? active : 1);
	return left > longest ? left : longest;
}
