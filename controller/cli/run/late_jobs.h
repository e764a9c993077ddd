/* late_jobs.h - can anything of a sweep still end in its allocation?
 */
#ifndef CONTROLLER_CLI_RUN_LATE_JOBS_H
#define CONTROLLER_CLI_RUN_LATE_JOBS_H

#include "controller/cli/calls.h"

/* *all: each job that has not ended waits, one of them because its nodes leave
 * too soon. Without jobs that run that stays so, unless the allocation is
 * extended, or a node comes back.
 */
int late_jobs(struct client *client, uint64_t sweep, bool *all,
	      struct error *err);

#endif
