/* job.h - the life of a job: submitted, loaded, changed by events, forgotten.
 */
#ifndef CONTROLLER_JOBS_JOB_H
#define CONTROLLER_JOBS_JOB_H

#include "controller/cluster/active_job.h"

struct job_row;

/* Put a new job into the store and the queue, or hold it behind those it goes
 * after (dependencies.h): JOB_EVENT_SUBMIT. On failure rows of it may be queued
 * all the same: go back with store_undo().
 */
int job_submit(struct jobs *jobs, uint64_t sweep, uint64_t cell_index,
	       const struct job_spec *spec, struct error *err);

/* Put a job into the store that is completed already: it has the result and
 * the output of `from`, a job of the same cell: JOB_EVENT_TAKE.
 */
int job_take_over(struct jobs *jobs, uint64_t sweep, uint64_t cell_index,
		  const struct job_spec *spec, const struct job_row *from,
		  struct error *err);

/* Take up a job that the store says is not final. One that holds nodes gets
 * its gang back, with tasks in TASK_NONE: their nodes will report.
 */
int job_load(struct jobs *jobs, const struct job_row *row, struct error *err);

/* Queue a final job of the store again: JOB_EVENT_RETRY, one attempt more; the
 * retries that it may have begin anew.
 */
int job_revive(struct jobs *jobs, const struct job_row *row, struct error *err);

/* The one place where a job's state changes: the event goes to the store with
 * `data` (a JSON object, consumed; or NULL), the state follows from the table,
 * and one line is logged. -1: the table refuses it, or no memory; nothing has
 * changed then.
 */
int job_event(struct job *job, enum job_event event, cJSON *data,
	      struct error *err);

/* What an event tells of a failure; NULL: nothing failed. */
cJSON *job_failure_data(const struct job *job);

/* The job's gang, read from its spec in the store; its tasks hold no node. */
int job_make_gang(struct job *job, struct error *err);
/* Tasks give back what they hold. */
void job_drop_gang(struct job *job);

/* What the rank's container is to be: most of it is still the gang's. The
 * caller drops it.
 */
int task_make_spec(const struct task *task, struct task_spec *spec,
		   struct error *err);
void task_drop_spec(struct task_spec *spec);

/* Forget a job that is final and whose tasks are gone. */
void job_forget(struct job *job);
void job_free_all(struct jobs *jobs);

#endif
