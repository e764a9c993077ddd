/* formula.h - records to rates: the only place where figures are scaled.
 *
 * Unknown figures are 0 on the way in; a rate that cannot be computed is NaN.
 * FORMULA_VERSION stands in every result: it changes whenever one of these
 * functions would give another number for the same input.
 */
#ifndef CONTROLLER_RESULTS_FORMULA_H
#define CONTROLLER_RESULTS_FORMULA_H

#include <stdint.h>

#define FORMULA_VERSION 1

/* global_batch samples a step * sequence tokens a sample / time of a step. */
double formula_tokens_per_second(uint64_t global_batch, uint32_t sequence,
				 double iteration_ms);

/* samples/s * sequence */
double formula_tokens_from_samples(double samples_per_second,
				   uint32_t sequence);

/* token/p/s: over all devices of the job. */
double formula_per_device(double tokens_per_second, uint64_t devices);

/* Model FLOPs utilisation by 6N: forward 2N and backward 4N FLOPs a token,
 * without the term for attention. As a fraction; parameters and peak FLOPs of
 * one device in plain units.
 */
double formula_mfu_6n(double tokens_per_second_per_device, double parameters,
		      double peak_flops);

#endif
