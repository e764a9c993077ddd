/* columns.c - chooses and fills the columns of result tables.
 */
#include "controller/report/columns.h"

#include "controller/report/translations.h"
#include "protocol/base/strings.h"
#include "protocol/base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define METRICS_PLACE 15 /* metrics stand behind the figure of this place */
#define METRIC_FORMAT "%.6g"

static bool has_column(const struct columns *columns, const char *metric)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->metrics[i] && !strcmp(columns->metrics[i], metric))
			return true;
	return false;
}

static void add_column(struct columns *columns,
		       const struct report_figure *figure, const char *metric)
{
	if (columns->count == COLUMNS_MAX)
		return;
	columns->heads[columns->count] = (struct column){
		.title = !figure ? metric
			 : figure->rate && columns->unit
				 ? rate_units[columns->unit]
				 : figure->title,
		.right = !figure || figure->format ||
			 figure->says == CELL_RELATION,
	};
	columns->figures[columns->count] = figure;
	columns->metrics[columns->count] = metric;
	columns->count++;
}

static void columns_add_metrics(struct columns *columns,
				const struct report_rows *rows)
{
	ROWS_EACH(row, rows)
	{
		const struct result *result = row->info.result;

		for (size_t i = 0;
		     row_completed(row) && result && i < result->metrics_count;
		     i++)
			if (row_shows(row, result->metrics[i].name) &&
			    !has_column(columns, result->metrics[i].name))
				add_column(columns, NULL,
					   result->metrics[i].name);
	}
}

/* Does the figure say anything of the row? Only the row of a cell has runs and
 * a relation; of the store only older runs are of interest.
 */
static bool figure_says(const struct report_figure *figure,
			const struct report_row *row)
{
	const struct repeats_info *of = row->repeats;
	const struct cell_history *store = row->info.store;

	switch (figure->says) {
	case CELL_RUNS:
	case CELL_RANGE:
	case CELL_RELATION:
		return of && of->runs;
	case SAYS_STORE:
		return store && row_completed(row) &&
		       store->runs > (of ? of->n : 1);
	case SAYS_PUBLISHED:
		return row->info.published && row_completed(row);
	case CELL_NUMBER:
		break;
	}
	return true;
}

/* The number of a repeat is only shown if a cell has more than one. */
static bool any_wants(const struct report_figure *figure,
		      const struct report_rows *rows)
{
	ROWS_EACH(row, rows)
	{
		struct datum datum = figure_datum(figure, row);

		if (!figure_says(figure, row))
			continue;
		if (figure->measured ? datum.kind != DATUM_NONE
				     : datum.number > figure->indexed)
			return true;
	}
	return false;
}

/* So that the smallest rate has two digits. */
static int rate_digits(const struct report_rows *rows)
{
	double least = INFINITY;

	ROWS_EACH(row, rows)
	{
		least = fmin(least, row_rate(row).value);
	}
	return least < 1 ? (int)fmin(1 - floor(log10(least)), 6) : 1;
}

/* So that the smallest margin is not 0. */
static int relation_digits(const struct report_rows *rows)
{
	ROWS_EACH(row, rows)
	{
		const struct repeats_info *of = row->repeats;

		if (of && of->runs && of->relative_margin < 0.005)
			return 3;
	}
	return 2;
}

void columns_choose(const struct report_rows *rows, bool labelled,
		    struct columns *columns)
{
	const struct report_figure *figure;

	*columns = (struct columns){ .unit = rows_unit(rows),
				     .digits = rate_digits(rows),
				     .relation_digits = relation_digits(rows) };
	for (size_t i = 0; (figure = figure_used(IN_TABLE, i)); i++) {
		if (!(labelled && figure->labelled) &&
		    (!figure->optional || any_wants(figure, rows)))
			add_column(columns, figure, NULL);
		if (i + 1 == METRICS_PLACE)
			columns_add_metrics(columns, rows);
	}
}

