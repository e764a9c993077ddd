/* timed.h - collects the steps of a log that have a time, and computes their
 * rates.
 */
#ifndef CONTROLLER_RESULTS_DOCUMENT_TIMED_H
#define CONTROLLER_RESULTS_DOCUMENT_TIMED_H

#include "controller/results/document/context.h"
#include "controller/results/document/sections.h"

#include <stdbool.h>

/* The input of derive(); all borrowed. */
struct derive_input {
	const struct extract *extract;
	const struct sections *sections;
	const struct context *context;
};

/* Steps with a time, and the end of the warm-up. */
struct timed {
	double *times; /* of a step, in ms; finite and above 0 */
	uint64_t *steps;
	size_t count;
	size_t first; /* index of the first step after the warm-up */
	double warmup_steps;
};

void timed_clear(struct timed *timed);
OWNED_VALUE(struct timed, timed_clear)

/* The step time of a record in ms; NaN, or not above 0: none. */
typedef double timed_fn(const struct record *record, const void *arg);

/* Collect the steps. The warm-up is that of the context, else it is detected.
 * ENOMEM. The caller clears *timed, also after an error.
 */
int timed_collect(struct timed *timed, const struct derive_input *input,
		  timed_fn *fn, const void *arg, struct error *err);

/* Add samples_per_s, tokens_per_s, tokens_per_s_per_device, mfu_6n and mfu_palm
 * to the object, as far as their factors are known.
 */
void add_rates(cJSON *object, const struct context *context,
	       double samples_per_second);

/* Add a number to the object if it is finite. */
void add_figure(cJSON *object, const char *name, double figure);

/* Add the rates of the steps after the warm-up to the object. */
void add_timed(cJSON *object, const struct context *context,
	       const struct timed *timed);

/* Add the rates without the steps that follow an evaluation. */
void add_unevaluated(cJSON *object, const struct derive_input *input,
		     const struct timed *timed);

#endif
