/* table.h - renders a table for a terminal, as Markdown or as HTML.
 *
 * Cells are stored unchanged and escaped when printed: a text cannot add a
 * column, a line or a tag, move the cursor or change a colour.
 */
#pragma once

#include "controller/report/terminal.h"
#include "controller/report/writer.h"
#include "protocol/base/owned.h"

#include <stdint.h>
#include <stdio.h>

struct column {
	const char *title; /* NULL ends the list */
	bool right;        /* numbers */
};

/* { .columns = columns } is an empty table. The columns are borrowed. */
struct table {
	const struct column *columns;
	size_t fold; /* columns of a terminal, at which the last text of a line
		      * goes on below itself; 0: it does not */
	/* Private: */
	struct table_cell {
		char *text;
		enum colour colour;
		double bar; /* percent; 0: none */
	} * cells;
	size_t count, room;
	bool failed;       /* out of memory */
	uint64_t left_out; /* columns, one bit each */
	size_t *most;      /* width of each column on a terminal; NULL: any */
};
void table_clear(struct table *table);
OWNED_VALUE(struct table, table_clear)

/* Append a cell of at most 1000 bytes to the current row, or to a new row if
 * that is full. Colours are for terminals; RED is also marked in HTML. If
 * memory runs out, printing the table fails.
 */
void table_cell(struct table *table, enum colour colour, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A cell without colour; NULL: an empty one. */
void table_text(struct table *table, const char *text);

/* Show a bar of this many percent in the last cell (HTML only). */
void table_bar(struct table *table, double percent);

size_t table_rows(const struct table *table);

/* table_print() leaves the column out, if there is one of this title behind the
 * first; a page does where it is narrow.
 */
void table_drop_column(struct table *table, const char *title);

/* Where the table is wider than so many columns of a terminal, table_print()
 * leaves out columns with these titles, as many as it takes from the first on
 * (NULL ends them), and shortens texts, the widest column first: names in their
 * middle (labels_squeeze()), sentences at their end. A text that needs `text`
 * columns has them, if leaving out columns can give them.
 */
void table_narrow(struct table *table, size_t width, size_t text,
		  const char *const *droppable);

/* The titles that are left out, "LOSS %, VERDICT"; "": none. Returns text. */
const char *table_left_out(const struct table *table, char *text, size_t size);

/* Print aligned columns. ENOMEM: cells are missing, and nothing is printed. */
int table_print(const struct table *table, FILE *out, bool colours,
		struct error *err);

/* ENOMEM: cells are missing. */
void table_markdown(const struct table *table, struct writer *to);
void table_html(const struct table *table, struct writer *to);
