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

/* The caller deletes the object; NULL: ENOMEM. */
cJSON *extract_json(const struct extract *extract, const char *format,
		    const struct result *result, uint64_t bytes,
		    struct error *err);