static const char *column_write_state(const struct columns *columns,
				      const struct report_row *row,
				      char text[COLUMN_TEXT])
{
	const char *state = row->info.state, *failure = row_failure(row);

	snprintf(text, COLUMN_TEXT, "%s%s%s",
		 state ? phrase(columns->language, state) : "-",
		 failure ? ": " : "", failure ? failure : "");
	return text;
}

/* Copy a text; one that is too long is cut between characters and ends in
 * "...".
 */
static const char *column_copy_text(const char *from, char text[COLUMN_TEXT])
{
	size_t size = strlen(from);

	if (size >= COLUMN_TEXT) {
		size = utf8_cut(from, COLUMN_TEXT - 4);
		memcpy(text + size, "...", 4);
	} else {
		text[size] = 0;
	}
	return memcpy(text, from, size);
}

static const char *metric_text(const struct report_row *row, const char *metric,
			       char text[COLUMN_TEXT])
{
	double number = row_completed(row) ? row_metric(row, metric) : NAN;

	if (isnan(number))
		return column_copy_text("-", text);
	snprintf(text, COLUMN_TEXT, METRIC_FORMAT, number);
	return text;
}

/* "4150.2 ± 12.1 token/p/s", where the unit is not in the heading. */
static void column_write_rate(const struct columns *columns,
			      const struct report_row *row, char text[64])
{
	const struct repeats_info *of = row->repeats;
	struct rate rate = row_rate(row);

	snprintf(text, 64, "%.*f", columns->digits, rate.value);
	if (of && of->runs && isfinite(of->margin))
		text_append(text, 64, " ± %.*f", columns->digits, of->margin);
	if (!columns->unit)
		text_append(text, 64, " %s", rate_units[rate.unit]);
}

/* "2 of 3, 1 failed" */
static void write_runs(const struct columns *columns,
		       const struct repeats_info *of, char text[64])
{
	snprintf(text, 64, "%llu", (unsigned long long)of->completed);
	if (of->completed < of->runs)
		text_append(text, 64, phrase(columns->language, " of %llu"),
			    (unsigned long long)of->runs);
	if (of->failed)
		text_append(text, 64,
			    phrase(columns->language, ", %llu failed"),
			    (unsigned long long)of->failed);
}

/* "1.27 ± 0.01 × slower" */
static void write_relation(const struct columns *columns,
			   const struct repeats_info *of, char text[64])
{
	int digits = columns->relation_digits;

	text[0] = 0;
	if (isfinite(of->relative))
		text_append(text, 64, "%.*f", digits, of->relative);
	if (isfinite(of->relative_margin))
		text_append(text, 64, " ± %.*f", digits, of->relative_margin);
	text_append(text, 64, "%s%s",
		    of->relation == RELATION_SAME ? ", "
		    : isfinite(of->relative)      ? " × "
						  : "",
		    phrase(columns->language, relation_names[of->relation]));
}

/* "run 4 of 9: 4150.2 / 4100.1 / 3900.0"; of a cell how many runs it has. */
static void write_history(const struct columns *columns,
			  const struct report_row *row, char text[COLUMN_TEXT])
{
	const struct cell_history *store = row->info.store;
	const struct repeats_info *of = row->repeats;
	bool cell = of && of->runs;

	snprintf(text, COLUMN_TEXT, "%s", "");
	text_append(text, COLUMN_TEXT,
		    phrase(columns->language,
			   cell ? "%llu of %llu" : "run %llu of %llu"),
		    (unsigned long long)(cell ? of->n : store->run),
		    (unsigned long long)store->runs);
	text_append(text, COLUMN_TEXT, ": %.*f / %.*f / %.*f", columns->digits,
		    store->best, columns->digits, store->median,
		    columns->digits, store->worst);
}

