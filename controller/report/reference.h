/* reference.h - writes a sweep's rows as a page of published benchmark results.
 *
 * Environment, parallelism, batch definitions with this run's values, general
 * indicators and the performance table, as FlagPerf's result pages state them,
 * in English or Chinese. One line per cell: its completed repeat with the
 * median rate. "/" means not run or not known. An evaluation is in the line of
 * its cell (merge_evaluations.h).
 *
 * These optional members of rows are read beside those of report.h. setup.about
 * has facts that only the author of the sweep knows:
 *	task, dataset	for the general indicators
 *	framework	name and version of the training framework
 *	optimizations	such as flash attention
 *	fix_hp		changed hyperparameters; default: the values in
 *			which the row differs from the first
 *	columns		of the performance table, names separated by blanks;
 *			a name may be that of a metric
 * values.config: the name of a configuration file, a variable of the sweep.
 * provenance.environment: the facts of the first node, and result.usage.
 */
#ifndef CONTROLLER_REPORT_REFERENCE_H
#define CONTROLLER_REPORT_REFERENCE_H

#include "controller/report/about.h"
#include "controller/report/translations.h"
#include "controller/report/writer.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* Append the page as Markdown. Errors as in report.h. */
int report_reference(const cJSON *rows, enum language language,
		     struct buffer *out, struct error *err);

/* The same as one self-contained HTML page. */
int report_reference_html(const struct report_about *about, const cJSON *rows,
			  enum language language, struct buffer *out,
			  struct error *err);

/* The rest is shared by the modules of the page. */

/* The rows of the page: one per cell, borrowed. */
struct lines {
	const cJSON **rows;
	size_t count;
	enum language language;
};

/* reference_table.c: append the performance table. */
void reference_table(struct writer *to, const struct lines *lines);

/* "TP8PP4DP1", "TP2PP1SH2SP4" (stage and degree of sharding), or "/" when the
 * row states no degree.
 */
#define LAYOUT_TEXT 96
const char *layout_text(const cJSON *row, char text[LAYOUT_TEXT]);

/* Does any row spread its model (TP, PP, CP or EP above 1)? */
bool lines_spread(const struct lines *lines);
/* Do the rows differ in the text or number at the path? */
bool lines_differ(const struct lines *lines, const char *path);

/* The chip's name without its board and memory, "H800" of H800-SXM5-80GB, or
 * the vendor; "" when the row names neither.
 */
#define CHIP_TEXT 64
const char *chip_text(const cJSON *row, char text[CHIP_TEXT]);

/* The text; "/" if it is NULL or "". */
const char *text_or_slash(const char *text);

#endif
