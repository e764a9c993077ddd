/* watched.h - the jobs of a followed sweep: their states, order and remaining
 * time.
 */
#pragma once

#include "protocol/message/reply_jobs.h"
#include "protocol/message/state.h"

#define WATCHED_LOSSES 12

struct watched {
	uint64_t id;
	enum job_state state;
	uint32_t attempt;
	struct job_info *job; /* the last report; NULL: details unknown */
	float losses[WATCHED_LOSSES]; /* of its last steps */
	size_t losses_count;
};

struct watched_sweep {
	uint64_t id;
	struct watched *jobs; /* by id */
	size_t count;
	size_t states[JOB_STATES];       /* number of jobs by state */
	char *race, *paused, *probation; /* as in reply_jobs; NULL: none */
};

/* Compare for qsort() of pointers, in the order of the screen: active, failed,
 * waiting, cancelled, completed jobs; each by id.
 */
int watched_by_place(const void *a, const void *b);

/* The remaining time in ms; -1: unknown. A running job's steps give its own
 * estimate. Other jobs take as long as earlier jobs of the same cell, else of
 * all cells, as in controller/scheduler/run_times.h. The number of concurrent
 * jobs is assumed to stay. Jobs whose details are unknown count as jobs of an
 * unknown cell.
 */
int64_t watched_time_left(const struct watched_sweep *sweep, int64_t now_ms);
