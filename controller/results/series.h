/* series.h - what a job measured, step by step, short enough to keep.
 *
 *	{"loss": [[step, value] ...], "tokens_per_second": [[step, value] ...]}
 *
 * values are numbers, or null for NaN and infinite ones. tokens_per_second is
 * over all devices: from the step time and the batch, or as the program said;
 * what no step has is an empty list. Of a long training the steps stay whose
 * number is divisible by a power of two, the same for every job of this length:
 * so the curves of two jobs have steps in common.
 */
#ifndef CONTROLLER_RESULTS_SERIES_H
#define CONTROLLER_RESULTS_SERIES_H

#include "controller/results/extract.h"
#include "protocol/base/error.h"
#include "protocol/message/spec.h"

#include <cjson/cJSON.h>

#define SERIES_STEPS_MAX 1024

/* The caller deletes it. NULL: ENOMEM. */
cJSON *series_new(const struct record *records, size_t count,
		  const struct measure_spec *measure, struct error *err);

/* How far the losses of two series lie apart. */
struct alignment {
	uint64_t steps;  /* compared: in both, from from_step on, both finite */
	double mean;     /* of |a - b| / |b|; NaN without steps */
	double largest;  /* of them */
	uint64_t at;     /* the step of the largest */
	uint64_t broken; /* steps where only one of the two is finite */
};

/* Compare a series with its baseline. */
void series_align(const cJSON *series, const cJSON *baseline,
		  uint64_t from_step, struct alignment *alignment);

#endif
