/* run_times.c - the expected duration of a job, from similar jobs.
 */
#include "controller/scheduler/run_times.h"

#include <stdlib.h>

void run_times_add(struct run_times *times, int64_t ms)
{
	if (ms > 0 && times->count < RUN_TIMES_MAX)
		times->ms[times->count++] = ms;
}

static int run_times_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

int64_t run_times_median(const struct run_times *times)
{
	struct run_times sorted = *times;
	uint32_t half = sorted.count / 2;

	if (!sorted.count)
		return 0;
	qsort(sorted.ms, sorted.count, sizeof(sorted.ms[0]), run_times_compare);
	if (sorted.count % 2)
		return sorted.ms[half];
	return (sorted.ms[half - 1] + sorted.ms[half]) / 2;
}

int64_t run_times_expected(const struct run_times *cell,
			   const struct run_times *sweep)
{
	return run_times_median(cell->count ? cell : sweep);
}

int64_t run_times_by_steps(int64_t elapsed_ms, uint64_t step, uint64_t steps)
{
	if (!step || steps < step)
		return 0;
	return (int64_t)((double)elapsed_ms * (double)steps / (double)step);
}
