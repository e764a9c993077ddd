/* trend.c - trend: shows the rate of a cell over all sweeps.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/results.h"
#include "controller/cli/run/session.h"
#include "controller/report/trend.h"
#include "controller/results/json_object.h"
#include "protocol/base/program.h"
#include "protocol/message/reply_sweeps.h"

#include <math.h>
#include <stdlib.h>

#define LAST 50 /* sweeps that are read */

struct trend_options {
	struct options common;
	uint64_t last;
};

/* The sweeps that are read, and their rows. */
struct read_sweeps {
	struct rows infos;
	struct trend_sweep *items;
	size_t count;
};

static void read_sweeps_clear(struct read_sweeps *sweeps)
{
	for (size_t i = 0; i < sweeps->count; i++)
		cJSON_Delete((cJSON *)sweeps->items[i].rows);
	free(sweeps->items);
	rows_clear(&sweeps->infos);
}
OWNED_VALUE(struct read_sweeps, read_sweeps_clear)

static int trends_read_all(struct cli *cli, struct read_sweeps *sweeps,
			   struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	uint64_t last = ((const struct trend_options *)cli->given)->last;
	size_t first;

	if (last == OPTION_NONE)
		last = LAST;
	if (session_open(&session, cli, err) < 0 ||
	    client_rows(session.client, QUERY_SWEEPS, 0, "id", &sweeps->infos,
			err) < 0)
		return -1;
	first = sweeps->infos.count > last ? sweeps->infos.count - (size_t)last
					   : 0;
	sweeps->items = calloc((size_t)last + 1, sizeof(*sweeps->items));
	if (!sweeps->items)
		return error_nomem(err, "trend");
	for (size_t i = first; i < sweeps->infos.count; i++) {
		const struct sweep_info *info = rows_at(&sweeps->infos, i);
		cJSON *rows = NULL;

		if (results_fetch(session.client, info->id, false, &rows, err) <
		    0)
			return -1;
		sweeps->items[sweeps->count++] = (struct trend_sweep){
			.about = { .sweep = info->id,
				   .name = info->name,
				   .submitted_ms = info->submitted_ms },
			.rows = rows,
		};
	}
	return 0;
}

static void point_row(struct table *table, const cJSON *point)
{
	double change = row_double(point, "change_percent");
	bool fell = cJSON_IsTrue(row_at(point, "regression"));

	table_cell(table, PLAIN, "%.0f", row_double(point, "sweep"));
	table_text(table, row_text(point, "name"));
	table_text(table, row_text(point, "submitted_utc"));
	table_cell(table, PLAIN, "%.0f", row_double(point, "n"));
	table_cell(table, PLAIN, "%.1f", row_double(point, "rate"));
	if (isfinite(change))
		table_cell(table, fell ? RED : PLAIN, "%+.1f", change);
	else
		table_cell(table, FAINT, "-");
	table_cell(table, fell ? RED : PLAIN, "%s", fell ? "regression" : "");
}

static int trends_print_cell(struct cli *cli, const cJSON *cell,
			     struct error *err)
{
	static const struct column columns[] = {
		{ "SWEEP", true },     { "NAME", false },
		{ "DATE", false },     { "REPEATS", true },
		{ "TOKEN/P/S", true }, { "CHANGE %", true },
		{ "VERDICT", false },  { NULL, false },
	};
	static const char *const names[] = { "cell", "vendor", "chip",
					     "framework", "precision" };
	static const char *const droppable[] = { "REPEATS", "DATE", "NAME",
						 NULL };
	owned(table_clear) struct table table = { .columns = columns };
	const cJSON *point;
	char clean[1000];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = row_text(cell, names[i]);

		if (text)
			fprintf(cli->out, "%s%s%s%s%s", i > 1 ? ", " : "",
				i ? names[i] : "", i ? " " : "",
				escape(text, clean, sizeof(clean)),
				i ? "" : ": ");
	}
	fputc('\n', cli->out);
	cJSON_ArrayForEach(point, row_at(cell, "points"))
	{
		point_row(&table, point);
	}
	return cli_print_table(cli, "", &table, droppable, err);
}

static int trend_command(struct cli *cli, struct error *err)
{
	owned(read_sweeps_clear) struct read_sweeps sweeps = { 0 };
	owned(cJSON_Delete) cJSON *cells = NULL;
	const cJSON *cell;

	if (trends_read_all(cli, &sweeps, err) < 0)
		return -1;
	cells = trend_cells(sweeps.items, sweeps.count, cli->args[0], err);
	if (!cells)
		return -1;
	if (cli_format(cli, "json")) {
		if (cli_print_json(cli, cells, err) < 0)
			return -1;
	} else {
		cJSON_ArrayForEach(cell, cells)
		{
			if (cell != cells->child)
				fputc('\n', cli->out);
			if (trends_print_cell(cli, cell, err) < 0)
				return -1;
		}
	}
	if (cells->child)
		return EXIT_GOOD;
	cli_say(cli, "no completed cell of the last %zu sweeps is of %s",
		sweeps.count, cli->args[0]);
	return EXIT_WORK_FAILED;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(trend_options, "last", 0, OPTION_NUMBER, last, "N"),
	  .min = 1, .max = 1000,
	  .help = "read the last N sweeps (50)" },
	OPTION_STATE,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_trend = {
	.name = "trend",
	.args = "MODEL|CELL",
	.min_args = 1,
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct trend_options),
	.summary = "show the rate of a cell over all sweeps",
	.help =
		"For each cell of the model, or each cell with all words of "
		  "CELL, shows the mean token/p/s in each sweep and its "
		  "change against the mean of the earlier sweeps. A decrease "
		  "by more than 5 % and more than twice their standard "
		  "deviation is a regression.",
	.example = "regatta trend \"model=gpt3_6.7B nodes=2\"",
	.fn = trend_command,
};
/* clang-format on */
