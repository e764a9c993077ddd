/* rank_ends.h - how the ranks of a job ended, in order of time.
 */
#ifndef CONTROLLER_JOBS_RANK_ENDS_H
#define CONTROLLER_JOBS_RANK_ENDS_H

#include "controller/cluster/active_job.h"

#define RANK_ENDS_MAX 4096 /* that are told; the first ones */

/* [{node, rank, ended_ms, exit_code, signal}], first to last; the times are
 * those of the nodes; job_reason_read() completes it. The caller deletes it;
 * NULL: nothing is known.
 */
cJSON *rank_ends_json(const struct gang *gang);

/* Who failed first, as job_reason_read() tells it, where no output says why:
 * node, rank, exit_code and signal, as far as they are known.
 */
cJSON *rank_ends_reason(const struct gang *gang, const char *how);

/* "rank 1 left first, with 0, 12 s before": where a rank had ended well a
 * second or more before the first that failed, while others ran on; false: it
 * was not so.
 */
bool rank_ends_early(const struct gang *gang, char *text, size_t size);

/* A rank that ended well before the first that failed is the one that the
 * others missed: put it into the reason.
 */
void rank_ends_blame_early(const struct gang *gang, cJSON *reason);

#endif
