/* counters.h - counters of a controller since its start, for its metrics.
 */
#ifndef CONTROLLER_WEB_COUNTERS_H
#define CONTROLLER_WEB_COUNTERS_H

#include "controller/cluster/active_job.h"
#include "protocol/http/openmetrics.h"

struct counters {
	uint64_t ended[JOB_STATES]
		      [FAILURES];  /* jobs by final state and failure */
	struct histogram dispatch; /* from queued to started on all nodes */
	struct histogram commit;   /* commits of the store */
};

/* Called by effects.h when the state of a job changes. */
void counters_changed(struct counters *counters, const struct job *job,
		      enum job_event event, int64_t now_ms);

void counters_put(const struct counters *counters, struct openmetrics *metrics);

#endif
