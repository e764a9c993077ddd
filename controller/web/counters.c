/* counters.c - counters of a controller since its start, for its metrics. */
#include "controller/web/counters.h"

void counters_changed(struct counters *counters, const struct job *job,
		      enum job_event event, int64_t now_ms)
{
	if (event == JOB_EVENT_COMPLETE || event == JOB_EVENT_FAIL ||
	    event == JOB_EVENT_CANCEL)
		counters->ended[job_state(job)][job_failure(job)]++;
	if (event == JOB_EVENT_START)
		histogram_add(&counters->dispatch,
			      (double)(now_ms - job_queued_ms(job)) / 1000);
}

void counters_put(const struct counters *counters, struct openmetrics *metrics)
{
	openmetrics_family(metrics, "regatta_jobs_ended", METRIC_COUNTER,
			   "Jobs that have ended since the controller "
			   "started.");
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
			      "Time from queued to started on all nodes.",
			      &counters->dispatch);
	openmetrics_histogram(metrics, "regatta_store_commit_seconds",
			      "Commits of the store.", &counters->commit);
}
