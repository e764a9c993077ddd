/* columns.h - the columns of the tables that people read.
 *
 * A row shows where its cell stands and what it measured. Columns of figures
 * that no row of the sweep has (MFU without a known peak, say) are left out;
 * every number that a framework's rules name is a column of its own, where they
 * do not say which are.
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
	320 /* bytes of a cell's text, with the 0; longer is cut               \
	     */

struct column_rule;

struct columns {
	const struct column_rule *rules[COLUMNS_MAX];
	const char *metrics[COLUMNS_MAX]; /* borrowed from the rows, or NULL */
	size_t count;
};

/* Choose the columns for these rows (controller/report/report.h), which must
 * outlive *columns. labelled: cells are named by labels (labels.h), which
 * contain the number of the repeat: it has no column.
 */
void columns_choose(const cJSON *rows, bool labelled, struct columns *columns);

const char *column_title(const struct columns *columns, size_t column);

/* Does the column hold figures? */
bool column_right(const struct columns *columns, size_t column);

/* What the row shows there: not escaped for any format. A figure that has a
 * flag is followed by " (!)". Returns text.
 */
const char *column_text(const struct columns *columns, size_t column,
			const cJSON *row, char text[COLUMN_TEXT]);

/* The rows as a table of these columns; heads is filled and must outlive it.
 * The rate has a bar as long as it is in the best row. labels: cells are
 * named by what differs; NULL: by all their words. NULL: ENOMEM.
 */
struct table *columns_table(const struct columns *columns, const cJSON *rows,
			    const struct labels *labels,
			    struct column heads[COLUMNS_MAX + 1],
			    struct error *err);

#endif
