/* markdown.c - rows of a sweep to a table that people read.
 */
#include "controller/report/report.h"

#include "controller/report/columns.h"
#include "controller/report/row.h"
#include "protocol/base/utf8.h"

#include <string.h>

/* Distinct values named in the line of provenance; the rest is counted. */
#define NAMED_MAX 32

/* All cells of the table as texts that stand one behind the other, each with
 * its 0, and the width of each column.
 */
struct table {
	struct columns columns;
	struct buffer cells;
	size_t widths[COLUMNS_MAX];
};

static void table_clear(struct table *table)
{
	buffer_clear(&table->cells);
}
OWNED_VALUE(struct table, table_clear)

static int put_cell(struct table *table, const cJSON *row, size_t column,
		    struct error *err)
{
	char text[COLUMN_TEXT];
	size_t start = table->cells.size, width;

	column_text(&table->columns, column, row, text);
	if (markdown_text(&table->cells, text, err) < 0 ||
	    buffer_append(&table->cells, "", 1, err) < 0)
		return -1;
	width = utf8_width(table->cells.data + start);
	if (width > table->widths[column])
		table->widths[column] = width;
	return 0;
}

static int fill_table(struct table *table, const cJSON *rows, struct error *err)
{
	const cJSON *row;

	columns_choose(rows, &table->columns);
	for (size_t c = 0; c < table->columns.count; c++)
		table->widths[c] = utf8_width(column_title(&table->columns, c));
	cJSON_ArrayForEach(row, rows)
	{
		for (size_t c = 0; c < table->columns.count; c++)
			if (put_cell(table, row, c, err) < 0)
				return -1;
	}
	return 0;
}

/* A cell, filled up with blanks: texts stand left, figures right. */
static int put_padded(struct buffer *out, const char *text, size_t width,
		      bool right, struct error *err)
{
	int blanks = (int)(width - utf8_width(text));

	return buffer_printf(out, err, "| %*s%s%*s ", right ? blanks : 0, "",
			     text, right ? 0 : blanks, "");
}

static int put_rule(struct buffer *out, size_t width, bool right,
		    struct error *err)
{
	if (buffer_text(out, right ? "| " : "| -", err) < 0)
		return -1;
	for (size_t i = 1; i < width; i++)
		if (buffer_append(out, "-", 1, err) < 0)
			return -1;
	return buffer_text(out, right ? ": " : " ", err);
}

static int put_table(struct buffer *out, const struct table *table,
		     struct error *err)
{
	const struct columns *columns = &table->columns;
	const char *cell = table->cells.data;
	const char *end = cell + table->cells.size;

	for (size_t c = 0; c < columns->count; c++)
		if (put_padded(out, column_title(columns, c), table->widths[c],
			       column_right(columns, c), err) < 0)
			return -1;
	if (buffer_text(out, "|\n", err) < 0)
		return -1;
	for (size_t c = 0; c < columns->count; c++)
		if (put_rule(out, table->widths[c], column_right(columns, c),
			     err) < 0)
			return -1;
	for (size_t c = 0; cell < end; c++) {
		if (c == columns->count)
			c = 0;
		if (c == 0 && buffer_text(out, "|\n", err) < 0)
			return -1;
		if (put_padded(out, cell, table->widths[c],
			       column_right(columns, c), err) < 0)
			return -1;
		cell += strlen(cell) + 1;
	}
	return buffer_text(out, "|\n", err);
}

/* "- job 17, model=x: " and the text. */
static int put_note(struct buffer *out, const cJSON *row, const char *text,
		    struct error *err)
{
	const cJSON *job = row_at(row, "job");
	const char *cell = row_text(row, "cell");

	if (buffer_printf(out, err, "- job %.0f, ",
			  cJSON_IsNumber(job) ? job->valuedouble : 0) < 0 ||
	    markdown_text(out, cell ? cell : "-", err) < 0 ||
	    buffer_text(out, ": ", err) < 0 ||
	    markdown_text(out, text, err) < 0)
		return -1;
	return buffer_text(out, "\n", err);
}

static int put_failures(struct buffer *out, const cJSON *rows,
			struct error *err)
{
	bool any = false;
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		char words[ROW_REASON_BYTES];
		const char *reason = row_reason(row, words);

		if (!reason)
			continue;
		if (!any &&
		    buffer_text(out, "\nWithout a result:\n\n", err) < 0)
			return -1;
		any = true;
		if (put_note(out, row, reason, err) < 0)
			return -1;
	}
	return 0;
}

static int put_origins(struct buffer *out, const cJSON *rows, struct error *err)
{
	bool any = false;
	const cJSON *row;
	char words[80];

	cJSON_ArrayForEach(row, rows)
	{
		if (!row_origin(row, words, sizeof(words)))
			continue;
		if (!any && buffer_text(out,
					"\nTaken over, as they completed "
					"before:\n\n",
					err) < 0)
			return -1;
		any = true;
		if (put_note(out, row, words, err) < 0)
			return -1;
	}
	return 0;
}

static int put_flags(struct buffer *out, const cJSON *rows, struct error *err)
{
	bool any = false;
	const cJSON *row;
	const char *flag;

	cJSON_ArrayForEach(row, rows)
	{
		if (!row_flagged(row))
			continue;
		if (!any &&
		    buffer_text(out, "\nSuspect results (!):\n\n", err) < 0)
			return -1;
		any = true;
		for (size_t i = 0; (flag = row_flag(row, i)); i++)
			if (put_note(out, row, flag, err) < 0)
				return -1;
	}
	return 0;
}

