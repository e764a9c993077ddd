/* recompute.h - computes a stored result again from its log, and compares.
 *
 * The setup, result.inputs and provenance of a row (controller/report/report.h)
 * contain everything beside the log that its figures are computed from.
 */
#pragma once

#include "controller/results/result.h"
#include "protocol/message/reply_jobs.h"

/* Compute the row's result from a new extract of its log. From today it takes
 * flops, peak_flops and chip_memory_bytes, which the catalog gives today. All
 * other inputs, also the summary of the samples, are those of the row. The
 * caller clears *to. ENOMEM.
 */
int recompute_result(const struct result_info *row,
		     const struct extract *extract,
		     const struct result_inputs *today, struct result *to,
		     struct error *err);

/* The differences of the row's result and a computed one: an array of
 * {"field": "iteration_ms.median", "stored": ..., "computed": ...,
 * "reason": "..."}, in the order of the computed one. Numbers within a relative
 * 1e-9 are equal; remarks are compared by their sentences. The reason names
 * inputs that are not the same for both results and that the field depends on,
 * such as log rules (rules: the hash of today's), formulas, and data of model
 * and chip. The caller deletes it; NULL: ENOMEM.
 */
cJSON *recompute_compare(const struct result_info *row,
			 const struct result *computed, const char *rules,
			 struct error *err);
