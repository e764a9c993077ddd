/* sample_claims.h - does a log say what its expect file claims?
 *
 * Claims of an expect file, computed without any extractor: records, their
 * steps and losses, memory, the metrics of the run, results of a suite, rates
 * derived from them, and values that must not be taken.
 */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Does got, of log_view(), meet the claims of the sample of that name? It
 * prints what differs.
 */
bool sample_claims_met(const char *name, const cJSON *expect, const cJSON *got);

/* Is no record's value in the list, of {"metric", "value"}, which a careless
 * rule would take?
 */
bool sample_claims_kept_out(const cJSON *got, const cJSON *list);