/* "96.0 % of 2710", and in which ways it was measured differently. */
static void write_published(const struct columns *columns,
			    const struct published_info *of,
			    char text[COLUMN_TEXT])
{
	bool known = isfinite(of->percent);

	snprintf(text, COLUMN_TEXT, "%s", "");
	if (known)
		text_append(text, COLUMN_TEXT,
			    phrase(columns->language, "%.1f %% of "),
			    of->percent);
	text_append(text, COLUMN_TEXT, "%.6g", of->rate);
	if (of->differs)
		text_append(text, COLUMN_TEXT,
			    phrase(columns->language,
				   known ? " (%s)" : " (not comparable: %s)"),
			    of->differs);
}

/* False: the figure is a number. */
static bool column_write_says(const struct columns *columns,
			      const struct report_figure *figure,
			      const struct report_row *row,
			      char text[COLUMN_TEXT])
{
	const struct repeats_info *of = row->repeats;

	if (!figure->says || !figure_says(figure, row))
		return figure->says > CELL_RELATION;
	switch (figure->says) {
	case CELL_RUNS:
		write_runs(columns, of, text);
		break;
	case CELL_RANGE:
		if (of->n > 1)
			snprintf(text, COLUMN_TEXT, "%.*f-%.*f",
				 columns->digits, of->min, columns->digits,
				 of->max);
		break;
	case CELL_RELATION:
		if (of->relation)
			write_relation(columns, of, text);
		break;
	case SAYS_STORE:
		write_history(columns, row, text);
		break;
	case SAYS_PUBLISHED:
		write_published(columns, row->info.published, text);
		break;
	case CELL_NUMBER:
		break;
	}
	return true;
}

const char *column_text(const struct columns *columns, size_t column,
			const struct report_row *row, char text[COLUMN_TEXT])
{
	const struct report_figure *figure = columns->figures[column];
	char number[COLUMN_TEXT] = "-";
	struct datum datum;

	if (!figure)
		return metric_text(row, columns->metrics[column], text);
	if (figure_is_state(figure))
		return column_write_state(columns, row, text);
	if (column_write_says(columns, figure, row, number))
		return column_copy_text(number, text);
	datum = figure_datum(figure, row);
	if (datum.text)
		return column_copy_text(datum.text, text);
	if (datum.kind == DATUM_NUMBER && figure->rate)
		column_write_rate(columns, row, number);
	else if (datum.kind == DATUM_NUMBER && figure->format)
		/* The formats stand in the table of figures. */
		snprintf(number, sizeof(number), figure->format,
			 datum.number * (figure->scale ? figure->scale : 1));
	snprintf(text, COLUMN_TEXT, "%.*s%s", COLUMN_TEXT - 5, number,
		 figure->flagged && row_flag(row, 0) ? " (!)" : "");
	return text;
}

void columns_droppable(const struct columns *columns,
		       const char *titles[2 * COLUMNS_MAX])
{
	const struct report_figure *figure;
	size_t count = 0;

	for (size_t i = 0; (figure = figure_used(DROPPED, i)); i++)
		if (!columns->by_nodes || strcmp(figure->title, "nodes") != 0)
			titles[count++] = figure->title;
	for (size_t c = columns->count; c-- > 1;)
		if (columns->metrics[c])
			titles[count++] = columns->metrics[c];
	titles[count] = NULL;
}

/* Tables. */

/* The value of the row's key with this index, and whether its name is that key;
 * "": it has fewer keys.
 */
static bool key_value(const struct labels *labels, const struct report_row *row,
		      size_t index, char key[COLUMNS_KEY_SIZE],
		      char value[LABEL_SIZE])
{
	char label[LABEL_SIZE];
	const char *rest =
		labels_row(labels, row->info.cell, row->info.repeat, label);
	const char *word, *equals;
	size_t length;

	/* Nodes have their own column. */
	do
		length = labels_next(&rest, &word);
	while (length && (!strncmp(word, "nodes=", 6) || index--));
	equals = length ? memchr(word, '=', length) : NULL;
	if (!equals || equals - word >= COLUMNS_KEY_SIZE)
		return false;
	snprintf(key, COLUMNS_KEY_SIZE, "%.*s", (int)(equals - word), word);
	snprintf(value, LABEL_SIZE, "%.*s",
		 (int)(length - (size_t)(equals + 1 - word)), equals + 1);
	return true;
}

