/* rank_ends.h - how the ranks of a job ended, in order of time.
 */
#ifndef CONTROLLER_JOBS_RANK_ENDS_H
#define CONTROLLER_JOBS_RANK_ENDS_H

#include "controller/cluster/active_job.h"
#include "controller/jobs/job_reason.h"

#define RANK_ENDS_MAX 4096 /* entries; later ends are left out */

/* How many ranks the command of the task starts itself, as a launcher does:
 * they share its output, and it is the only process whose end is seen. 0: each
 * process is a rank.
 */
uint32_t task_launches(const struct task *task);

/* Fill *to and its count, which were zero, first to last, by the nodes' clocks;
 * job_reason_read() completes them. None: nothing is known. The caller clears
 * them, also on failure.
 */
int rank_ends_list(const struct gang *gang, struct end_info **to,
		   size_t *to_count, struct error *err);

/* A reason where the output has none: node, rank, exit_code and signal of the
 * first rank that failed, if known.
 */
void rank_ends_reason(const struct gang *gang, struct reason *reason);

/* Did a rank end with 0 at least a second before the first failure, while
 * others ran on? text: "rank 1 exited first, with code 0, 12 s
 * earlier".
 */
bool rank_ends_early(const struct gang *gang, char *text, size_t size);

/* In that case the others failed because this rank was missing: put it into the
 * reason.
 */
void rank_ends_blame_early(const struct gang *gang, struct reason *reason);

#endif
