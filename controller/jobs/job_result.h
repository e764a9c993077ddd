/* job_result.h - the stored result of a job that has ended, and its row in a
 * report.
 */
#ifndef CONTROLLER_JOBS_JOB_RESULT_H
#define CONTROLLER_JOBS_JOB_RESULT_H

#include "controller/cluster/active_job.h"

struct job_row;

/* Store the result of the job's attempt: {"result": result.h or null,
 * "provenance": provenance.h, "series": series.h, "reason": job_reason.h, if
 * there is one}. A job with exit code 0 whose framework has log rules fails
 * with FAILURE_NO_METRIC when nothing was measured, and with FAILURE_INCOMPLETE
 * when its log has too few steps.
 */
int job_result_store(struct job *job, struct error *err);

/* A row of the report (report/report.h). stored: the text of its stored result,
 * or NULL. The caller deletes it.
 */
cJSON *job_result_row(const struct job_row *job, const char *stored);

/* The curves of a stored result, or a JSON null. The caller deletes it. */
cJSON *job_result_series(const char *stored);

#endif
