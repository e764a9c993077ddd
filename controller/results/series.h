/* series.h - keeps the loss and rate of a job over its steps, in bounded size.
 *
 *	{"loss": [[step, value] ...], "rate": [[step, value] ...],
 *	 "rate_unit": "token/p/s"}
 *
 * A value is a number, or null for NaN and infinite ones. The rate is that of
 * each step. A curve without values is an empty list. Of a long training the
 * first step of each 2, 4, 8, ... successive numbers is kept. How many depends
 * only on the length, so the curves of two equally long jobs have steps in
 * common.
 */
#pragma once

#include "controller/results/extract.h"
#include "controller/results/rules/record.h"
#include "protocol/base/error.h"
#include "protocol/message/rate.h"
#include "protocol/message/spec.h"

#include <cjson/cJSON.h>

/* The rate of one step of a log. */

/* By the step time and the batch, else as the program printed it, in the order
 * of a result's rate. devices: of the whole job.
 */
struct rate step_rate(const struct record *record,
		      const struct measure_spec *measure, uint64_t devices);

#define SERIES_STEPS_MAX 1024

/* The caller deletes it. NULL: ENOMEM. */
cJSON *series_new(const struct record *records, size_t count,
		  const struct measure_spec *measure, uint64_t devices,
		  struct error *err);

/* The curve of the rate, and *unit for its axis; NULL: there is none. What a
 * version before wrote is in tokens of all devices.
 */
const cJSON *series_rate(const cJSON *series, const char **unit);

/* The difference between the losses of two series. */
struct alignment {
	uint64_t steps;  /* compared steps: in both from from_step on, with
			    finite values */
	double mean;     /* of |a - b| / |b|; NaN without steps */
	double largest;  /* the largest of these */
	uint64_t at;     /* the step of the largest */
	uint64_t broken; /* steps where only one of the two is finite */
};

/* Compare a series with its baseline. */
void series_align(const cJSON *series, const cJSON *baseline,
		  uint64_t from_step, struct alignment *alignment);