/* Have all rows exactly these keys? */
static bool rows_have_keys(const struct columns *columns,
			   const struct report_rows *rows,
			   const struct labels *labels)
{
	char key[COLUMNS_KEY_SIZE], value[LABEL_SIZE];

	ROWS_EACH(row, rows)
	{
		for (size_t k = 0; k < columns->keys_count; k++)
			if (!key_value(labels, row, k, key, value) ||
			    strcmp(key, columns->keys[k]) != 0)
				return false;
		if (row->info.repeat ||
		    key_value(labels, row, columns->keys_count, key, value))
			return false;
	}
	return true;
}

void columns_translate(struct columns *columns, enum language language)
{
	columns->language = language;
	for (size_t c = 0; c < columns->count; c++)
		columns->heads[c].title =
			phrase(language, columns->heads[c].title);
}

void columns_split(struct columns *columns, const struct report_rows *rows,
		   const struct labels *labels, size_t most)
{
	char value[LABEL_SIZE];

	while (rows->count && columns->keys_count < most &&
	       key_value(labels, rows->items, columns->keys_count,
			 columns->keys[columns->keys_count], value))
		columns->keys_count++;
	if (!rows_have_keys(columns, rows, labels))
		columns->keys_count = 0;
	if (!columns->keys_count)
		return;
	ROWS_EACH(row, rows)
	{
		columns->by_nodes |= row->info.nodes != rows->items->info.nodes;
	}
	memmove(columns->heads + columns->keys_count, columns->heads + 1,
		columns->count * sizeof(*columns->heads));
	for (size_t k = 0; k < columns->keys_count; k++)
		columns->heads[k] =
			(struct column){ .title = columns->keys[k] };
}

static void columns_add_keys(const struct columns *columns,
			     const struct report_row *row,
			     const struct labels *labels, struct table *table)
{
	char key[COLUMNS_KEY_SIZE], value[LABEL_SIZE];

	for (size_t k = 0; k < columns->keys_count; k++)
		table_text(table,
			   key_value(labels, row, k, key, value) ? value : "");
}

static void find_best(const struct report_rows *rows, double best[RATE_UNITS])
{
	ROWS_EACH(row, rows)
	{
		struct rate rate = row_rate(row);

		best[rate.unit] = fmax(best[rate.unit], rate.value);
	}
}

static void columns_add_cell(const struct columns *columns, size_t column,
			     const struct report_row *row,
			     const struct labels *labels,
			     const double best[RATE_UNITS], struct table *table)
{
	const struct report_figure *figure = columns->figures[column];
	struct rate rate = row_rate(row);
	bool bad = column == columns->count - 1 && row_failed(row);
	char text[COLUMN_TEXT], label[LABEL_SIZE];

	table_cell(table, bad ? RED : PLAIN, "%s",
		   labels && !column ? labels_row(labels, row->info.cell,
						  row->info.repeat, label)
				     : column_text(columns, column, row, text));
	if (figure && figure->flagged && rate.unit)
		table_bar(table, rate.value / best[rate.unit] * 100);
}

void columns_table(const struct columns *columns,
		   const struct report_rows *rows, const struct labels *labels,
		   struct table *table)
{
	double best[RATE_UNITS] = { 0 };

	find_best(rows, best);
	*table = (struct table){ .columns = columns->heads };
	ROWS_EACH(row, rows)
	{
		columns_add_keys(columns, row, labels, table);
		for (size_t c = columns->keys_count > 0; c < columns->count;
		     c++)
			columns_add_cell(columns, c, row, labels, best, table);
	}
}
