/* reference_peak.h - what rates are held against: FLOPs of a token, peak of a
 * chip.
 *
 * Every figure comes from the catalog and has its source there. What is not
 * known stays 0 and makes no rate: nothing is guessed.
 */
#pragma once

#include "controller/catalog/catalog.h"
#include "controller/results/formula.h"

#include <stdbool.h>

struct reference_peak {
	struct flops flops;
	bool nominal;        /* flops.parameters are nominal_parameters */
	const char *stage;   /* as given, or the default */
	const char *learns;  /* its word of formula_stages[] */
	double peak_flops;   /* of one device at the precision */
	bool peak_published; /* and not FlagPerf's own figure */
	double memory_bytes; /* of one device */
};

/* model, chip, precision and stage may be NULL; sequence 0: the model's own.
 * stage is one of the model's, or of formula_stages[]; NULL: the model's
 * first, or pretrain. Any other word gives no factor, and learns is NULL.
 * With `exact` the parameters are those counted from the shape, and the peak is
 * the published one; without, they are what tables compute with: the nominal
 * parameters and FlagPerf's own peak, where there are such. What is returned in
 * *reference peak is borrowed from the catalog.
 */
void reference_peak_init(struct reference_peak *reference,
			 const struct model *model, const struct chip *chip,
			 const char *precision, const char *stage,
			 uint32_t sequence, bool exact);
