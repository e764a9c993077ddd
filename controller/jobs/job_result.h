/* job_result.h - the stored result of a job that has ended, and its row in a
 * report.
 */
#ifndef CONTROLLER_JOBS_JOB_RESULT_H
#define CONTROLLER_JOBS_JOB_RESULT_H

#include "controller/cluster/active_job.h"

struct job_row;

/* Put the result of the job's attempt into the store: {"result": result.h or
 * null, "provenance": provenance.h, "series": series.h, and
 * "reason": job_reason.h, where there is one}. A job whose framework
 * says how its log is read, and that exits with 0, fails nevertheless with
 * FAILURE_NO_METRIC when nothing was measured, and with FAILURE_INCOMPLETE when
 * its log ends early.
 */
int job_result_store(struct job *job, struct error *err);

/* A row of the report (report/report.h) from what the store has. stored: the
 * text of its result, or NULL. The caller deletes it.
 */
cJSON *job_result_row(const struct job_row *job, const char *stored);

/* The curves of a stored result, or a null. The caller deletes it. */
cJSON *job_result_series(const char *stored);

#endif
