/* watched.h - what a follower of a sweep knows of its jobs.
 */
#ifndef CONTROLLER_CLI_WATCHED_H
#define CONTROLLER_CLI_WATCHED_H

#include "protocol/message/reply_jobs.h"
#include "protocol/message/state.h"

#define WATCHED_LOSSES 12

struct watched {
	uint64_t id;
	enum job_state state;
	uint32_t attempt;
	struct job_info *job;         /* as last told; NULL: not remembered */
	float losses[WATCHED_LOSSES]; /* at its last steps */
	size_t losses_count;
};

struct watched_sweep {
	uint64_t id;
	struct watched *jobs; /* by id */
	size_t count;
	size_t states[JOB_STATES]; /* how many jobs are in each */
};

/* For qsort() of pointers to them, as they are shown: what is under way, what
 * failed, what waits, what was cancelled, what completed; each by id.
 */
int watched_by_place(const void *a, const void *b);

#endif
