/* reference_table.h - writes the performance table of the page of published
 * results.
 */
#pragma once

#include "controller/report/figures.h"
#include "controller/report/translations.h"
#include "controller/report/writer.h"

/* The rows of the page: one per cell, borrowed. */
struct lines {
	const struct report_row **rows;
	size_t count;
	enum language language;
};

/* Append the table. */
void reference_table(struct writer *to, const struct lines *lines);

/* "TP8PP4DP1", "TP2PP1SH2SP4" (stage and degree of sharding), or "/" when the
 * row states no degree.
 */
#define LAYOUT_TEXT 96
const char *layout_text(const struct report_row *row, char text[LAYOUT_TEXT]);

/* Of the row, or of an empty one. */
const struct layout_spec *row_layout(const struct report_row *row);

/* Does any row spread its model (TP, PP, CP or EP above 1)? */
bool lines_spread(const struct lines *lines);
/* Do the rows differ in the text or number there? */
bool lines_differ(const struct lines *lines, const struct member *member);

/* Members of rows that page and table read. */
extern const struct member member_model, member_precision;

/* The chip's name without its board and memory, "H800" of H800-SXM5-80GB, or
 * the vendor; "" when the row names neither.
 */
#define CHIP_TEXT 64
const char *chip_text(const struct report_row *row, char text[CHIP_TEXT]);

/* The text; "/" if it is NULL or "". */
const char *text_or_slash(const char *text);
