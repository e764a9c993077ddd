/* failure_budget.h - stops a sweep whose commands fail again and again.
 *
 * A sweep ends when so many of its jobs failed in class exit, or such a share
 * of all its jobs, as `stop_after` says: jobs that are queued then fail as
 * skipped, with a text that says why. Without that key, it is paused when the
 * first BUDGET_ALIKE jobs to end all exited with the same code other than 0,
 * each within BUDGET_QUICK_MS of its start: jobs that are queued wait until a
 * person retries or cancels the sweep. Jobs that run go on. A retry runs failed
 * jobs again, and counts anew.
 *
 * Ends of jobs and the pause are stored. After a restart of the controller,
 * failures are counted from the store, and a sweep of which a job completed is
 * not judged by its first jobs.
 */
#pragma once

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

enum budget_stop {
	BUDGET_NOT,
	BUDGET_ENDS,   /* its queued jobs must end */
	BUDGET_PAUSES, /* its queued jobs must wait; so it is stored */
};

/* A sweep whose queued jobs must end or wait now, and why. It is given again
 * until failure_budget_stopped().
 */
#define BUDGET_TEXT 200
enum budget_stop failure_budget_stops(struct jobs *jobs, uint64_t *sweep,
				      char text[BUDGET_TEXT]);
void failure_budget_stopped(struct jobs *jobs, uint64_t sweep);

/* Why the sweep is paused; NULL: it is not, or has no active job. Borrowed
 * until the next change of a job.
 */
const char *failure_budget_paused(const struct jobs *jobs, uint64_t sweep);

/* Must the queued job wait, because its sweep is paused? */
bool failure_budget_holds(const struct job *job);

/* A paused sweep is not paused any more; its queued jobs must be queued again.
 */
int failure_budget_resume(struct jobs *jobs, uint64_t sweep, struct error *err);
