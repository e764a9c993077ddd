/* counters.c - what a controller counted since it began, for its metrics.
 */
#include "controller/web/counters.h"
#include "controller/cluster/lifecycle.h"

#include <string.h>

void counters_event(struct counters *counters, const struct event_row *event,
		    const struct job_row *state)
{
	static const enum job_event ends[] = { JOB_EVENT_COMPLETE,
					       JOB_EVENT_FAIL,
					       JOB_EVENT_CANCEL };

	if (!state)
		return;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(event->kind, job_event_name(ends[i])))
			counters->ended[state->state][state->failure]++;
	if (!strcmp(event->kind, job_event_name(JOB_EVENT_START)))
		histogram_add(&counters->dispatch,
			      (double)(event->time_ms - state->queued_ms) /
				      1000);
}

void counters_put(const struct counters *counters, struct openmetrics *metrics)
{
	openmetrics_family(metrics, "regatta_jobs_ended", METRIC_COUNTER,
			   "Jobs that ended since the controller began.");
	for (int state = 0; state < JOB_STATES; state++)
		for (int class = 0; class < FAILURES; class ++)
			if (counters->ended[state][class])
				openmetrics_value(metrics,
						  (double)counters
							  ->ended[state][class],
						  "state",
						  job_state_name(state),
						  "class",
						  class ? failure_name(class)
							: "",
						  NULL);
	openmetrics_histogram(metrics, "regatta_job_dispatch_seconds",
			      "From queued to started on all nodes.",
			      &counters->dispatch);
	openmetrics_histogram(metrics, "regatta_store_commit_seconds",
			      "Commits of the store.", &counters->commit);
}
