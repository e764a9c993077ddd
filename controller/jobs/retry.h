/* retry.h - queues a job again whose attempt failed for no fault of its own. */
#ifndef CONTROLLER_JOBS_RETRY_H
#define CONTROLLER_JOBS_RETRY_H

#include "controller/cluster/active_job.h"

/* Is the job, whose output is complete, tried again? Failures of the
 * infrastructure are, up to the retries of its spec. An attempt whose node left
 * in time does not count.
 */
bool job_may_retry(const struct job *job);

/* Discard the old attempt, and queue the job again. If that cannot be stored,
 * the next call repeats it.
 */
void job_retry(struct job *job);

#endif
