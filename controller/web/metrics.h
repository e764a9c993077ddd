/* metrics.h - writes the metrics of a controller for Prometheus, at GET
 * /metrics.
 *
 * They contain numbers of jobs and sweeps, names of nodes, and readings, but no
 * names that users chose and no output of jobs. There are values for known
 * nodes and running jobs, and for at most METRICS_DEVICES_MAX devices.
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
