/* process_ends.h - what a launcher says about how its processes ended.
 *
 * torchrun's blocks, srun's lines and the like name a rank, its host and its
 * exit code in pieces, one line at a time; here they become one entry for each
 * process.
 */
#ifndef CONTROLLER_CAUSES_PROCESS_ENDS_H
#define CONTROLLER_CAUSES_PROCESS_ENDS_H

#include "controller/causes/failure_patterns.h"

#define PROCESS_ENDS_MAX                                                       \
	256 /* processes that are kept; the rest is left out                   \
	     */
#define END_HOST_MAX 64
#define END_UNKNOWN (-1)        /* a rank */
#define END_CODE_UNKNOWN 100000 /* an exit code */

struct process_end {
	int64_t rank;
	char host[END_HOST_MAX]; /* "": not told */
	int32_t exit_code;
	bool root; /* the launcher calls it the first */
	bool task; /* the rank is a launcher's task number */
};

struct process_ends {
	struct process_end entries[PROCESS_ENDS_MAX];
	size_t count;
	bool full;
	bool in_root;
	int64_t reaped; /* local rank whose end was seen first, or -1 */
	int32_t reaped_code;
};

void process_ends_init(struct process_ends *ends);

/* A line that a pattern of FAILURE_FACT matched. */
void process_ends_take(struct process_ends *ends,
		       const struct failure_hit *hit);

/* The process of this rank; NULL: it is not there. */
const struct process_end *process_ends_of_rank(const struct process_ends *ends,
					       int64_t rank);

/* The first that ended with this code; NULL: none did. */
const struct process_end *process_ends_of_code(const struct process_ends *ends,
					       int32_t code);

/* The one that the launcher calls the first, else the first of those with a
 * rank that is not a task's number, else the first; NULL: none is known.
 */
const struct process_end *ends_root(const struct process_ends *ends);

/* The number that a group caught; missing: the group caught nothing. */
int64_t hit_number(const struct failure_hit *hit, enum failure_group group,
		   int64_t missing);

#endif
