/* dependencies.h - holds jobs that depend on others until those have ended.
 *
 * A job that depends on others (`after`) is not in the scheduler's queue. It is
 * listed with each of them that is not final, and checked again when the last
 * of them completes, or the first fails. Being held is not a state: it follows
 * from the states of the other jobs, which the store has after a restart.
 *
 * A job with `same_nodes` is queued for the nodes of the first job that it
 * depends on, in the order of that job's ranks. If a job fails or is cancelled,
 * those that depend on it fail with FAILURE_SKIPPED and a text that names it:
 * "job 3 (step=train) failed: exit".
 *
 * Cost: a few memory accesses when a job is held and when it is released, and
 * one read of the store for each job that it depends on.
 */
#ifndef CONTROLLER_JOBS_DEPENDENCIES_H
#define CONTROLLER_JOBS_DEPENDENCIES_H

#include "controller/cluster/active_job.h"

/* Copy the ids of the jobs that it depends on. */
int dependencies_init(struct job *job, const struct job_spec *spec,
		      struct error *err);

/* Queue the job: at once without dependencies, else when dependencies_settle()
 * finds the others completed.
 */
int dependencies_queue(struct job *job, struct error *err);

/* The job has become final. */
void dependencies_ended(const struct job *job);

/* Check the jobs whose dependencies changed: hold, queue or skip them. Reads
 * committed jobs only, so call it after a commit. It handles at most some
 * thousand jobs, and then wakes the loop for the rest.
 */
void dependencies_settle(struct jobs *jobs);

/* The job is being freed. */
void dependencies_clear(struct job *job);

/* Why it is held, or why it cannot get the nodes of `same_nodes` yet; false:
 * neither.
 */
bool dependencies_waits(const struct job *job, char *text, size_t size);

#endif
