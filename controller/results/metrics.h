/* metrics.h - makes one figure of each named number of a log.
 *
 *	{"acc": 0.71, "bandwidth_gbps": 182.5}
 *
 * A metric that the program prints for the whole run is its last value; for a
 * rule with `metric` (log_rules.h) it is the mean over all ranks that print it.
 * A metric that is printed for each step is the value that its rule takes, by
 * default the median after the warm-up.
 */
#pragma once

#include "controller/results/extract.h"

/* Fill metrics, metric_columns (those that tables show) and metric_percents of
 * the result. first: index of the first record behind the warm-up. Numbers that
 * are not finite are left out. ENOMEM: a part may be filled.
 */
int metrics_compute(const struct extract *extract, size_t first,
		    struct result *to, struct error *err);

/* The number of metrics for the whole run. If there are any, the run is
 * measured even without steps.
 */
size_t metrics_run_count(const struct extract *extract);
