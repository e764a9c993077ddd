/* results_table.c - the results of a sweep as a terminal shows them.
 */
#include "controller/cli/commands/results_table.h"
#include "controller/cli/render.h"
#include "controller/report/columns.h"
#include "controller/report/row.h"
#include "protocol/base/utf8.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 80
#define LABEL_MIN 16   /* columns that a cell's name has at least */
#define LABEL_SIZE 400 /* bytes of it */
#define GAP 2          /* between columns */

struct view {
	const cJSON *rows;
	struct columns columns;
	bool hidden[COLUMNS_MAX];
	size_t widths[COLUMNS_MAX];
	size_t width; /* of the terminal */
};

/* The word of a cell's name that begins at text ends before a blank behind
 * which a further "key=" stands: values may hold blanks.
 */
static size_t word_length(const char *text)
{
	size_t length = 0;

	for (;;) {
		const char *next;
		size_t key;

		length += strcspn(text + length, " ");
		if (!text[length])
			return length;
		next = text + length + 1;
		key = strcspn(next, " =");
		if (next[key] == '=')
			return length;
		length++;
	}
}

static bool has_word(const char *label, const char *word, size_t size)
{
	while (*label) {
		size_t length = word_length(label);

		if (length == size && !strncmp(label, word, size))
			return true;
		label += length;
		label += *label == ' ';
	}
	return false;
}

static bool in_all(const cJSON *rows, const char *word, size_t size)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		const char *cell = row_text(row, "cell");

		if (!cell || !has_word(cell, word, size))
			return false;
	}
	return true;
}

/* The words of the row's cell that all rows have, or those that they do not. */
static void pick_words(const cJSON *rows, const cJSON *row, bool common,
		       char *to, size_t size)
{
	const char *cell = row_text(row, "cell");
	size_t used = 0;

	to[0] = 0;
	for (; cell && *cell; cell += *cell == ' ') {
		size_t length = word_length(cell);

		if (in_all(rows, cell, length) == common && used < size)
			used += (size_t)snprintf(to + used, size - used,
						 "%s%.*s", used ? " " : "",
						 (int)length, cell);
		cell += length;
	}
}

static void label_of(const cJSON *rows, const cJSON *row, char *to, size_t size)
{
	const cJSON *repeat = row_at(row, "repeat");

	pick_words(rows, row, false, to, size - 16);
	if (cJSON_IsNumber(repeat) && repeat->valuedouble > 0)
		snprintf(to + strlen(to), 16, "%s#%.0f", *to ? " " : "",
			 repeat->valuedouble + 1);
	if (!*to)
		snprintf(to, size, "%s", rows->child == row ? "all" : "-");
}

/* "chip A100 / C500": the distinct texts at the path, at most four. */
static void print_about(struct cli *cli, const cJSON *rows, const char *name,
			bool *any)
{
	char path[40], text[300] = "", clean[400];
	const char *seen[4];
	size_t count = 0, used = 0;
	const cJSON *row;

	snprintf(path, sizeof(path), "setup.%s", name);
	cJSON_ArrayForEach(row, rows)
	{
		const char *value = row_text(row, path);
		size_t i = 0;

		while (value && i < count && strcmp(seen[i], value) != 0)
			i++;
		if (!value || i < count || count == 4)
			continue;
		seen[count++] = value;
		if (used < sizeof(text))
			used += (size_t)snprintf(text + used,
						 sizeof(text) - used, "%s%s",
						 used ? " / " : "", value);
	}
	if (!count)
		return;
	fprintf(cli->out, "%s%s %s", *any ? ", " : "", name,
		escape(text, clean, sizeof(clean)));
	*any = true;
}

/* What all rows have in common. */
static void print_head(struct cli *cli, const cJSON *rows)
{
	static const char *const names[] = { "model", "vendor", "chip",
					     "framework", "precision" };
	char words[LABEL_SIZE], clean[LABEL_SIZE];
	bool any = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		print_about(cli, rows, names[i], &any);
	if (any)
		fputc('\n', cli->out);
	pick_words(rows, rows->child, true, words, sizeof(words));
	if (*words && rows->child->next)
		fprintf(cli->out, "all: %s\n",
			escape(words, clean, sizeof(clean)));
	if (any || *words)
		fputc('\n', cli->out);
}

