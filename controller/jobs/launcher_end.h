/* launcher_end.h - detects a launcher that reports a failed process and does
 * not end.
 *
 * Such a launcher may wait at a barrier for the other processes, while those
 * wait for the failed one.
 */
#ifndef CONTROLLER_JOBS_LAUNCHER_END_H
#define CONTROLLER_JOBS_LAUNCHER_END_H

#include "controller/cluster/active_job.h"

/* All ranks must be silent for so long. torchrun gives its other processes 30 s
 * to end, and prints more then.
 */
#define LAUNCHER_GRACE_MS 45000

/* End the job if a launcher of the running gang gave up; true: it did. A job
 * whose command asks for restarts (--max-restarts) is left alone.
 */
bool launcher_end(struct gang *gang);

#endif