static double number_of(const cJSON *row, const char *path)
{
	return cJSON_GetNumberValue(row_at(row, path));
}

/* A line per cell that has repeats: they follow each other. */
static int put_repeats(struct buffer *out, const cJSON *rows, struct error *err)
{
	const char *before = "";
	const cJSON *row;
	bool any = false;

	cJSON_ArrayForEach(row, rows)
	{
		const char *cell = row_text(row, "cell");

		if (!row_at(row, "repeats") || !cell || !strcmp(cell, before))
			continue;
		before = cell;
		if (!any && buffer_text(out, "\nRepeats:\n\n", err) < 0)
			return -1;
		any = true;
		if (buffer_text(out, "- ", err) < 0 ||
		    markdown_text(out, cell, err) < 0 ||
		    buffer_printf(out, err,
				  ": mean of %.0f repeats %.1f token/p/s, "
				  "standard deviation %.2f, CV %.2f %%\n",
				  number_of(row, "repeats.n"),
				  number_of(row, "repeats.mean"),
				  number_of(row, "repeats.stdev"),
				  number_of(row, "repeats.cv_percent")) < 0)
			return -1;
	}
	return 0;
}

/* Distinct texts in order; borrowed from the rows. */
struct set {
	const char **items;
	size_t count;
	size_t capacity;
};

static int set_add(struct set *set, const char *text)
{
	size_t low = 0, high = set->count;

	if (!text)
		return 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strverscmp(set->items[middle], text);

		if (order == 0)
			return 0;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (set->count == set->capacity) {
		size_t capacity = set->capacity ? set->capacity * 2 : 16;
		const char **items =
			reallocarray(set->items, capacity, sizeof(*items));

		if (!items)
			return -1;
		set->items = items;
		set->capacity = capacity;
	}
	memmove(set->items + low + 1, set->items + low,
		(set->count - low) * sizeof(*set->items));
	set->items[low] = text;
	set->count++;
	return 0;
}

/* All values that the completed rows have at the path: a text, or a list of
 * texts.
 */
static int collect(const cJSON *rows, const char *path, struct set *set)
{
	const cJSON *row, *item;

	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *value = row_at(row, path);

		if (!row_completed(row))
			continue;
		if (set_add(set, cJSON_GetStringValue(value)) < 0)
			return -1;
		if (!cJSON_IsArray(value))
			continue;
		cJSON_ArrayForEach(item, value)
		{
			if (set_add(set, cJSON_GetStringValue(item)) < 0)
				return -1;
		}
	}
	return 0;
}

static int put_set(struct buffer *out, const char *name, const struct set *set,
		   struct error *err)
{
	if (buffer_printf(out, err, "; %s ", name) < 0)
		return -1;
	for (size_t i = 0; i < set->count && i < NAMED_MAX; i++)
		if ((i && buffer_text(out, ", ", err) < 0) ||
		    markdown_text(out, set->items[i], err) < 0)
			return -1;
	if (set->count <= NAMED_MAX)
		return 0;
	return buffer_printf(out, err, " and %zu more", set->count - NAMED_MAX);
}

static int put_formulas(struct buffer *out, const cJSON *rows,
			struct error *err)
{
	double low = 0, high = 0;
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *formula = row_at(row, "result.formula");

		if (!row_completed(row) || !cJSON_IsNumber(formula))
			continue;
		if (!low || formula->valuedouble < low)
			low = formula->valuedouble;
		if (formula->valuedouble > high)
			high = formula->valuedouble;
	}
	if (low != high)
		return buffer_printf(out, err, "formula %.0f to %.0f", low,
				     high);
	return buffer_printf(out, err, "formula %.0f", high);
}

static int put_provenance(struct buffer *out, const cJSON *rows,
			  struct error *err)
{
	static const struct {
		const char *name;
		const char *path;
	} parts[] = {
		{ "image", "provenance.image" },
		{ "engine", "provenance.engine" },
		{ "kernel", "provenance.kernel" },
		{ "nodes", "provenance.nodes" },
	};
	const cJSON *row;
	bool any = false;

	cJSON_ArrayForEach(row, rows) any = any || row_completed(row);
	if (!any)
		return 0;
	if (buffer_text(out, "\nMeasured with ", err) < 0 ||
	    put_formulas(out, rows, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct set set = { 0 };
		int rc = collect(rows, parts[i].path, &set);

		if (rc < 0)
			error_nomem(err, "report");
		else if (set.count)
			rc = put_set(out, parts[i].name, &set, err);
		free(set.items);
		if (rc < 0)
			return -1;
	}
	return buffer_text(out, ".\n", err);
}

int report_markdown(const cJSON *rows, struct buffer *out, struct error *err)
{
	owned(table_clear) struct table table = { 0 };
	size_t size = out->size;

	if (rows_check(rows, err) < 0)
		return -1;
	buffer_init(&table.cells, out->limit);
	if (fill_table(&table, rows, err) < 0 ||
	    put_table(out, &table, err) < 0 ||
	    put_repeats(out, rows, err) < 0 ||
	    put_failures(out, rows, err) < 0 ||
	    put_origins(out, rows, err) < 0 || put_flags(out, rows, err) < 0 ||
	    put_provenance(out, rows, err) < 0)
		return rows_undo(out, size);
	return 0;
}
