/* dependencies.h - holds jobs that depend on others until those have ended.
 *
 * A job that goes after others is not in the scheduler's queue. It is listed
 * behind each of them that is not final. It is looked at again when the last of
 * these completes, or the first fails. To be held is no state of its own: it
 * follows from the states of the other jobs, which the store has after a
 * restart.
 *
 * A job that shares the nodes of the first one it goes after is queued pinned
 * to them, in the order of that job's ranks. A job behind one that failed or
 * was cancelled fails, too, with FAILURE_SKIPPED and a text that names the
 * first that did: "job 3 (step=train) failed: exit".
 *
 * Cost: a few memory accesses when a job is held and when it is released, and
 * one read of the store for each job that it goes after. Held jobs cost nothing
 * in between.
 */
#ifndef CONTROLLER_JOBS_DEPENDENCIES_H
#define CONTROLLER_JOBS_DEPENDENCIES_H

#include "controller/cluster/active_job.h"

/* Keep what the job goes after; ids of jobs. */
int dependencies_init(struct job *job, const struct job_spec *spec,
		      struct error *err);

/* Queue the job: at once when it goes after nothing, else when
 * dependencies_settle() finds the others completed.
 */
int dependencies_queue(struct job *job, struct error *err);

/* The job has become final. */
void dependencies_ended(const struct job *job);

/* Look at the jobs of which something changed: hold, queue or skip them.
 * Reads committed jobs only, so call it after a commit; at most some thousand
 * at a time, then it wakes the loop for the rest.
 */
void dependencies_settle(struct jobs *jobs);

/* The job is forgotten: it is listed nowhere any more. */
void dependencies_clear(struct job *job);

/* Why it is held, or what keeps it from the nodes that it is pinned to; false:
 * neither.
 */
bool dependencies_waits(const struct job *job, char *text, size_t size);

#endif
