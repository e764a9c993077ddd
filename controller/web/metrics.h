/* metrics.h - the figures of a controller for Prometheus, at GET /metrics.
 *
 * Numbers of jobs and sweeps, names of nodes, readings: nothing of what users
 * call things or what jobs print. There are values for the nodes that are
 * known and the jobs that run, METRICS_DEVICES_MAX devices at most.
 */
#ifndef CONTROLLER_WEB_METRICS_H
#define CONTROLLER_WEB_METRICS_H

#include "controller/jobs/jobs.h"
#include "controller/web/counters.h"

#define METRICS_DEVICES_MAX 8192

void metrics_answer(const struct jobs_parts *parts,
		    const struct counters *counters,
		    const struct http_request *request,
		    struct http_reply *reply);

#endif
