/* failure_budget.h - stops a sweep whose commands fail again and again.
 *
 * A sweep stops when so many of its jobs failed in class exit, or such a share
 * of all its jobs, as `stop_after` says. Without that key, it stops when the
 * first BUDGET_ALIKE jobs to end all exited with the same code other than 0,
 * each within BUDGET_QUICK_MS of its start. Jobs that are queued then fail as
 * skipped, with a text that says why; jobs that run go on. A retry of the sweep
 * runs all of them again, and counts anew.
 *
 * Nothing is stored but the ends of jobs. After a restart of the controller,
 * failures are counted from the store, and a sweep of which a job completed is
 * not judged by its first jobs.
 */
#ifndef CONTROLLER_JOBS_FAILURE_BUDGET_H
#define CONTROLLER_JOBS_FAILURE_BUDGET_H

#include "controller/cluster/active_job.h"

#define BUDGET_ALIKE 10
#define BUDGET_QUICK_MS 30000

/* The budget that the jobs of a sweep share; NULL: ENOMEM. Each call needs a
 * failure_budget_drop().
 */
struct failure_budget;
struct failure_budget *failure_budget_get(struct jobs *jobs, uint64_t sweep,
					  struct error *err);
void failure_budget_drop(struct jobs *jobs, struct failure_budget *budget);

/* The job has become final. */
void failure_budget_ended(const struct job *job);

/* A sweep whose queued jobs must end now, and why; 0: none. It is given again
 * until failure_budget_stopped().
 */
#define BUDGET_TEXT 200
uint64_t failure_budget_stops(const struct jobs *jobs, char text[BUDGET_TEXT]);
void failure_budget_stopped(struct jobs *jobs, uint64_t sweep);

#endif
