/* reference.h - the page of published benchmark results, from a sweep's rows.
 *
 * Environment, parallelism, batch definitions with this run's values, general
 * indicators and the performance table, as FlagPerf's result pages state them,
 * in English or Chinese. One line per cell: of its completed repeats the one
 * with the median rate. What was not run, or is not known, is "/". An
 * evaluation of a cell stands in the line of that cell (merge_evaluations.h).
 *
 * Beside what report.h says of rows, these are read where they are there:
 * setup.about, texts of the sweep that no run can know:
 *	task, dataset	for the general indicators
 *	framework	name and version of the training framework
 *	optimizations	such as flash attention
 *	fix_hp		of the row; else what it sets otherwise than the first
 *	columns		of the performance table, by name, with blanks between;
 *			a name may be that of a metric
 * values.config: the name of a configuration file, a variable of the sweep.
 * provenance.environment: the facts of the first node, and result.usage.
 */
#ifndef CONTROLLER_REPORT_REFERENCE_H
#define CONTROLLER_REPORT_REFERENCE_H

#include "controller/report/about.h"
#include "controller/report/translations.h"
#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* Append the page as Markdown. Errors as report.h says. */
int report_reference(const cJSON *rows, enum language language,
		     struct buffer *out, struct error *err);

/* The same as one self-contained HTML page. */
int report_reference_html(const struct report_about *about, const cJSON *rows,
			  enum language language, struct buffer *out,
			  struct error *err);

/* For the modules of the page. */

/* The rows of the page: one per cell, borrowed. */
struct lines {
	const cJSON **rows;
	size_t count;
	enum language language;
};

/* The table, and what it needs of each row; reference_table.c. */
int reference_table(const struct lines *lines, struct buffer *out,
		    struct error *err);

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

/* Text with what Markdown gives a meaning escaped; NULL or "" is "/". */
int cell_text(struct buffer *out, const char *text, struct error *err);

#endif
