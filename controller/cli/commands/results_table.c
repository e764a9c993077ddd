/* results_table.c - the results of a sweep as a terminal shows them.
 */
#include "controller/cli/commands/results_table.h"
#include "controller/cli/render.h"
#include "controller/report/columns.h"
#include "controller/report/labels.h"
#include "controller/report/row.h"
#include "controller/report/suspects.h"
#include "protocol/base/utf8.h"

#include <string.h>

#define WIDTH_DEFAULT 80
#define GAP 2         /* between columns */
#define LABEL_LEAST 8 /* columns of a cell's name in any case */

struct view {
	const cJSON *rows;
	struct labels labels;
	struct columns columns;
	bool hidden[COLUMNS_MAX];
	size_t widths[COLUMNS_MAX];
	size_t width; /* of the terminal */
	bool brief;   /* names of cells are */
};

/* What was run, and what all rows have in common. */
static void print_head(struct cli *cli, const struct view *view)
{
	char words[LABEL_SIZE], clean[LABEL_SIZE];
	const char *common = view->labels.common;
	bool any = false;

	for (size_t i = 0; label_subjects[i].name; i++) {
		labels_values(view->rows, label_subjects[i].path, words);
		if (!*words)
			continue;
		fprintf(cli->out, "%s%s %s", any ? ", " : "",
			label_subjects[i].name,
			escape(words, clean, sizeof(clean)));
		any = true;
	}
	if (any)
		fputc('\n', cli->out);
	if (*common)
		cli_print_words(cli, "all: ", common);
	if (any || *common)
		fputc('\n', cli->out);
}

static const char *cell_text(const struct view *view, size_t column,
			     const cJSON *row, char text[COLUMN_TEXT])
{
	char label[LABEL_SIZE];

	if (column)
		return column_text(&view->columns, column, row, text);
	if (view->brief)
		labels_brief(&view->labels, row, label);
	else
		labels_row(&view->labels, row, label);
	snprintf(text, COLUMN_TEXT, "%.*s",
		 (int)utf8_cut(label, COLUMN_TEXT - 1), label);
	return text;
}

static void measure(struct view *view)
{
	const cJSON *row;
	char text[COLUMN_TEXT];

	for (size_t c = 0; c < view->columns.count; c++) {
		view->widths[c] = utf8_width(column_title(&view->columns, c));
		cJSON_ArrayForEach(row, view->rows)
		{
			size_t width =
				utf8_width(cell_text(view, c, row, text));

			if (width > view->widths[c])
				view->widths[c] = width;
		}
	}
}

/* Columns that a cell's name has at least, if it needs them. */
static size_t label_min(const struct view *view)
{
	return view->width / 2;
}

/* With the cell's name as narrow as it may become. */
static bool fits(const struct view *view)
{
	size_t sum = 0;

	for (size_t c = 0; c < view->columns.count; c++) {
		size_t width = view->widths[c];

		if (!c && width > label_min(view))
			width = label_min(view);
		sum += view->hidden[c] ? 0 : width + GAP;
	}
	return sum <= view->width + GAP;
}

/* The least important first. */
static const char *const droppable[] = {
	"wall time (s)",  "HFU (%)",      "nodes",
	"step time (ms)", "J/token",      "loss difference (%)",
	"devices",        "memory (MiB)", "loss",
};
#define DROPPABLE (sizeof(droppable) / sizeof(droppable[0]))

static bool *hidden_by_title(struct view *view, const char *title)
{
	for (size_t c = 1; c < view->columns.count; c++)
		if (!strcmp(column_title(&view->columns, c), title))
			return &view->hidden[c];
	return NULL;
}

static void show_if_it_fits(const struct view *view, bool *hidden)
{
	if (!hidden || !*hidden)
		return;
	*hidden = false;
	*hidden = !fits(view);
}

/* Then what else a framework measures; what was hidden in vain comes back. */
static void hide_columns(struct view *view)
{
	for (size_t i = 0; i < DROPPABLE && !fits(view); i++) {
		bool *hidden = hidden_by_title(view, droppable[i]);

		if (hidden)
			*hidden = true;
	}
	for (size_t c = view->columns.count; c-- > 1 && !fits(view);)
		if (view->columns.metrics[c])
			view->hidden[c] = true;
	for (size_t i = DROPPABLE; i-- > 0;)
		show_if_it_fits(view, hidden_by_title(view, droppable[i]));
}

