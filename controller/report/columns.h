/* columns.h - chooses and fills the columns of result tables.
 *
 * The columns are figures (figures.h). A column is left out if no row has a
 * value for it (for example MFU without a known peak). A rate with repeats is
 * the mean with half its 95 % interval. The metrics of a
 * framework's rules are columns: those of `columns:`, else all.
 */
#pragma once

#include "controller/report/figures.h"
#include "controller/report/labels.h"
#include "controller/report/table.h"
#include "controller/results/language.h"

#include <stdbool.h>
#include <stddef.h>

#define COLUMNS_MAX 32
#define COLUMNS_KEYS_MAX 4
#define COLUMNS_KEY_SIZE 64
/* Bytes of a table cell with the NUL; longer texts are cut. */
#define COLUMN_TEXT 320

struct columns {
	struct column
		heads[COLUMNS_MAX + COLUMNS_KEYS_MAX + 1]; /* of a table */
	const struct report_figure *figures[COLUMNS_MAX];  /* NULL: a metric */
	const char *metrics[COLUMNS_MAX]; /* borrowed from the rows, or NULL */
	size_t count;
	/* Keys of the cells, instead of the column of their names; none: 0. */
	char keys[COLUMNS_KEYS_MAX][COLUMNS_KEY_SIZE];
	size_t keys_count;
	bool by_nodes;       /* beside keys: rows differ in their nodes */
	enum rate_unit unit; /* of all rates; RATE_NONE: each says its own */
	int digits;          /* of rates, behind the point */
	int relation_digits; /* of relations */
	enum language language;
};

/* Choose the columns for these rows, which must outlive *columns. labelled:
 * cells are named by labels (labels.h), which include the number of the repeat,
 * so it gets no column.
 */
void columns_choose(const struct report_rows *rows, bool labelled,
		    struct columns *columns);

/* Put the titles and words into another language. */
void columns_translate(struct columns *columns, enum language language);

/* Give each key in which the cells differ a column, instead of their names: if
 * all have the same keys, at most so many (COLUMNS_KEYS_MAX), and no row is a
 * repeat.
 */
void columns_split(struct columns *columns, const struct report_rows *rows,
		   const struct labels *labels, size_t most);

/* The text of a row in a column, not escaped. A value with a flag ends in "
 * (!)". Returns text.
 */
const char *column_text(const struct columns *columns, size_t column,
			const struct report_row *row, char text[COLUMN_TEXT]);

/* Make a table of these columns, which must outlive it, for table_clear(). The
 * rate has a bar relative to the best row. labels: name cells by the words in
 * which they differ; NULL: by all words.
 */
void columns_table(const struct columns *columns,
		   const struct report_rows *rows, const struct labels *labels,
		   struct table *table);

/* The titles of the columns that may be left out, the least important first,
 * then the metrics; NULL ends them. Nodes that tell rows apart stay.
 */
void columns_droppable(const struct columns *columns,
		       const char *titles[2 * COLUMNS_MAX]);
