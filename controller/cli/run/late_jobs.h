/* late_jobs.h - finds out whether any job of a sweep can still end within its
 * allocation.
 */
#ifndef CONTROLLER_CLI_RUN_LATE_JOBS_H
#define CONTROLLER_CLI_RUN_LATE_JOBS_H

#include "controller/cli/calls.h"

/* *all becomes true if no job runs, and at least one waiting job does not start
 * because its nodes leave too soon. This only changes if the allocation is
 * extended or a node comes back.
 */
int late_jobs(struct client *client, uint64_t sweep, bool *all,
	      struct error *err);

#endif
