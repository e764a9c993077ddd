/* metrics.h - the named numbers of a log, one figure each.
 *
 *	{"acc": 0.71, "bandwidth_gbps": 182.5}
 *
 * A number that the program told of the whole run is taken as it is, the last
 * one; of a rule with `metric` (log_rules.h) it is the mean over all who told
 *it. Of what was told step by step it is the median behind the warm-up.
 */
#ifndef CONTROLLER_RESULTS_METRICS_H
#define CONTROLLER_RESULTS_METRICS_H

#include "controller/results/extract.h"

#include <cjson/cJSON.h>

/* first: index of the first record behind the warm-up. Numbers that are not
 * finite are left out. The caller deletes it; NULL: out of memory.
 */
cJSON *metrics_json(const struct extract *extract, size_t first);

/* Those names of metrics_json() that tables show. The caller deletes it; NULL:
 * ENOMEM.
 */
cJSON *metrics_columns(const struct extract *extract, const cJSON *metrics);
/* Likewise those that are in percent. */
cJSON *metrics_percents(const struct extract *extract, const cJSON *metrics);

/* How many were told of the whole run: it has been measured then, also when no
 * step was.
 */
size_t metrics_told(const struct extract *extract);

#endif
