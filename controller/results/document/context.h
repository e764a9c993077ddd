/* context.h - reads facts of a cell that its log does not contain and rates
 * need.
 *
 * They come from a JSON object (or YAML map) of numbers. Other keys are
 * ignored, because the same file may serve other purposes.
 */
#ifndef CONTROLLER_RESULTS_DOCUMENT_CONTEXT_H
#define CONTROLLER_RESULTS_DOCUMENT_CONTEXT_H

#include "protocol/yaml/value.h"

#include <stdint.h>

/* 0: unknown, unless said otherwise. */
struct context {
	double seq_length;   /* tokens per sample */
	double global_batch; /* samples per step */
	double grad_accum;   /* micro batches per step */
	double world_size;   /* devices */
	double total_steps;
	double n_params;              /* parameters active per token */
	double peak_flops_per_device; /* FLOP/s */
	double spec_tflops;           /* the same in TFLOP/s */
	double layers;
	double hidden;
	double warmup_steps;   /* last step of the warm-up; -1: detect it */
	double warmup_records; /* records of the warm-up; -1: detect it */
};

/* Set all values to unknown. */
void context_init(struct context *context);

/* Read a file, or a map. EINVAL, with file and line: a number is negative or
 * above 1e18, or a key looks like a misspelling of one above.
 */
int context_read(struct context *context, const char *path, struct error *err);
int context_take(struct context *context, const struct value *map,
		 struct error *err);

#endif
