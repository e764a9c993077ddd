/* usage.h - sums up the samples of a job: power, heat, load, memory, energy.
 *
 * Each node of a job has a stream of samples
 * (protocol/hardware/sample_format.h), which is read here in pieces of any
 * size. The summary of all streams is `usage` in a result (struct
 * usage_summary).
 *
 * Energy is integrated by the trapezoidal rule over the times of the readings.
 * Two readings that are more than USAGE_GAP_INTERVALS intervals apart are a
 * gap, over which energy is not integrated; gaps are reported.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/hardware/device_metrics.h"
#include "protocol/message/result.h"

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#define USAGE_GAP_INTERVALS 5
#define USAGE_CURVES_MAX 64 /* devices whose curves are kept */
#define USAGE_ERRORS_MAX 16 /* different ones kept per node */

/* One stream. */
struct usage;
struct usage *usage_new(struct error *err);
void usage_free(struct usage *usage);
OWNED_POINTER(struct usage, usage_free)

/* The next bytes of the stream. Lines that are no samples are counted and left
 * out. ENOMEM.
 */
int usage_feed(struct usage *usage, const char *data, size_t size,
	       struct error *err);

/* The last reading of the i-th device of the stream; texts are borrowed. False:
 * there are no more devices. latest->job is not set.
 */
bool usage_latest(const struct usage *usage, size_t i,
		  struct device_metrics *latest);

/* A time on the clock of the streams. */
struct usage_span {
	int64_t from_ms, to_ms;
};

/* Sum up the streams of a job (by node rank; NULL: none of that node). steady:
 * when its steady state was; NULL: not known, the whole job counts. The caller
 * clears *to (usage_summary_schema). ENOMEM.
 */
int usage_summarize(const struct usage *const *streams, size_t count,
		    const struct usage_span *steady, struct usage_summary *to,
		    struct error *err);

/* The devices over time, seconds since the first sample of the job, be it of a
 * device or of a host:
 *
 *	[{"node": "n1", "device": "0", "power_w": [[0.5, 401], ...],
 *	  "temp_c": [...], "util_pct": [...], "mem_used_mib": [...]}]
 *
 * of the first USAGE_CURVES_MAX devices. The caller deletes it; NULL: ENOMEM.
 */
cJSON *usage_curves(const struct usage *const *streams, size_t count,
		    struct error *err);

/* The processors of the nodes over time, seconds since the same moment:
 *
 *	[{"node": "n1", "cpu_pct": [[0.5, 12], ...]}]
 *
 * of the first USAGE_CURVES_MAX nodes. As above.
 */
cJSON *usage_host_curves(const struct usage *const *streams, size_t count,
			 struct error *err);

/* The peak memory of each device in MiB, in the order of a summary (or NULL);
 * none unless all devices have one. ENOMEM.
 */
int usage_memories(const struct usage_summary *usage, struct doubles *to,
		   struct error *err);

/* Flag errors of the monitors, gaps, and what devices did that makes a figure
 * one of a worse machine: held clocks, errors of memory and links. ENOMEM.
 */
int usage_remarks(const struct usage_summary *usage, struct result *to,
		  struct error *err);
