/* run_times.h - how long a job is going to take, by those like it.
 *
 * The scheduler starts nothing that would not end in time, and a person is told
 * how long a sweep takes yet: both by the median of the last runs of a job's
 * cell, else of those of its sweep.
 */
#ifndef CONTROLLER_SCHEDULER_RUN_TIMES_H
#define CONTROLLER_SCHEDULER_RUN_TIMES_H

#include <stdint.h>

#define RUN_TIMES_MAX 8 /* the last ones count */

/* Starts as zeros. */
struct run_times {
	int64_t ms[RUN_TIMES_MAX];
	uint32_t count;
};

/* Add a run, the newest first; those past RUN_TIMES_MAX and without a length
 * are left out.
 */
void run_times_add(struct run_times *times, int64_t ms);

/* 0: there are none. */
int64_t run_times_median(const struct run_times *times);

/* Of its cell's runs, else of its sweep's; 0: unknown. */
int64_t run_times_expected(const struct run_times *cell,
			   const struct run_times *sweep);

/* The whole length of a run that has taken so many of its steps; 0: unknown. */
int64_t run_times_by_steps(int64_t elapsed_ms, uint64_t step, uint64_t steps);

#endif
