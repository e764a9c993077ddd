/* metrics.h - makes one figure of each named number of a log.
 *
 *	{"acc": 0.71, "bandwidth_gbps": 182.5}
 *
 * A metric that the program prints for the whole run is its last value; for a
 * rule with `metric` (log_rules.h) it is the mean over all ranks that print
 * it. A metric that is printed for each step is the median after the warm-up.
 */
#ifndef CONTROLLER_RESULTS_METRICS_H
#define CONTROLLER_RESULTS_METRICS_H

#include "controller/results/extract.h"

#include <cjson/cJSON.h>

/* first: index of the first record behind the warm-up. Numbers that are not
 * finite are left out. The caller deletes it; NULL: out of memory.
 */
cJSON *metrics_json(const struct extract *extract, size_t first);

/* The names of metrics_json() for which a call of the rules is true, such as
 * extract_rules_column(). The caller deletes it; NULL: ENOMEM.
 */
typedef bool metrics_rule_fn(const struct extract_rules *rules,
			     const char *name);
cJSON *metrics_names(const struct extract *extract, const cJSON *metrics,
		     metrics_rule_fn *wanted);

/* The number of metrics for the whole run. If there are any, the run is
 * measured even without steps.
 */
size_t metrics_run_count(const struct extract *extract);

#endif
