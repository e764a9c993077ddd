/* run_times.h - the expected duration of a job, from similar jobs.
 *
 * It is the median of the last runs of the job's cell, else of its sweep. The
 * scheduler starts no job that would not end in time, and the command line
 * tells when a sweep will end.
 */
#pragma once

#include <stdint.h>

#define RUN_TIMES_MAX 8 /* the last ones count */

/* Starts as zeros. */
struct run_times {
	int64_t ms[RUN_TIMES_MAX];
	uint32_t count;
};

/* Add a run, the newest first. Runs past RUN_TIMES_MAX, and runs without a
 * duration, are ignored.
 */
void run_times_add(struct run_times *times, int64_t ms);

/* 0: there are none. */
int64_t run_times_median(const struct run_times *times);

/* Of its cell's runs, else of its sweep's; 0: unknown. */
int64_t run_times_expected(const struct run_times *cell,
			   const struct run_times *sweep);

/* The duration of a run that has taken `step` of its steps; 0: unknown. */
int64_t run_times_by_steps(int64_t elapsed_ms, uint64_t step, uint64_t steps);
