/* finish.h - finishes a job whose output is complete. */
#pragma once

#include "controller/cluster/active_job.h"

/* Call it when all tasks have ended and their output is here and read. The job
 * is queued as a new attempt, or its result is stored and its nodes discard the
 * rest. A step that fails, for example on a full disk, is repeated by the next
 * call. May free the job.
 */
void job_finish(struct job *job);

/* The task's node has discarded it. A final job is freed with its last task. */
void job_drop_discarded(struct task *task);
void job_forget_removed(struct job *job);
