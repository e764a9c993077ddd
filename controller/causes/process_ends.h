/* process_ends.h - how processes ended, as their launcher reports it.
 *
 * torchrun, srun and others print rank, host and exit code of a process in
 * several lines. This module collects them into one entry for each process.
 */
#pragma once

#include "controller/causes/failure_patterns.h"

#define PROCESS_ENDS_MAX 256 /* further processes are left out */
#define END_HOST_MAX 64
#define END_UNKNOWN (-1)        /* a rank */
#define END_CODE_UNKNOWN 100000 /* an exit code */

struct process_end {
	int64_t rank;
	int64_t local_rank;      /* on its node */
	char host[END_HOST_MAX]; /* "": unknown */
	char time[24];           /* of its end, as printed; "": unknown */
	int32_t exit_code;
	bool root; /* the launcher names it as the first failure */
	bool task; /* rank is the launcher's task number */
};

struct process_ends {
	struct process_end entries[PROCESS_ENDS_MAX];
	size_t count;
	bool full;
	uint32_t stopped; /* by the launcher, as another one had failed */
	bool in_root;
	char time[24];  /* of the process whose lines follow */
	int64_t reaped; /* local rank whose end was seen first, or -1 */
	int32_t reaped_code;
};

void process_ends_init(struct process_ends *ends);

/* A line that a pattern of FAILURE_FACT matched. */
void process_ends_take(struct process_ends *ends,
		       const struct failure_hit *hit);

/* The process of this rank, or NULL. */
const struct process_end *process_ends_of_rank(const struct process_ends *ends,
					       int64_t rank);

/* The first that ended with this code, if possible the one that the launcher
 * names as the first failure; NULL: none did.
 */
const struct process_end *process_ends_of_code(const struct process_ends *ends,
					       int32_t code);

/* The process that the launcher names as the first failure; else the first one
 * with a rank that is not a task number; else the first one; NULL: none.
 */
const struct process_end *process_ends_root(const struct process_ends *ends);

/* Did another process end with the same positive code, at the same time as far
 * as is known? Then it is as likely the first one.
 */
bool process_ends_alike(const struct process_ends *ends,
			const struct process_end *end);

/* The number that a group captured; `missing` if it captured none. */
int64_t hit_number(const struct failure_hit *hit, enum failure_group group,
		   int64_t missing);
