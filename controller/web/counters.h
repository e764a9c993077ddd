/* counters.h - what a controller counted since it began, for its metrics.
 */
#ifndef CONTROLLER_WEB_COUNTERS_H
#define CONTROLLER_WEB_COUNTERS_H

#include "controller/cluster/active_job.h"
#include "protocol/http/openmetrics.h"

struct counters {
	uint64_t ended[JOB_STATES][FAILURES]; /* jobs, by how */
	struct histogram dispatch; /* from queued to started on all nodes */
	struct histogram commit;   /* of the store */
};

/* effects.h: the job is in another state. */
void counters_changed(struct counters *counters, const struct job *job,
		      enum job_event event, int64_t now_ms);

void counters_put(const struct counters *counters, struct openmetrics *metrics);

#endif
