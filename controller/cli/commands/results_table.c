/* results_table.c - prints the results of a sweep on a terminal.
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

/* The model, vendor, ... of the rows, and the words that all rows share. */
static void print_head(struct cli *cli, const cJSON *rows,
		       const struct labels *labels)
{
	char words[LABEL_SIZE], clean[LABEL_SIZE];
	bool any = false;

	for (size_t i = 0; label_subjects[i].name; i++) {
		labels_values(rows, label_subjects[i].path, words);
		if (!*words)
			continue;
		fprintf(cli->out, "%s%s %s", any ? ", " : "",
			label_subjects[i].name,
			escape(words, clean, sizeof(clean)));
		any = true;
	}
	if (any)
		fputc('\n', cli->out);
	if (*labels->common)
		cli_print_words(cli, "all: ", labels->common);
	if (any || *labels->common)
		fputc('\n', cli->out);
}

/* A cell is named by the words in which the rows differ, in brief if that takes
 * more than half of the terminal.
 */
static bool wants_brief(const cJSON *rows, const struct labels *labels,
			size_t width)
{
	char label[LABEL_SIZE];
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		if (utf8_width(labels_row(labels, row, label)) > width / 2)
			return true;
	}
	return false;
}

static void add_row(struct table *table, const struct columns *columns,
		    const struct labels *labels, bool brief, const cJSON *row)
{
	enum job_state state = job_state_from(row_text(row, "state"));
	char text[COLUMN_TEXT], label[LABEL_SIZE];

	table_text(table, brief ? labels_brief(labels, row, label)
				: labels_row(labels, row, label));
	for (size_t c = 1; c < columns->count; c++)
		table_cell(table,
			   c + 1 == columns->count ? colour_of_job(state)
						   : PLAIN,
			   "%s", column_text(columns, c, row, text));
}

/* The columns that may be left out, the least important first: those below,
 * then the metrics of the framework.
 */
static void find_droppable(const struct columns *columns,
			   const char *titles[2 * COLUMNS_MAX])
{
	static const char *const first[] = {
		"wall time (s)",  "HFU (%)",      "nodes",
		"step time (ms)", "J/token",      "loss difference (%)",
		"devices",        "memory (MiB)", "loss",
	};
	size_t count = sizeof(first) / sizeof(first[0]);

	memcpy(titles, first, sizeof(first));
	for (size_t c = columns->count; c-- > 1;)
		if (columns->metrics[c])
			titles[count++] = columns->metrics[c];
	titles[count] = NULL;
}

static int print_rows(struct cli *cli, const cJSON *rows,
		      const struct labels *labels, struct error *err)
{
	size_t width = cli_out_width(cli) ? cli_out_width(cli) : WIDTH_DEFAULT;
	bool brief = wants_brief(rows, labels, width);
	const char *droppable[2 * COLUMNS_MAX];
	struct columns columns;
	owned(table_clear) struct table table = { .columns = columns.heads };
	const cJSON *row;

	columns_choose(rows, true, &columns);
	cJSON_ArrayForEach(row, rows)
	{
		add_row(&table, &columns, labels, brief, row);
	}
	find_droppable(&columns, droppable);
	table_narrow(&table, width, width / 2, droppable);
	return cli_print_table(cli, "", &table, NULL, err);
}

/* Why rows have no result. */
static void print_failures(struct cli *cli, const cJSON *rows,
			   const struct labels *labels)
{
	char reason[ROW_NOTE_BYTES], label[LABEL_SIZE], clean[1000];
	bool any = false;
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		if (!row_reason(row, reason))
			continue;
		fprintf(cli->out, "%s  job %.0f, ",
			any ? "" : "\nwithout a result:\n",
			row_double(row, "job"));
		any = true;
		labels_row(labels, row, label);
		fprintf(cli->out, "%s: ", escape(label, clean, sizeof(clean)));
		fprintf(cli->out, "%s\n", escape(reason, clean, sizeof(clean)));
	}
}

/* Which results are suspect, and why. */
static int print_suspects(struct cli *cli, const cJSON *rows,
			  const struct labels *labels, struct error *err)
{
	owned(suspects_clear) struct suspects suspects = { 0 };
	char who[SUSPECT_JOBS_SIZE], label[LABEL_SIZE], clean[1000];

	if (suspects_find(rows, &suspects, err) < 0)
		return -1;
	for (size_t i = 0; i < suspects.count; i++) {
		const struct suspect *suspect = &suspects.items[i];

		fprintf(cli->out, "%s  %s", i ? "" : "\nsuspect results (!):\n",
			suspect_jobs(suspect, who));
		if (suspect->count == 1)
			fprintf(cli->out, ", %s",
				escape(labels_row(labels, suspect->rows->row,
						  label),
				       clean, sizeof(clean)));
		fprintf(cli->out, ": %s\n",
			escape(suspect->text, clean, sizeof(clean)));
	}
	return 0;
}

int results_table(struct cli *cli, const cJSON *rows, struct error *err)
{
	struct labels labels;

	if (rows_check(rows, err) < 0)
		return -1;
	if (!rows->child) {
		cli_say(cli, "no jobs");
		return 0;
	}
	labels_find(rows, &labels);
	print_head(cli, rows, &labels);
	if (print_rows(cli, rows, &labels, err) < 0)
		return -1;
	print_failures(cli, rows, &labels);
	return print_suspects(cli, rows, &labels, err);
}
