/* timed.h - the steps of a log that say how long they took, and their rates.
 */
#ifndef CONTROLLER_RESULTS_DOCUMENT_TIMED_H
#define CONTROLLER_RESULTS_DOCUMENT_TIMED_H

#include "controller/results/document/context.h"
#include "controller/results/document/sections.h"

#include <stdbool.h>

/* What figures are derived from. */
struct derive_input {
	const struct extract *extract;
	const struct sections *sections;
	const struct context *context;
};

/* Steps with a time, and where their warm-up ends. */
struct timed {
	double *times; /* of a step, in ms; finite and above 0 */
	uint64_t *steps;
	size_t count;
	size_t first; /* behind the warm-up */
	double warmup_steps;
};

void timed_clear(struct timed *timed);
OWNED_VALUE(struct timed, timed_clear)

/* The time of a step of this record, in ms; not above 0, or NaN: none. */
typedef double timed_fn(const struct record *record, const void *arg);

/* Collect them; the warm-up is the context's, else it is found. ENOMEM. */
int timed_collect(struct timed *timed, const struct derive_input *input,
		  timed_fn *fn, const void *arg, struct error *err);

/* Rates of samples/s: samples_per_s, tokens_per_s, tokens_per_s_per_device,
 * mfu_6n, mfu_palm into the object, as far as they are known.
 */
void add_rates(cJSON *object, const struct context *context,
	       double samples_per_second);

/* A number that is finite into the object; others are left out. */
void add_figure(cJSON *object, const char *name, double figure);

/* The rates of the timed steps from `first` on, into the object. */
void add_timed(cJSON *object, const struct derive_input *input,
	       const struct timed *timed, size_t first, double warmup_steps);

/* Without the steps behind an evaluation. */
void add_unevaluated(cJSON *object, const struct derive_input *input,
		     const struct timed *timed);

#endif
