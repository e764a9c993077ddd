/* counters.h - what a controller counted since it began, for its metrics.
 */
#ifndef CONTROLLER_WEB_COUNTERS_H
#define CONTROLLER_WEB_COUNTERS_H

#include "controller/store/store.h"
#include "protocol/http/openmetrics.h"

struct counters {
	uint64_t ended[JOB_STATES][FAILURES]; /* jobs, by how */
	struct histogram dispatch; /* from queued to started on all nodes */
	struct histogram commit;   /* of the store */
};

/* An event was put with this state (NULL: the state stays). */
void counters_event(struct counters *counters, const struct event_row *event,
		    const struct job_row *state);

void counters_put(const struct counters *counters, struct openmetrics *metrics);

#endif
