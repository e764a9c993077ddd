/* result.h - computes the result of a job from its records: figures, flags,
 * verdict.
 *
 * The result is a JSON object; what is not known is null:
 *
 *	{"formula": 2,			 FORMULA_VERSION
 *	 "measured": true,		 false: "no-metric", and "text" says why
 *	 "text": null,
 *	 "steps": 60,			 number of the last step
 *	 "steps_total": 60,		 as the program announced it, or the
 *					 sweep's `steps` where that is more
 *	 "complete": true,		 false: the log ends before its last
 *					 step, and nothing says that it was
 *					 to, or before the sweep's; null: no
 *					 number is known
 *	 "warmup_steps": 6,		 steps up to this number are left out
 *	 "warmup": "found",		 or "given"
 *	 "slow_steps": {"count": 1,	 left out too: checkpoints, evaluations
 *	   "steps": [30], "lost_ms": 912.5},	 or null; 32 of them by number
 *	 "iteration_ms": {"median": 123.4, "q1": 122.0, "q3": 125.1,
 *	   "iqr": 3.1, "mean": 124.0, "min": 121.0, "max": 140.2, "n": 54},
 *					 or null
 *	 "loss": {"first": 5.6, "last": 2.1},	 or null; "nan", "inf", "-inf"
 *					 as strings; over all steps
 *	 "tokens_per_second": 8300.5,	 over all devices
 *	 "tokens_per_second_per_device": 4150.2,
 *	 "samples_per_second": 32.4,
 *	 "source": "iteration",		 the rates follow from the step time and
 *					 the batch; "reported": the program's
 *					 own figures; "summary": its last line;
 *					 "arrival": the step time is that
 *					 between arrivals of lines (arrival.h)
 *	 "reported_tokens_per_second": 8123.4,	 median, for comparison
 *	 "memory_mib": 120.5,		 the largest value that the program
 *					 printed, else of any sampled device,
 *					 else host_memory_mib
 *	 "memory_source": "reported",	 "sampled" or "cgroup"
 *	 "host_memory_mib": 312.3,	 fullest container, no page cache
 *	 "memory_by_rank_mib": [71680, ...],	 peak of each sampled device,
 *					 by node rank and device; null unless
 *					 all have a value
 *	 "chip_memory_gib": 80,		 of the chip, as published
 *	 "wall_s": 12.3,		 first task's start to last task's end
 *	 "mfu": 0.41,			 a fraction; null: no peak known
 *	 "mfu_formula": "6N",		 of mfu and hfu: "2N", "4N" where parts
 *					 of the model are frozen (formula.h)
 *	 "mfu_palm": 0.45,		 with the attention
 *	 "hfu": 0.55,			 mfu with full recomputation; null: no
 *					 recomputation is set
 *	 "joules_per_token": 0.2,	 null: no power was sampled
 *	 "metrics": {...},		 metrics.h
 *	 "usage": {...},		 usage.h; null: nothing was sampled
 *	 "inputs": {...},		 inputs.h
 *	 "flags": ["..."]}		 sentences about suspect figures, also
 *					 those that two sources give differently
 *					 (cross_checks.h). An impossible figure
 *					 is null and has a sentence here
 *
 * Steady state: the steps behind the warm-up that are not slow, as steady.h
 * says, by the step time, or where there is none by the program's own rate.
 * Quartiles by linear interpolation.
 */
#ifndef CONTROLLER_RESULTS_RESULT_H
#define CONTROLLER_RESULTS_RESULT_H

#include "controller/results/inputs.h"
#include "protocol/base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result; the caller deletes it. NULL with ENOMEM. */
cJSON *result_new(const struct result_input *input, struct error *err);

/* The result's "measured": false means failure class no-metric, with *text
 * (borrowed, never NULL) the sentence.
 */
bool result_measured(const cJSON *result, const char **text);

/* "complete": false means failure class incomplete; text[0..size) gets the
 * sentence.
 */
bool result_complete(const cJSON *result, char *text, size_t size);

#endif
