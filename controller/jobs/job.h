/* job.h - the life of a job: submitted, loaded, changed by events, freed.
 */
#pragma once

#include "controller/cluster/active_job.h"

struct job_row;

/* Put a new job into the store and the queue, or hold it for its dependencies
 * (dependencies.h): JOB_EVENT_SUBMIT. On failure some of its rows may be
 * queued: call store_undo().
 */
int job_submit(struct jobs *jobs, uint64_t sweep, uint64_t cell_index,
	       const struct job_spec *spec, struct error *err);

/* Put a job into the store that is completed at once, with the result and the
 * output of `from`, a job of the same cell: JOB_EVENT_TAKE.
 */
int job_take_over(struct jobs *jobs, uint64_t sweep, uint64_t cell_index,
		  const struct job_spec *spec, const struct job_row *from,
		  struct error *err);

/* Load a job from the store that is not final. If it holds nodes, it gets a
 * gang with tasks in TASK_NONE, whose states come with the nodes' reports.
 */
int job_load(struct jobs *jobs, const struct job_row *row, struct error *err);

/* Was the job left out because the cell that it follows lost its race? After a
 * retry of the race that cell may win.
 */
bool job_lost_race(const struct job_row *row);

/* Queue a final job of the store again: JOB_EVENT_RETRY, with one attempt more.
 * Its automatic retries are counted from there.
 */
int job_revive(struct jobs *jobs, const struct job_row *row, struct error *err);

/* Put a queued job into the queue, unless it is held: by its dependencies, its
 * race, or a pause of its sweep. job_enqueue(): only by a pause.
 */
int job_queue(struct job *job, struct error *err);
int job_enqueue(struct job *job, struct error *err);

/* Apply an event; the only function that changes a job's state. The event is
 * stored with `data` (a JSON object, consumed; or NULL), the state follows from
 * the table, and one line is logged. -1: the table does not allow it, or
 * ENOMEM; nothing has changed then.
 */
int job_event(struct job *job, enum job_event event, cJSON *data,
	      struct error *err);

/* The `data` of an event about a failure; NULL: nothing failed. */
cJSON *job_failure_data(const struct job *job);

/* Make the job's gang from its spec in the store; its tasks hold no nodes. */
int job_make_gang(struct job *job, struct error *err);
/* Free the gang; its tasks release their nodes and devices. */
void job_drop_gang(struct job *job);

/* The spec for the task's agent. Most of it is borrowed from the gang; the
 * caller drops it.
 */
int task_make_spec(const struct task *task, struct task_spec *spec,
		   struct error *err);
void task_drop_spec(struct task_spec *spec);

/* Free a job that is final and whose tasks are discarded. */
void job_forget(struct job *job);
void job_free_all(struct jobs *jobs);