static const char *cell_text(const struct view *view, size_t column,
			     const cJSON *row, char text[COLUMN_TEXT])
{
	char label[LABEL_SIZE];

	if (column)
		return column_text(&view->columns, column, row, text);
	label_of(view->rows, row, label, sizeof(label));
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

/* With the cell's name as narrow as it may become. */
static bool fits(const struct view *view)
{
	size_t sum = 0;

	for (size_t c = 0; c < view->columns.count; c++) {
		size_t width = view->widths[c];

		if (!c && width > LABEL_MIN)
			width = LABEL_MIN;
		sum += view->hidden[c] ? 0 : width + GAP;
	}
	return sum <= view->width + GAP;
}

static void hide_columns(struct view *view)
{
	/* The least important first; then what else a framework measures. */
	static const char *const order[] = {
		"repeat",         "wall time (s)",  "HFU (%)",
		"nodes",          "step time (ms)", "J/token",
		"loss apart (%)", "devices",        "memory (MiB)",
	};

	for (size_t c = 1; c < view->columns.count; c++)
		view->hidden[c] =
			!strcmp(column_title(&view->columns, c), order[0]);
	for (size_t i = 1; i < sizeof(order) / sizeof(order[0]); i++)
		for (size_t c = 1; c < view->columns.count && !fits(view); c++)
			if (!strcmp(column_title(&view->columns, c), order[i]))
				view->hidden[c] = true;
	for (size_t c = view->columns.count; c-- > 1 && !fits(view);)
		if (view->columns.metrics[c])
			view->hidden[c] = true;
}

/* What remains for the cell's name. */
static size_t label_width(const struct view *view)
{
	size_t others = 0;

	for (size_t c = 1; c < view->columns.count; c++)
		others += view->hidden[c] ? 0 : view->widths[c] + GAP;
	return others + LABEL_MIN < view->width ? view->width - others
						: LABEL_MIN;
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
			table_cell(table, PLAIN, "%.*s...",
				   (int)utf8_cut(text, label - 3), text);
		else
			table_cell(table, last ? colour_of_job(state) : PLAIN,
				   "%s", text);
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
	return cli_print_table(cli, "", table, err);
}

/* Below the table: why rows have no result, and which are suspect. */
static void print_notes(struct cli *cli, const cJSON *rows, bool suspect)
{
	char reason[ROW_REASON_BYTES], label[LABEL_SIZE], clean[1000];
	const char *title =
		suspect ? "suspect results (!):" : "without a result:";
	bool any = false;
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		const char *text;

		for (size_t i = 0;; i++) {
			text = suspect ? (row_flagged(row) ? row_flag(row, i)
							   : NULL)
			       : i     ? NULL
				       : row_reason(row, reason);
			if (!text)
				break;
			if (!any)
				fprintf(cli->out, "\n%s\n", title);
			any = true;
			label_of(rows, row, label, sizeof(label));
			fprintf(cli->out,
				"  job %.0f, %s: ", row_double(row, "job"),
				escape(label, clean, sizeof(clean)));
			fprintf(cli->out, "%s\n",
				escape(text, clean, sizeof(clean)));
		}
	}
}

static void print_hidden(struct cli *cli, const struct view *view)
{
	bool any = false;

	for (size_t c = 1; c < view->columns.count; c++) {
		char clean[200];

		if (!view->hidden[c] ||
		    !strcmp(column_title(&view->columns, c), "repeat"))
			continue;
		fprintf(cli->out, "%s%s", any ? ", " : "\nnot shown: ",
			escape(column_title(&view->columns, c), clean,
			       sizeof(clean)));
		any = true;
	}
	if (any)
		fputs(" (a wider terminal, or --format markdown, shows all)\n",
		      cli->out);
}

int results_table(struct cli *cli, const cJSON *rows, struct error *err)
{
	struct view view = { .rows = rows, .width = WIDTH_DEFAULT };
	struct winsize size;

	if (rows_check(rows, err) < 0)
		return -1;
	if (!rows->child) {
		cli_say(cli, "no jobs");
		return 0;
	}
	if (ioctl(fileno(cli->out), TIOCGWINSZ, &size) == 0 && size.ws_col)
		view.width = size.ws_col;
	columns_choose(rows, &view.columns);
	measure(&view);
	hide_columns(&view);
	print_head(cli, rows);
	if (print_rows(cli, &view, err) < 0)
		return -1;
	print_notes(cli, rows, false);
	print_notes(cli, rows, true);
	print_hidden(cli, &view);
	return 0;
}
