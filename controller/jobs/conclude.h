/* conclude.h - ends a job whose output is complete: it is tried again, or
 * final.
 */
#ifndef CONTROLLER_JOBS_CONCLUDE_H
#define CONTROLLER_JOBS_CONCLUDE_H

#include "controller/cluster/active_job.h"

/* All tasks have ended, and what they had is here and read: queue the job as a
 * new attempt, or keep it, store its result and have its nodes discard the
 * rest. What fails, say for want of disk, is tried again by the next call. The
 * job may be forgotten afterwards.
 */
void job_conclude(struct job *job);

/* The task's node has nothing of it any more; with the last one a final job is
 * forgotten.
 */
void job_drop_discarded(struct task *task);
void job_forget_removed(struct job *job);

#endif
