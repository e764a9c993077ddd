/* row.h - what all report formats read from a row (report.h).
 */
#ifndef CONTROLLER_REPORT_ROW_H
#define CONTROLLER_REPORT_ROW_H

#include "controller/results/json_object.h"
#include "protocol/base/error.h"

#include <stdint.h>

#define ROW_RATE "result.tokens_per_second_per_device" /* a path */

/* EINVAL unless rows is an array of objects. */
int rows_check(const cJSON *rows, struct error *err);

/* A row in a list that rows_group() puts in order. */
struct grouped_row {
	const char *key; /* rows with the same key are a group */
	double order;    /* in the group */
	cJSON *row;
	const char *text;    /* for the caller */
	size_t index, first; /* places in the list before: its own, and that
				of the first row of the group */
};

/* Put the rows of each group together, sorted by their order. Groups stand in
 * the order of their first rows.
 */
void rows_group(struct grouped_row *rows, size_t count);

/* Move the repeats of each cell behind its first row, sorted by number. (Later
 * repeats are at the end of the list.) ENOMEM.
 */
int rows_gather(cJSON *rows, struct error *err);

bool row_completed(const cJSON *row);

/* The failure class, if it says more than the state; NULL: none. */
const char *row_failure(const cJSON *row);

/* Why the row has no result: class and sentence. NULL: it has one, or has not
 * ended.
 */
#define ROW_NOTE_BYTES 512
const char *row_reason(const cJSON *row, char words[ROW_NOTE_BYTES]);

/* Do tables show this metric of the row by default? */
bool row_shows(const cJSON *row, const char *metric);

/* Why a completed row is suspect: the flags of its result, then its anomalies
 * (anomalies.h), by index. NULL past the last.
 */
const char *row_flag(const cJSON *row, size_t flag);

/* Does the row have any flag? */
bool row_flagged(const cJSON *row);

/* "from job 3 of sweep 1" for a row that was reused; NULL: it was not. */
const char *row_origin(const cJSON *row, char words[ROW_NOTE_BYTES]);

/* "2026-05-04T03:02:01Z" of milliseconds since 1970; "-" past the year 9999.
 * Returns text.
 */
#define UTC_SIZE 24
const char *utc_text(int64_t ms, char text[UTC_SIZE]);

#endif
