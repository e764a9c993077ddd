/* usage.h - sums up the samples of a job: power, heat, load, memory, energy.
 *
 * Each node of a job has a stream of samples
 * (protocol/hardware/sample_format.h), which is read here in pieces of any
 * size. The summary of all streams is `usage` in a result:
 *
 *	{"devices": [		by node rank, then index; allocated ones only
 *	   {"node": "n1", "rank": 0, "device": 0, "name": ..., "bus_id": ...,
 *	    "samples": 600,			how often it was read
 *	    "interval_ms": 1000.2,		mean, between readings
 *	    "power_w": {"mean": 401.2, "max": 455.0}, or null; the next five too
 *	    "power_cap_w": {...}, "temp_c": {...}, "util_pct": {...},
 *	    "mem_used_mib": {...}, "mem_used_pct": {...},
 *	    "mem_total_mib": 81920,
 *	    "energy_j": 240712.3, "energy_s": 600.0,	over so much time
 *	    "gaps": 0, "gaps_s": 0}],		and not over these
 *	 "hosts": [{"node": "n1", "rank": 0, "samples": 600, "tool": ...,
 *	    "cpus": ..., "clock": true, "offset_ms": -3, "round_trip_ms": 1,
 *	    "cpu_pct": {"mean", "max"}, ... by host_reading_name()}],
 *	 "power_w": 3209.6,	sum of the means; null if a device lacks one
 *	 "energy_j": 1925698.4,	sum over the devices; null if one lacks it
 *	 "mem_used_mib": 71680, "mem_total_mib": 81920,	  peak of the fullest
 *					device, and what that one has
 *	 "errors": [{"node": "n1", "text": "...", "count": 2}],
 *	 "broken_lines": 0}
 *
 * Energy is integrated by the trapezoidal rule over the times of the readings.
 * Two readings that are more than USAGE_GAP_INTERVALS intervals apart are a
 * gap, over which energy is not integrated; gaps are reported.
 */
#ifndef CONTROLLER_RESULTS_USAGE_H
#define CONTROLLER_RESULTS_USAGE_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/hardware/device_metrics.h"

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

/* The summary of the streams of a job (by node rank; NULL: none of that node).
 * The caller deletes it; NULL with ENOMEM.
 */
cJSON *usage_summary(const struct usage *const *streams, size_t count,
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

/* The peak memory of each device in MiB, in the order of a summary (or NULL).
 * JSON null unless all devices have one. The caller deletes it; NULL:
 * ENOMEM.
 */
cJSON *usage_memories(const cJSON *usage);

/* Add sentences about errors of the monitors, and about gaps, to a list. usage:
 * a summary. *failed becomes true if memory runs out.
 */
void usage_warnings(const cJSON *usage, cJSON *list, bool *failed);

#endif
