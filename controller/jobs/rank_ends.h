/* rank_ends.h - how the ranks of a job ended, in order of time.
 */
#ifndef CONTROLLER_JOBS_RANK_ENDS_H
#define CONTROLLER_JOBS_RANK_ENDS_H

#include "controller/cluster/active_job.h"

#define RANK_ENDS_MAX 4096 /* entries; later ends are left out */

/* [{node, rank, ended_ms, exit_code, signal}], first to last, by the nodes'
 * clocks; job_reason_read() completes it. The caller deletes it; NULL: nothing
 * is known.
 */
cJSON *rank_ends_json(const struct gang *gang);

/* A reason in the form of job_reason_read() where the output has none: node,
 * rank, exit_code and signal of the first rank that failed, if known.
 */
cJSON *rank_ends_reason(const struct gang *gang, const char *how);

/* Did a rank end with 0 at least a second before the first failure, while
 * others ran on? text: "rank 1 left first, with 0, 12 s before".
 */
bool rank_ends_early(const struct gang *gang, char *text, size_t size);

/* In that case the others failed because this rank was missing: put it into the
 * reason.
 */
void rank_ends_blame_early(const struct gang *gang, cJSON *reason);

#endif
