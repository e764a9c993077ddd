/* step_rate.c - the rate of one step of a log. */
#include "controller/results/step_rate.h"

#include "controller/results/formula.h"

#include <math.h>

/* The number, or the other one if that is not known. */
static double known_or(double number, double other)
{
	return isfinite(number) ? number : other;
}

struct rate step_rate(const struct record *record,
		      const struct measure_spec *measure, uint64_t devices)
{
	double ms = record_value(record, RECORD_ITERATION_MS);
	double samples =
		known_or(formula_samples_per_second(measure->global_batch, ms),
			 record_value(record, RECORD_SAMPLES_PER_SECOND));
	double tokens = formula_per_device(
		known_or(formula_tokens_per_second(measure->global_batch,
						   measure->sequence, ms),
			 record_value(record, RECORD_TOKENS_PER_SECOND)),
		devices);

	tokens = known_or(tokens,
			  record_value(record, RECORD_TOKENS_PER_DEVICE));
	tokens =
		known_or(tokens,
			 formula_per_device(formula_tokens_from_samples(
						    samples, measure->sequence),
					    devices));
	return rate_of(tokens, samples, devices, 1000 / ms);
}
