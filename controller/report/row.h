/* row.h - what the report's formats share: looking into a row.
 *
 * Rows are as report.h says; these calls take any JSON object for one.
 */
#ifndef CONTROLLER_REPORT_ROW_H
#define CONTROLLER_REPORT_ROW_H

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/* EINVAL unless rows is an array of objects. */
int rows_check(const cJSON *rows, struct error *err);

/* Cut the buffer to the size it had before the report; return -1. */
int rows_undo(struct buffer *out, size_t size);

/* Let the repeats of a cell follow each other, by number, where its first row
 * stands: those that came later stand at the end of the list. ENOMEM.
 */
int rows_gather(cJSON *rows, struct error *err);

/* The value at a path like "result.loss.last"; NULL: not there. */
const cJSON *row_at(const cJSON *row, const char *path);

/* The text there; NULL: none. */
const char *row_text(const cJSON *row, const char *path);

/* The number there; without one 0, and NAN. */
double number_at(const cJSON *row, const char *path);
double row_double(const cJSON *row, const char *path);

bool row_completed(const cJSON *row);

/* The class of its failure, where it says more than the state; NULL: none. */
const char *row_failure(const cJSON *row);

/* Why it has no result: class and words. NULL: it has one, or has not ended. */
#define ROW_REASON_BYTES 512
const char *row_reason(const cJSON *row, char words[ROW_REASON_BYTES]);

/* Does a table show this metric of the row, where it names none itself? */
bool row_shows(const cJSON *row, const char *metric);

/* Why a completed row is suspect: the flags of its result, then what the
 * other rows say (anomalies.h). By number, NULL past the last.
 */
const char *row_flag(const cJSON *row, size_t flag);

/* Is there any? */
bool row_flagged(const cJSON *row);

/* "from job 3 of sweep 1" of a row that was taken over; false: it was not. */
bool row_origin(const cJSON *row, char *words, size_t size);

/* "2026-05-04T03:02:01Z" of milliseconds since 1970; "-" past the year 9999.
 * Returns text.
 */
#define UTC_SIZE 24
const char *utc_text(int64_t ms, char text[UTC_SIZE]);

/* The text with what Markdown gives a meaning escaped: nothing in it can add a
 * column, a line or a tag.
 */
int markdown_text(struct buffer *out, const char *text, struct error *err);

#endif
