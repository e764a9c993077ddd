/* recompute.h - a stored result against what its log gives now.
 *
 * A row (controller/report/report.h) says in its setup, in result.inputs and in
 * its provenance all that its figures follow from beside the log.
 */
#ifndef CONTROLLER_RESULTS_RECOMPUTE_H
#define CONTROLLER_RESULTS_RECOMPUTE_H

#include "controller/results/result.h"

/* What the row's setup says of how its log is read and scaled. The caller
 * clears *measure (measure_spec_schema). EPROTO: it says it in another form.
 */
int recompute_measure(const cJSON *row, struct measure_spec *measure,
		      struct error *err);

/* The row's result again, from what a fresh reading of its log gave; samples
 * stay summed up as they are. Of figures only those of flops, peak_flops and
 * chip_memory_bytes are taken, what the catalog says today; all others are
 * those of the row. The caller deletes it.
 */
cJSON *recompute_result(const cJSON *row, const struct measure_spec *measure,
			const struct extract *extract,
			const struct result_input *figures, struct error *err);

/* Where two results differ: an array of {"field": "iteration_ms.median",
 * "stored": ..., "computed": ...}, by the order of the computed one; numbers
 * are the same within a relative 1e-9. The caller deletes it; NULL: ENOMEM.
 */
cJSON *recompute_compare(const cJSON *stored, const cJSON *computed,
			 struct error *err);

/* Add to each difference its "reason": what the row's result and the computed
 * one were computed with, where that is not the same and the field follows from
 * it: log rules (rules: the hash of today's), formulas, what the model and the
 * chip are said to do. ENOMEM.
 */
int recompute_explain(cJSON *differences, const cJSON *row,
		      const cJSON *computed, const char *rules,
		      struct error *err);

#endif
