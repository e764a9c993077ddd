/* job_result.h - the stored result of a job that has ended.
 */
#pragma once

#include "controller/cluster/active_job.h"
#include "protocol/message/result.h"

/* Fill *to, which was zero, with all but the ends and the reason
 * (failure_reason.h); shared: the part of it that is stored once for all jobs
 * of a sweep. The caller clears both, also on failure. A job with exit code 0
 * whose framework has log rules fails with FAILURE_NO_METRIC when nothing was
 * measured, and with FAILURE_INCOMPLETE when its log has too few steps.
 */
int job_result_make(struct job *job, struct stored_result *to, char **shared,
		    struct error *err);

/* Store it as that of the job's attempt. */
int job_result_store(const struct job *job, const struct stored_result *stored,
		     const char *shared, struct error *err);
