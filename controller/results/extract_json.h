/* extract_json.h - prints what was read in a log as JSON, for `regatta
 * extract`.
 *
 *	{"format": "nanogpt",		 the name of the description
 *	 "steps": 20,			 number of records
 *	 "records": [{"step": 1, "loss": 4.5, "iteration_ms": 250}, ...],
 *					 all that a step has: the predefined
 *					 names of log_rules.h, and metrics
 *	 "metrics": {"acc": 0.71},	 those of the result
 *	 "result": {...},		 as a job with this log has it
 *	 "bytes": 5120}			 of the log
 *
 * NaN and infinite numbers are the strings "nan", "inf" and "-inf".
 */
#pragma once

#include "controller/results/extract.h"

#include <cjson/cJSON.h>
#include <stdio.h>

/* Print the object as one line, one record after another: the memory that it
 * takes does not grow with the steps. The members of `more`, an object with at
 * least one, come last. Error: ENOMEM; what was printed until then stays.
 */
int extract_print_json(FILE *out, const struct extract *extract,
		       const char *format, const struct result *result,
		       uint64_t bytes, const cJSON *more, struct error *err);
