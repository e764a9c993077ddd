/* job_result.h - the stored result of a job that has ended.
 */
#pragma once

#include "controller/cluster/active_job.h"

/* Store the result of the job's attempt (struct stored_result). A job with exit
 * code 0 whose framework has log rules fails with FAILURE_NO_METRIC when
 * nothing was measured, and with FAILURE_INCOMPLETE when its log has too few
 * steps.
 */
int job_result_store(struct job *job, struct error *err);
