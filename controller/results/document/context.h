/* context.h - what a log does not say and figures need: the cell it is of.
 *
 * A JSON object (or YAML map) of numbers. Other keys are left alone: the same
 * file may hold more than is used here.
 */
#ifndef CONTROLLER_RESULTS_DOCUMENT_CONTEXT_H
#define CONTROLLER_RESULTS_DOCUMENT_CONTEXT_H

#include "protocol/yaml/value.h"

#include <stdint.h>

/* 0: unknown. */
struct context {
	double seq_length;   /* tokens a sample */
	double global_batch; /* samples a step */
	double grad_accum;   /* micro batches a step */
	double world_size;   /* devices */
	double total_steps;
	double n_params;              /* of one token, those that are used */
	double peak_flops_per_device; /* FLOP/s */
	double spec_tflops;           /* the same as TFLOP/s */
	double layers;
	double hidden;
	double warmup_steps;   /* steps up to this are left out; -1: find it */
	double warmup_records; /* the first so many records are; -1: find it */
};

/* Nothing is known. */
void context_init(struct context *context);

/* From a file, or from a map: a number that is out of range (negative, or above
 * 1e18) is an error that names file and line, and so is a key that is one of
 * these misspelt.
 */
int context_read(struct context *context, const char *path, struct error *err);
int context_take(struct context *context, const struct value *map,
		 struct error *err);

#endif
