/* time_left.h - estimates the remaining time of a sweep.
 */
#ifndef CONTROLLER_CLI_TIME_LEFT_H
#define CONTROLLER_CLI_TIME_LEFT_H

#include "controller/cli/watched.h"

/* The remaining time in ms; -1: unknown. A running job's steps give its own
 * estimate. Other jobs take as long as earlier jobs of the same cell, else of
 * all cells, as in controller/scheduler/run_times.h. The number of concurrent
 * jobs is assumed to stay. Jobs whose details are unknown count as jobs of an
 * unknown cell.
 */
int64_t time_left(const struct watched_sweep *sweep, int64_t now_ms);

#endif
