/* task_status.h - what a node says of a task, kept.
 */
#ifndef CONTROLLER_JOBS_TASK_STATUS_H
#define CONTROLLER_JOBS_TASK_STATUS_H

#include "controller/cluster/active_job.h"

/* Replaces what it said before. The status gives its lists of streams and files
 * away; the rest is copied.
 */
void task_keep_status(struct task *task, struct task_status *status);

#endif
