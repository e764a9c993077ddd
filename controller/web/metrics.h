/* metrics.h - writes the metrics of a controller for Prometheus, at GET
 * /metrics.
 *
 * They contain numbers of jobs and sweeps, names of nodes, and readings, but no
 * names that users chose and no output of jobs. There are values for known
 * nodes and running jobs, and for at most METRICS_DEVICES_MAX devices.
 */
#pragma once

#include "controller/cluster/active_job.h"
#include "controller/jobs/jobs.h"
#include "protocol/http/openmetrics.h"

#define METRICS_DEVICES_MAX 8192

/* Counters since the start of the controller. */
struct counters {
	uint64_t ended[JOB_STATES][FAILURES]; /* jobs by final state, failure */
	struct histogram dispatch; /* from queued to started on all nodes */
	struct histogram commit;   /* commits of the store */
};

/* Called by effects.h when the state of a job changes. */
void counters_changed(struct counters *counters, const struct job *job,
		      enum job_event event, int64_t now_ms);

void metrics_answer(const struct jobs_parts *parts,
		    const struct counters *counters,
		    const struct http_request *request,
		    struct http_reply *reply);
