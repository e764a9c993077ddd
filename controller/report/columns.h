/* columns.h - chooses and fills the columns of result tables.
 *
 * A row shows its cell and the measured values. A column is left out if no row
 * has a value for it (for example MFU without a known peak). The metrics of a
 * framework's rules are columns: those of `columns:`, else all.
 */
#ifndef CONTROLLER_REPORT_COLUMNS_H
#define CONTROLLER_REPORT_COLUMNS_H

#include "controller/report/labels.h"
#include "controller/report/table.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#define COLUMNS_MAX 32
#define COLUMN_TEXT                                                            \
	320 /* bytes of a table cell with the NUL; longer texts are cut        \
	     */

struct column_rule;

struct columns {
	struct column heads[COLUMNS_MAX + 1]; /* of a table */
	const struct column_rule *rules[COLUMNS_MAX];
	const char *metrics[COLUMNS_MAX]; /* borrowed from the rows, or NULL */
	size_t count;
};

/* Choose the columns for these rows (controller/report/report.h), which must
 * outlive *columns. labelled: cells are named by labels (labels.h), which
 * include the number of the repeat, so it gets no column.
 */
void columns_choose(const cJSON *rows, bool labelled, struct columns *columns);

/* The text of a row in a column, not escaped. A value with a flag ends in "
 * (!)". Returns text.
 */
const char *column_text(const struct columns *columns, size_t column,
			const cJSON *row, char text[COLUMN_TEXT]);

/* Make a table of these columns, which must outlive it, for table_clear(). The
 * rate has a bar relative to the best row. labels: name cells by the words in
 * which they differ; NULL: by all words.
 */
void columns_table(const struct columns *columns, const cJSON *rows,
		   const struct labels *labels, struct table *table);

#endif
