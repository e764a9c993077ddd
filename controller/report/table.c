/* table.c - renders a table for a terminal, as Markdown or as HTML.
 */
#include "controller/report/table.h"

#include "controller/report/labels.h"
#include "protocol/base/list.h"
#include "protocol/base/strings.h"
#include "protocol/base/utf8.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define CELL_MAX 1000 /* bytes in a cell */
#define GAP 2         /* between columns of a terminal */
#define TEXT_MIN 8    /* smallest width of a text that is shortened */
#define FOLD_MIN 20   /* smallest width of one that is folded */
#define DOTS ".."     /* shown in place of what is cut off */

void table_clear(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i].text);
	free(table->cells);
	free(table->most);
	*table = (struct table){ .columns = table->columns };
}

static size_t table_count_columns(const struct table *table)
{
	size_t count = 0;

	while (table->columns[count].title)
		count++;
	return count;
}

size_t table_rows(const struct table *table)
{
	return table->count / table_count_columns(table);
}

void table_cell(struct table *table, enum colour colour, const char *fmt, ...)
{
	struct table_cell *cell;
	char text[CELL_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	cell = LIST_ADD(table->cells, table->count, NULL);
	if (cell)
		*cell = (struct table_cell){ .text = strdup(text),
					     .colour = colour };
	table->failed |= !cell || !cell->text;
}

void table_text(struct table *table, const char *text)
{
	table_cell(table, PLAIN, "%s", text ? text : "");
}

void table_bar(struct table *table, double percent)
{
	if (table->count)
		table->cells[table->count - 1].bar = percent;
}

/* The terminal. */

/* A sentence keeps its beginning, a name both ends. */
static void cell_shorten(char *text, size_t columns)
{
	size_t word = strcspn(text, " "), end = 0, width = 0;

	if (!text[word] || memchr(text, '=', word)) {
		labels_squeeze(text, columns);
		return;
	}
	while (text[end]) {
		size_t size = utf8_character(text + end, 4, NULL);
		char character[5] = "";

		memcpy(character, text + end, size ? size : 1);
		width += utf8_width(character);
		if (width > columns - strlen(DOTS))
			break;
		end += size ? size : 1;
	}
	while (end && text[end - 1] == ' ')
		end--;
	memcpy(text + end, DOTS, sizeof(DOTS));
}

/* The text of a cell: escaped, and shortened if its column is narrowed. */
static const char *shown(const struct table *table, size_t column,
			 const char *text, char clean[CELL_MAX])
{
	escape(text, clean, CELL_MAX);
	if (table->most && utf8_width(clean) > table->most[column])
		cell_shorten(clean, table->most[column]);
	return clean;
}

static bool column_left_out(const struct table *table, size_t column)
{
	return column < 64 && table->left_out >> column & 1;
}

static void table_measure(const struct table *table, size_t *widths)
{
	char clean[CELL_MAX];

	for (size_t i = 0; i < table_count_columns(table); i++)
		widths[i] = utf8_width(
			shown(table, i, table->columns[i].title, clean));
	for (size_t at = 0; at < table->count; at += table_count_columns(table))
		for (size_t c = 0; c < table_count_columns(table); c++) {
			const char *text = table->cells[at + c].text;
			size_t width = utf8_width(shown(table, c, text, clean));

			if (width > widths[c])
				widths[c] = width;
		}
}

/* The width of all columns, if texts take at most `text`. */
static size_t total(const struct table *table, const size_t *widths,
		    size_t text)
{
	size_t sum = 0;

	for (size_t i = 0; i < table_count_columns(table); i++) {
		bool cut = !table->columns[i].right && widths[i] > text;

		if (!column_left_out(table, i))
			sum += (cut ? text : widths[i]) + (sum ? GAP : 0);
	}
	return sum;
}

void table_drop_column(struct table *table, const char *title)
{
	for (size_t i = 1; i < table_count_columns(table) && i < 64; i++)
		if (!strcmp(table->columns[i].title, title))
			table->left_out |= UINT64_C(1) << i;
}

static size_t *widest_text(const struct table *table, size_t *widths)
{
	size_t *widest = NULL;

	for (size_t i = 0; i < table_count_columns(table); i++)
		if (!table->columns[i].right && !column_left_out(table, i) &&
		    widths[i] > TEXT_MIN && (!widest || widths[i] > *widest))
			widest = &widths[i];
	return widest;
}

void table_narrow(struct table *table, size_t width, size_t text,
		  const char *const *droppable)
{
	owned_free size_t *widths =
		calloc(table_count_columns(table), sizeof(*widths));
	size_t *widest;

	if (!widths)
		return;
	text = text > TEXT_MIN ? text : TEXT_MIN;
	table_measure(table, widths);
	for (; *droppable && total(table, widths, text) > width; droppable++)
		table_drop_column(table, *droppable);
	while (total(table, widths, SIZE_MAX) > width &&
	       (widest = widest_text(table, widths)))
		--*widest;
	free(table->most);
	table->most = take(widths);
}

const char *table_left_out(const struct table *table, char *text, size_t size)
{
	*text = 0;
	for (size_t i = 1; i < table_count_columns(table); i++)
		if (column_left_out(table, i))
			text_append(text, size, "%s%s", *text ? ", " : "",
				    table->columns[i].title);
	return text;
}

static void table_print_cell(FILE *out, const char *text, size_t begin,
			     size_t fold, enum colour colour, bool colours)
{
	fputs(colour_begin(colour, colours), out);
	if (begin + FOLD_MIN <= fold && begin + utf8_width(text) > fold)
		fold_words(out, text, begin, fold, NULL);
	else
		fputs(text, out);
	fputs(colour_end(colour, colours), out);
}

/* The last column of the row that is not empty, so that no line ends in blanks.
 * row: SIZE_MAX: of the titles.
 */
static size_t last_column(const struct table *table, size_t row)
{
	size_t last = table_count_columns(table) - 1;

	while (last &&
	       (column_left_out(table, last) ||
		(row != SIZE_MAX &&
		 !*table->cells[row * table_count_columns(table) + last].text)))
		last--;
	return last;
}

static void table_print_line(const struct table *table, size_t row,
			     const size_t *widths, FILE *out, bool colours)
{
	size_t last = last_column(table, row), begin = 0;
	char clean[CELL_MAX];

	for (size_t i = 0; i <= last; i++) {
		const struct column *column = &table->columns[i];
		const struct table_cell *cell =
			row == SIZE_MAX
				? NULL
				: &table->cells[row * table_count_columns(
							      table) +
						i];
		int pad;

		if (column_left_out(table, i))
			continue;
		shown(table, i, cell ? cell->text : column->title, clean);
		pad = (int)(widths[i] - utf8_width(clean));
		fprintf(out, "%*s", column->right ? pad : 0, "");
		table_print_cell(out, clean, begin,
				 i == last && !column->right ? table->fold : 0,
				 cell ? cell->colour : BOLD, colours);
		if (i < last)
			fprintf(out, "%*s", (column->right ? 0 : pad) + GAP,
				"");
		begin += widths[i] + GAP;
	}
	fputc('\n', out);
}

int table_print(const struct table *table, FILE *out, bool colours,
		struct error *err)
{
	owned_free size_t *widths =
		calloc(table_count_columns(table), sizeof(*widths));

	if (table->failed || !widths)
		return error_nomem(err, "table");
	table_measure(table, widths);
	table_print_line(table, SIZE_MAX, widths, out, colours);
	for (size_t row = 0; row < table_rows(table); row++)
		table_print_line(table, row, widths, out, colours);
	return 0;
}

/* Markdown. */

/* The width of a text that is escaped; 0: no memory. */
static size_t markdown_width(const char *text, struct error *err)
{
	owned(buffer_clear) struct buffer clean =
		BUFFER_INIT((size_t)16 * CELL_MAX);

	return markdown_text(&clean, text, err) < 0 ? 0
						    : utf8_width(clean.data);
}

static void put_repeated(struct writer *to, const char *text, size_t count)
{
	while (count--)
		writer_raw(to, text);
}

/* A cell, filled up with blanks: texts stand left, numbers right. */
static void put_padded(struct writer *to, const char *text, size_t width,
		       bool right)
{
	size_t blanks = width - markdown_width(text, &to->failure);

	writer_raw(to, "| ");
	put_repeated(to, " ", right ? blanks : 0);
	writer_text(to, text);
	put_repeated(to, " ", right ? 1 : blanks + 1);
}

void table_markdown(const struct table *table, struct writer *to)
{
	owned_free size_t *widths =
		calloc(table_count_columns(table), sizeof(*widths));
	const struct column *columns = table->columns;

	if (table->failed || !widths) {
		error_nomem(&to->failure, "table");
		return;
	}
	for (size_t c = 0; c < table_count_columns(table); c++)
		widths[c] = markdown_width(columns[c].title, &to->failure);
	for (size_t at = 0; at < table->count; at += table_count_columns(table))
		for (size_t c = 0; c < table_count_columns(table); c++) {
			size_t width = markdown_width(table->cells[at + c].text,
						      &to->failure);

			if (width > widths[c])
				widths[c] = width;
		}
	if (to->failure.code)
		return;
	for (size_t c = 0; c < table_count_columns(table); c++)
		put_padded(to, columns[c].title, widths[c], columns[c].right);
	writer_raw(to, "|\n");
	for (size_t c = 0; c < table_count_columns(table); c++) {
		writer_raw(to, columns[c].right ? "| " : "| -");
		put_repeated(to, "-", widths[c] - (widths[c] > 0));
		writer_raw(to, columns[c].right ? ": " : " ");
	}
	for (size_t at = 0; at < table->count;
	     at += table_count_columns(table)) {
		writer_raw(to, "|\n");
		for (size_t c = 0; c < table_count_columns(table); c++)
			put_padded(to, table->cells[at + c].text, widths[c],
				   columns[c].right);
	}
	writer_raw(to, "|\n");
}

/* HTML. */

/* "<td class=..."; more: one more class; NULL: none */
static void table_put_tag(struct writer *to, const struct table *table,
			  size_t column, const char *tag, const char *more)
{
	const char *const classes[] = {
		table->columns[column].right ? "n" : NULL, more,
		column_left_out(table, column) ? "less" : NULL
	};
	const char *before = " class=\"", *end = "";

	writer_raw(to, tag);
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		if (classes[i]) {
			writer_raw(to, before);
			writer_raw(to, classes[i]);
			before = " ";
			end = "\"";
		}
	writer_raw(to, end);
}

static void table_put_cell(struct writer *to, const struct table *table,
			   size_t column, const struct table_cell *cell)
{
	bool bad = !table->columns[column].right && cell->colour == RED;

	table_put_tag(to, table, column, "<td",
		      cell->bar > 0 ? "bar"
		      : bad         ? "bad"
				    : NULL);
	if (cell->bar > 0)
		writer_printf(to, " style=\"--w:%.1f%%\"", cell->bar);
	writer_printf(to, ">%s</td>", cell->text);
}

void table_html(const struct table *table, struct writer *to)
{
	if (table->failed) {
		error_nomem(&to->failure, "table");
		return;
	}
	writer_raw(to, "<table><thead><tr>");
	for (size_t c = 0; c < table_count_columns(table); c++) {
		table_put_tag(to, table, c, "<th", NULL);
		writer_printf(to, ">%s</th>", table->columns[c].title);
	}
	writer_raw(to, "</tr></thead><tbody>\n");
	for (size_t at = 0; at < table->count;
	     at += table_count_columns(table)) {
		writer_raw(to, "<tr>");
		for (size_t c = 0; c < table_count_columns(table); c++)
			table_put_cell(to, table, c, &table->cells[at + c]);
		writer_raw(to, "</tr>\n");
	}
	writer_raw(to, "</tbody></table>");
}
