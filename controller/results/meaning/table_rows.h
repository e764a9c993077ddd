/* table_rows.h - reads tables in a log: a header that names the columns, and
 * rows of numbers.
 *
 *	| step | loss  | tok/s |
 *	|   10 | 2.310 | 51200 |
 */
#pragma once

#include "controller/results/meaning/notation.h"

#include <stdbool.h>
#include <stddef.h>

/* Has the line a bar, as between columns? Boxes may be drawn with it. */
bool line_has_bar(const char *text, size_t size);

#define TABLE_COLUMNS_MAX 24
#define TABLE_NAME_MAX 48

struct table_rows {
	char names[TABLE_COLUMNS_MAX][TABLE_NAME_MAX];
	size_t count; /* of columns; 0: no table yet */
	char mark;    /* between columns: '|', ',', '\t' or ' ' */
};

/* Is the line a header, with a step and a loss or a rate among its columns?
 * Then its rows follow.
 */
bool table_rows_header(struct table_rows *table, struct notation *notation,
		       const char *text, size_t size);

/* Call fn for each number of a row. False: the line is no row of the table. */
bool table_rows_read(const struct table_rows *table, struct notation *notation,
		     const char *text, size_t size, notation_fn *fn, void *arg);

struct table_cell {
	const char *text;
	size_t size;
};

/* The text without the blanks and quotes around it. */
struct table_cell table_cell_trim(const char *text, size_t size);

/* Is the line a row of a box with a name and its value, "| loss | 2.5 |"? The
 * value of a title is empty.
 */
bool table_pair(const char *text, size_t size, struct table_cell pair[2]);
