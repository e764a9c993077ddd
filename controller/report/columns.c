/* columns.c - chooses and fills the columns of result tables.
 */
#include "controller/report/columns.h"

#include "protocol/base/strings.h"
#include "protocol/base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define METRICS_PLACE 10 /* metrics stand behind the figure of this place */
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
		.right = !figure || figure->format,
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

/* The number of a repeat is only shown if a cell has more than one. */
static bool any_wants(const struct report_figure *figure,
		      const struct report_rows *rows)
{
	ROWS_EACH(row, rows)
	{
		struct datum datum = figure_datum(figure, row);

		if (figure->measured ? datum.kind != DATUM_NONE
				     : datum.number > 0)
			return true;
	}
	return false;
}

void columns_choose(const struct report_rows *rows, bool labelled,
		    struct columns *columns)
{
	const struct report_figure *figure;

	*columns = (struct columns){ .unit = rows_unit(rows) };
	for (size_t i = 0; (figure = figure_used(IN_TABLE, i)); i++) {
		if (!(labelled && figure->labelled) &&
		    (!figure->optional || any_wants(figure, rows)))
			add_column(columns, figure, NULL);
		if (i + 1 == METRICS_PLACE)
			columns_add_metrics(columns, rows);
	}
}

static const char *column_write_state(const struct report_row *row,
				      char text[COLUMN_TEXT])
{
	const char *state = row->info.state, *failure = row_failure(row);

	snprintf(text, COLUMN_TEXT, "%s%s%s", state ? state : "-",
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

const char *column_text(const struct columns *columns, size_t column,
			const struct report_row *row, char text[COLUMN_TEXT])
{
	const struct report_figure *figure = columns->figures[column];
	char number[64] = "-";
	struct datum datum;

	if (!figure)
		return metric_text(row, columns->metrics[column], text);
	if (figure_is_state(figure))
		return column_write_state(row, text);
	datum = figure_datum(figure, row);
	if (datum.text)
		return column_copy_text(datum.text, text);
	if (datum.kind == DATUM_NUMBER && figure->format)
		/* The formats stand in the table of figures. */
		snprintf(number, sizeof(number), figure->format,
			 datum.number * (figure->scale ? figure->scale : 1));
	if (figure->rate && !columns->unit && datum.kind == DATUM_NUMBER)
		text_append(number, sizeof(number), " %s",
			    rate_units[row_rate(row).unit]);
	snprintf(text, COLUMN_TEXT, "%s%s", number,
		 figure->flagged && row_flag(row, 0) ? " (!)" : "");
	return text;
}

void columns_droppable(const struct columns *columns,
		       const char *titles[2 * COLUMNS_MAX])
{
	const struct report_figure *figure;
	size_t count = 0;

	while ((figure = figure_used(DROPPED, count)))
		titles[count++] = figure->title;
	for (size_t c = columns->count; c-- > 1;)
		if (columns->metrics[c])
			titles[count++] = columns->metrics[c];
	titles[count] = NULL;
}

/* Tables. */

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
		for (size_t c = 0; c < columns->count; c++)
			columns_add_cell(columns, c, row, labels, best, table);
	}
}
