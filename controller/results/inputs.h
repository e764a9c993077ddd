/* inputs.h - converts the inputs of a result beside its log to JSON and back.
 *
 * With them a result can be computed again when only the log of the job is
 * left. The object has each number of struct result_input and of its flops (0:
 * unknown), "simulated", and "warnings" if there are any.
 */
#ifndef CONTROLLER_RESULTS_INPUTS_H
#define CONTROLLER_RESULTS_INPUTS_H

#include "controller/results/arrival.h"
#include "controller/results/extract.h"
#include "controller/results/formula.h"
#include "protocol/message/spec.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a result is computed from. */
struct result_input {
	const struct measure_spec *measure; /* borrowed, not NULL */
	uint64_t devices; /* of the job, over all its nodes; at least 1 */
	const struct record *records; /* by step, as extract gives them */
	size_t record_count;
	const struct record *summary;  /* NULL: none */
	const struct extract *extract; /* source of other metrics, or NULL */
	const cJSON *usage; /* usage_summary() of its samples; NULL: none */
	/* What follows is 0 where it is not known. */
	uint64_t memory_peak_bytes; /* largest of the exit records */
	int64_t started_ms;         /* wall clock */
	int64_t ended_ms;
	struct arrival arrival; /* of the steps' lines */
	struct flops flops;     /* of one token of the model */
	double peak_flops;      /* of one device at this precision */
	double chip_memory_bytes;
	double power_w; /* of all devices together, mean; else that of usage */
	bool simulated; /* the devices are simulated */
	const cJSON *warnings; /* sentences for the flags; NULL: none */
	const char *unread;    /* why no step was read; NULL: no line matched
				  the rules of the framework */
};

/* The caller deletes it; NULL: out of memory. */
cJSON *inputs_json(const struct result_input *input);

/* Copy the object's values into *input, which borrows its warnings. Values that
 * are missing, of another type or out of range leave *input unchanged.
 */
void inputs_read(const cJSON *object, struct result_input *input);

#endif
