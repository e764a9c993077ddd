/* result.h - the records of one job to one result: steady state, spread,
 * verdict.
 *
 * The result is a JSON object; what is not known is null:
 *
 *	{"formula": 1,			 FORMULA_VERSION
 *	 "measured": true,		 false: "no-metric", and "text" says why
 *	 "text": null,
 *	 "steps": 60,			 number of the last step
 *	 "steps_total": 60,		 as the program announced it
 *	 "warmup_steps": 6,		 steps up to this number are left out
 *	 "iteration_ms": {"median": 123.4, "q1": 122.0, "q3": 125.1,
 *	   "iqr": 3.1, "min": 121.0, "max": 140.2, "n": 54},	 or null
 *	 "loss": {"first": 5.6, "last": 2.1},	 or null; "nan", "inf", "-inf"
 *					 as strings; over all steps
 *	 "tokens_per_second": 8300.5,	 over all devices
 *	 "tokens_per_second_per_device": 4150.2,
 *	 "samples_per_second": 32.4,
 *	 "source": "iteration",		 the rates follow from the step time and
 *					 the batch; "reported": the program's
 *					 own figures; "summary": its last line
 *	 "reported_tokens_per_second": 8123.4,	 median, for comparison
 *	 "memory_mib": 120.5,		 largest that the program printed, else
 *					 host_memory_mib
 *	 "memory_source": "reported",	 or "cgroup"
 *	 "host_memory_mib": 312.3,	 peak of the fullest container
 *	 "wall_s": 12.3,		 first task's start to last task's end
 *	 "mfu": 0.41,			 a fraction; 6N; null: no peak known
 *	 "flags": ["..."]}		 sentences; a figure that is impossible
 *					 is null and has its sentence here
 *
 * Steady state: steps with a number above measure->warmup_steps; when that is
 * 0, without the first tenth of the recorded steps, rounded up, and never
 * without the last one. Quartiles by linear interpolation.
 */
#ifndef CONTROLLER_RESULTS_RESULT_H
#define CONTROLLER_RESULTS_RESULT_H

#include "controller/results/extract.h"
#include "protocol/error.h"
#include "protocol/spec.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct result_input {
	const struct measure_spec *measure; /* borrowed, not NULL */
	uint64_t devices; /* of the job, over all its nodes; at least 1 */
	const struct record *records; /* by step, as extract gives them */
	size_t record_count;
	const struct record *summary; /* NULL: none */
	uint64_t memory_peak_bytes;   /* largest of the exit records; 0: unknown
				       */
	int64_t started_ms;           /* wall clock; 0: unknown */
	int64_t ended_ms;
	double parameters; /* of the model; 0: unknown */
	double peak_flops; /* of one device at this precision; 0: unknown */
};

/* The result; the caller deletes it. NULL with ENOMEM. */
cJSON *result_new(const struct result_input *input, struct error *err);

/* The result's "measured": false means failure class no-metric, with *text
 * (borrowed, never NULL) the sentence.
 */
bool result_measured(const cJSON *result, const char **text);

#endif
