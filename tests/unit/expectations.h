/* expectations.h - logs of formats, and what they are to say.
 *
 * An expect file has steps, loss and records, computed without any extractor:
 *
 *	{"steps": {"count": 3, "first": 1, "last": 3},
 *	 "loss": {"count": 3, "first": [1, 2.25], "last": [3, 1.75]},
 *	 "records": [{"step": 1, "loss": 2.25, "iter_time_s": 0.5}, ...],
 *	 "result": {"memory_mib": 29000}}	 what stands in no record;
 * samples of 128 tokens
 */
#pragma once

#include "controller/catalog/catalog.h"
#include "controller/results/format_choice.h"
#include "protocol/base/buffer.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

#define FORMAT_SAMPLES "tests/samples/formats/"

/* The formats that are tried where none is named. Starts as zeros. */
struct all_formats {
	const char *names[FORMAT_CHOICE_MAX]; /* of the catalog */
	struct extract_rules *rules[FORMAT_CHOICE_MAX];
	size_t count;
};

void all_formats_load(struct all_formats *all, const struct catalog *catalog);
void all_formats_clear(struct all_formats *all);

/* The rules of a format; NULL: it says why. The caller frees them. */
struct extract_rules *format_rules(const struct catalog *catalog,
				   const char *name);

/* All that a log says by these rules, in the words of the expect files; the
 * caller deletes it. It is read in pieces of `piece` bytes; 0: of random sizes.
 *
 *	extract_print_json(), but:
 *	records		with the names of the expect files
 *	steps, loss	{"count", "first", "last"}; of the loss [step, loss]
 */
cJSON *log_view(struct extract_rules *rules, const char *data, size_t size,
		size_t piece);

/* An expect file; NULL: there is none. The caller deletes it. */
cJSON *expectation_read(const char *path);

/* Does the view say what is expected? tell: print what differs. */
bool expectation_met(const cJSON *view, const cJSON *expect, bool tell);
