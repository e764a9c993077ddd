/* recompute.h - computes a stored result again from its log, and compares.
 *
 * The setup, result.inputs and provenance of a row (controller/report/report.h)
 * contain everything beside the log that its figures are computed from.
 */
#ifndef CONTROLLER_RESULTS_RECOMPUTE_H
#define CONTROLLER_RESULTS_RECOMPUTE_H

#include "controller/results/result.h"

/* Fill *measure from the row's setup; the caller clears it
 * (measure_spec_schema). EPROTO: the setup is not valid.
 */
int recompute_measure(const cJSON *row, struct measure_spec *measure,
		      struct error *err);

/* Compute the row's result from a new extract of its log. From figures it takes
 * flops, peak_flops and chip_memory_bytes, which the catalog gives today. All
 * other inputs, also the summary of the samples, are those of the row. The
 * caller deletes it.
 */
cJSON *recompute_result(const cJSON *row, const struct measure_spec *measure,
			const struct extract *extract,
			const struct result_input *figures, struct error *err);

/* The differences of two results: an array of {"field": "iteration_ms.median",
 * "stored": ..., "computed": ...}, in the order of the computed one. Numbers
 * within a relative 1e-9 are equal. The caller deletes it; NULL: ENOMEM.
 */
cJSON *recompute_compare(const cJSON *stored, const cJSON *computed,
			 struct error *err);

/* Add a "reason" to each difference: inputs that are not the same for both
 * results and that the field depends on, such as log rules (rules: the hash of
 * today's), formulas, and data of model and chip. ENOMEM.
 */
int recompute_explain(cJSON *differences, const cJSON *row,
		      const cJSON *computed, const char *rules,
		      struct error *err);

#endif
