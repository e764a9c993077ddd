/* time_left.h - how long a sweep takes yet.
 */
#ifndef CONTROLLER_CLI_TIME_LEFT_H
#define CONTROLLER_CLI_TIME_LEFT_H

#include "controller/cli/watched.h"

/* From how long jobs of the same cell took, else those of all cells, as the
 * scheduler expects it (controller/scheduler/run_times.h); a job that knows its
 * steps says itself. As many run at a time as now. -1: not known.
 * Jobs that are not remembered count as those of no known cell.
 */
int64_t time_left(const struct watched_sweep *sweep, int64_t now_ms);

#endif
