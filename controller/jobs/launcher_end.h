/* launcher_end.h - detects a launcher that reports a failed process and does
 * not end.
 *
 * Such a launcher may wait at a barrier for the other processes, while those
 * wait for the one that is gone.
 */
#ifndef CONTROLLER_JOBS_LAUNCHER_END_H
#define CONTROLLER_JOBS_LAUNCHER_END_H

#include "controller/cluster/active_job.h"

/* For so long all of the job is silent. torchrun gives its other processes 30 s
 * to end, and says more itself then.
 */
#define LAUNCHER_GRACE_MS 45000

/* Did a launcher of the running gang give up? Then the job has been ended. One
 * whose command asks for restarts of what failed is left alone.
 */
bool launcher_end(struct gang *gang);

#endif