/* What remains for the cell's name. */
static size_t label_width(const struct view *view)
{
	size_t others = 0;

	for (size_t c = 1; c < view->columns.count; c++)
		others += view->hidden[c] ? 0 : view->widths[c] + GAP;
	return others + LABEL_LEAST < view->width ? view->width - others
						  : LABEL_LEAST;
}

static void add_row(const struct view *view, struct table *table,
		    const cJSON *row)
{
	enum job_state state = job_state_from(row_text(row, "state"));
	size_t label = label_width(view);
	char text[COLUMN_TEXT];

	for (size_t c = 0; c < view->columns.count; c++) {
		bool last = c + 1 == view->columns.count;

		if (view->hidden[c])
			continue;
		cell_text(view, c, row, text);
		if (!c && utf8_width(text) > label)
			labels_squeeze(text, label);
		table_cell(table, last ? colour_of_job(state) : PLAIN, "%s",
			   text);
	}
}

static int print_rows(struct cli *cli, const struct view *view,
		      struct error *err)
{
	struct column columns[COLUMNS_MAX + 1] = { 0 };
	owned(table_free) struct table *table = NULL;
	size_t count = 0;
	const cJSON *row;

	for (size_t c = 0; c < view->columns.count; c++)
		if (!view->hidden[c])
			columns[count++] = (struct column){
				column_title(&view->columns, c),
				column_right(&view->columns, c)
			};
	table = table_new(columns, err);
	if (!table)
		return -1;
	cJSON_ArrayForEach(row, view->rows)
	{
		add_row(view, table, row);
	}
	return cli_print_table(cli, "", table, NULL, err);
}

/* Below the table: why rows have no result. */
static void print_failures(struct cli *cli, const struct view *view)
{
	char reason[ROW_REASON_BYTES], label[LABEL_SIZE], clean[1000];
	bool any = false;
	const cJSON *row;

	cJSON_ArrayForEach(row, view->rows)
	{
		if (!row_reason(row, reason))
			continue;
		fprintf(cli->out, "%s  job %.0f, ",
			any ? "" : "\nwithout a result:\n",
			row_double(row, "job"));
		any = true;
		labels_row(&view->labels, row, label);
		fprintf(cli->out, "%s: ", escape(label, clean, sizeof(clean)));
		fprintf(cli->out, "%s\n", escape(reason, clean, sizeof(clean)));
	}
}

/* And which results are suspect. */
static int print_suspects(struct cli *cli, const struct view *view,
			  struct error *err)
{
	owned(suspects_clear) struct suspects suspects = { 0 };
	char who[SUSPECT_JOBS_SIZE], label[LABEL_SIZE], clean[1000];

	if (suspects_find(view->rows, &suspects, err) < 0)
		return -1;
	for (size_t i = 0; i < suspects.count; i++) {
		const struct suspect *suspect = &suspects.items[i];

		fprintf(cli->out, "%s  %s", i ? "" : "\nsuspect results (!):\n",
			suspect_jobs(suspect, who));
		if (suspect->count == 1)
			fprintf(cli->out, ", %s",
				escape(labels_row(&view->labels,
						  suspect->rows->row, label),
				       clean, sizeof(clean)));
		fprintf(cli->out, ": %s\n",
			escape(suspect->text, clean, sizeof(clean)));
	}
	return 0;
}

static void print_hidden(struct cli *cli, const struct view *view)
{
	bool any = false;

	for (size_t c = 1; c < view->columns.count; c++) {
		char clean[200];

		if (!view->hidden[c])
			continue;
		fprintf(cli->out, "%s%s", any ? ", " : "\nnot shown: ",
			escape(column_title(&view->columns, c), clean,
			       sizeof(clean)));
		any = true;
	}
	if (any)
		fputs("\n(a wider terminal, or --format markdown, shows all)\n",
		      cli->out);
}

int results_table(struct cli *cli, const cJSON *rows, struct error *err)
{
	struct view view = { .rows = rows, .width = WIDTH_DEFAULT };
	size_t width = cli_out_width(cli);

	if (rows_check(rows, err) < 0)
		return -1;
	if (!rows->child) {
		cli_say(cli, "no jobs");
		return 0;
	}
	if (width)
		view.width = width;
	columns_choose(rows, true, &view.columns);
	labels_find(rows, &view.labels);
	measure(&view);
	if (view.widths[0] > label_min(&view)) {
		view.brief = true;
		measure(&view);
	}
	hide_columns(&view);
	print_head(cli, &view);
	if (print_rows(cli, &view, err) < 0)
		return -1;
	print_failures(cli, &view);
	if (print_suspects(cli, &view, err) < 0)
		return -1;
	print_hidden(cli, &view);
	return 0;
}
