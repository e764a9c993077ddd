/* formula.h - computes rates: the only place where figures are scaled.
 *
 * Unknown arguments are 0; a rate that cannot be computed is NaN. Every result
 * has FORMULA_VERSION, which changes whenever one of these functions gives
 * another number for the same input. Shares are fractions, never percent.
 * Parameters, FLOP/s and watts are in plain units, times in the unit of their
 * name.
 */
#pragma once

#include "protocol/message/result.h"

#define FORMULA_VERSION 2

/* global_batch samples a step * sequence tokens a sample / time of a step. */
double formula_tokens_per_second(uint64_t global_batch, uint32_t sequence,
				 double iteration_ms);

/* global_batch / time of a step */
double formula_samples_per_second(uint64_t global_batch, double iteration_ms);

/* samples/s * sequence */
double formula_tokens_from_samples(double samples_per_second,
				   uint32_t sequence);

/* token/p/s: over all devices of the job. */
double formula_per_device(double tokens_per_second, uint64_t devices);

/* The inverse of formula_per_device(). */
double formula_over_devices(double tokens_per_second_per_device,
			    uint64_t devices);

/* Energy of all devices in the steady state / tokens in that time. */
double formula_joules_per_token(double joules, double tokens);

/* FLOPs of one parameter for one token, by what is trained:
 *
 *	pretrain, finetune	6: forward 2, and backward 4
 *	projector, frozen, lora	2: forward only, as FlagPerf counts what trains
 *				next to nothing (llava1.5's projector, LoRA)
 *	frozen-4n, lora-4n	4: forward, and the gradient of the activations
 *				through frozen weights. More exact, but not what
 *				published tables use
 *
 * Source: FlagPerf training/benchmarks, each case's run_pretraining.py. An
 * unknown word is 0. formula_stages[] lists the words and ends in NULL.
 */
double formula_stage(const char *stage);
extern const char *const formula_stages[];

enum formula {
	FORMULA_6N,   /* factor * N: what published tables print */
	FORMULA_PALM, /* factor * (N + 2 L h s): with the attention */
	FORMULAS
};
extern const char *const formula_names[FORMULAS + 1]; /* ends in NULL */

/* FLOPs of the model for one token. With factor 6 PaLM's is 6 N + 12 L h s
 * (https://arxiv.org/abs/2204.02311, appendix B); with another factor its term
 * of the attention is scaled like the rest. What a run recomputes is not
 * counted. NaN where the formula needs a figure that is 0.
 */
double formula_flops(enum formula formula, const struct flops *flops);

/* The same with full recomputation, where the forward pass is computed twice:
 * factor + 2, so 8 N for 6 N.
 */
double formula_flops_recomputed(enum formula formula,
				const struct flops *flops);

/* MFU, or HFU with recomputed FLOPs: the share of the peak of one device. */
double formula_utilisation(double tokens_per_second_per_device,
			   double flops_per_token, double peak_flops);
