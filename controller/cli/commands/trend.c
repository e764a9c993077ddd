/* trend.c - trend: shows the rate of a cell over all sweeps.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/gate.h"
#include "controller/cli/commands/results.h"
#include "controller/cli/commands/sweep_source.h"
#include "controller/cli/notify.h"
#include "controller/report/trend.h"
#include "protocol/base/program.h"
#include "protocol/message/reply_sweeps.h"

#include <math.h>
#include <stdlib.h>

#define LAST 50 /* sweeps that are read */

struct trend_options {
	struct options common;
	uint64_t last;
	struct option_list require;
	const char *junit;
	const char *notify;
};

/* The sweeps that are read, and their rows. */
struct read_sweeps {
	struct rows infos;
	struct trend_sweep *items;
	size_t count;
	struct sweep_source *sources; /* of those that the command line names */
	size_t source_count;
};

static void read_sweeps_clear(struct read_sweeps *sweeps)
{
	for (size_t i = 0; i < sweeps->count; i++)
		report_rows_clear(&sweeps->items[i].rows);
	free(sweeps->items);
	for (size_t i = 0; i < sweeps->source_count; i++)
		sweep_source_clear(&sweeps->sources[i]);
	free(sweeps->sources);
	rows_clear(&sweeps->infos);
}
OWNED_VALUE(struct read_sweeps, read_sweeps_clear)

/* The files and folders that are named after the cell. */
static int trends_read_named(struct cli *cli, struct read_sweeps *sweeps,
			     struct error *err)
{
	sweeps->items = calloc(cli->arg_count, sizeof(*sweeps->items));
	sweeps->sources = calloc(cli->arg_count, sizeof(*sweeps->sources));
	if (!sweeps->items || !sweeps->sources)
		return error_nomem(err, "trend");
	for (size_t i = 1; i < cli->arg_count; i++) {
		struct sweep_source *source =
			&sweeps->sources[sweeps->source_count];
		struct trend_sweep *sweep = &sweeps->items[sweeps->count];

		sweeps->source_count++;
		if (sweep_source_read(source, cli, cli->args[i], 0, err) < 0)
			return -1;
		session_clear(&source->session);
		sweep->about = source->about.about;
		sweep->about.sweep = i; /* two folders may have the same */
		sweep->about.name = cli->args[i];
		sweep->rows = source->rows;
		source->rows = (struct report_rows){ 0 };
		sweeps->count++;
	}
	return 0;
}

static int trends_read_all(struct cli *cli, struct read_sweeps *sweeps,
			   struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	uint64_t last = ((const struct trend_options *)cli->given)->last;
	size_t first;

	if (cli->arg_count > 1)
		return trends_read_named(cli, sweeps, err);
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
		struct trend_sweep *sweep = &sweeps->items[sweeps->count];

		if (results_fetch(session.client, info->id, false, &sweep->rows,
				  err) < 0)
			return -1;
		sweep->about =
			(struct report_about){ .sweep = info->id,
					       .name = info->name,
					       .submitted_ms =
						       info->submitted_ms };
		sweeps->count++;
	}
	return 0;
}

static void point_row(struct table *table, const struct trend_point *point)
{
	enum colour colour = point->regression ? RED : PLAIN;

	table_cell(table, PLAIN, "%llu", (unsigned long long)point->sweep);
	table_text(table, point->name);
	table_text(table, point->submitted_utc);
	table_cell(table, PLAIN, "%u", point->n);
	table_cell(table, PLAIN, "%.1f", point->rate);
	if (isfinite(point->change_percent))
		table_cell(table, colour, "%+.1f", point->change_percent);
	else
		table_cell(table, FAINT, "-");
	table_cell(table, colour, "%s", point->regression ? "regression" : "");
}

static int trends_print_cell(struct cli *cli, const struct trend_cell *cell,
			     struct error *err)
{
	const struct column columns[] = {
		{ "SWEEP", true },
		{ "NAME", false },
		{ "DATE", false },
		{ "REPEATS", true },
		{ rate_units[cell->unit], true },
		{ "CHANGE %", true },
		{ "VERDICT", false },
		{ NULL, false },
	};
	const char *const names[][2] = {
		{ "", cell->cell },
		{ "vendor ", cell->vendor },
		{ "chip ", cell->chip },
		{ "framework ", cell->framework },
		{ "precision ", cell->precision },
	};
	static const char *const droppable[] = { "REPEATS", "DATE", "NAME",
						 NULL };
	owned(table_clear) struct table table = { .columns = columns };
	char clean[1000];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i][1])
			fprintf(cli->out, "%s%s%s%s", i > 1 ? ", " : "",
				names[i][0],
				escape(names[i][1], clean, sizeof(clean)),
				i ? "" : ": ");
	fputc('\n', cli->out);
	for (size_t i = 0; i < cell->points_count; i++)
		point_row(&table, &cell->points[i]);
	return cli_print_table(cli, "", &table, droppable, err);
}

/* Say which cells are slower in their last sweep. */
static bool trends_fell(struct cli *cli, const struct trend_cells *cells,
			const char *notify)
{
	bool fell = false;
	char text[300];

	for (size_t i = 0; i < cells->count; i++) {
		const struct trend_cell *cell = &cells->items[i];
		const struct trend_point *last =
			&cell->points[cell->points_count - 1];

		if (!last->regression)
			continue;
		snprintf(text, sizeof(text), "%.200s: %+.1f %%",
			 cell->cell ? cell->cell : "-", last->change_percent);
		cli_say(cli, "regression: %s in sweep %llu", text,
			(unsigned long long)last->sweep);
		if (!fell)
			notify_send(cli, notify, NOTICE_REGRESSION, last->sweep,
				    last->name, text);
		fell = true;
	}
	return fell;
}

/* 1: no cell fell in its last sweep, and all requirements of the last sweep are
 * met, with the earlier ones as baseline.
 */
static int trends_judge(struct cli *cli, const struct read_sweeps *sweeps,
			const struct trend_cells *cells,
			const struct gate *gate, struct error *err)
{
	owned(report_rows_clear) struct report_rows last = { 0 },
						    before = { 0 };
	struct report_about about = { .baseline = &before };
	bool fell = trends_fell(cli, cells, gate->notify);
	int passed;

	if (trend_rows(sweeps->items, sweeps->count, cli->args[0], &last,
		       &before, &about.name, err) < 0)
		return -1;
	passed = gate_judge(cli, gate, &about, &last, err);
	return passed < 0 ? -1 : passed && !fell;
}

static int trend_command(struct cli *cli, struct error *err)
{
	owned(read_sweeps_clear) struct read_sweeps sweeps = { 0 };
	owned(trend_cells_clear) struct trend_cells cells = { 0 };
	const struct trend_options *given = cli->given;
	struct gate gate;
	int passed;

	if (gate_read(&gate, &given->require, given->junit, err) < 0)
		return -1;
	gate.notify = given->notify;
	if (trends_read_all(cli, &sweeps, err) < 0 ||
	    trend_cells_find(sweeps.items, sweeps.count, cli->args[0], &cells,
			     err) < 0)
		return -1;
	if (cli_format(cli, "json") &&
	    cli_print_structs(cli, &trend_cell_schema, cells.items, cells.count,
			      err) < 0)
		return -1;
	for (size_t i = 0; !cli_format(cli, "json") && i < cells.count; i++) {
		if (i)
			fputc('\n', cli->out);
		if (trends_print_cell(cli, &cells.items[i], err) < 0)
			return -1;
	}
	fflush(cli->out);
	passed = cells.count ? trends_judge(cli, &sweeps, &cells, &gate, err)
			     : 1;
	if (passed < 0)
		return -1;
	if (cells.count)
		return passed ? EXIT_GOOD : EXIT_WORK_FAILED;
	cli_say(cli,
		"no completed cell of the last %zu sweeps is of %s; regatta "
		"report names the cells of a sweep",
		sweeps.count, cli->args[0]);
	return EXIT_WORK_FAILED;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(trend_options, "last", 0, OPTION_NUMBER, last, "N"),
	  .min = 1, .max = 1000,
	  .help = "read the last N sweeps (50)" },
	OPTIONS_GATE(trend_options),
	OPTION_NOTIFY(trend_options),
	OPTION_STATE,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_trend = {
	.name = "trend",
	.args = "MODEL|CELL [SWEEP|FILE|DIR...]",
	.min_args = 1,
	.max_args = COMMAND_ARGS_MAX,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct trend_options),
	.summary = "show the rate of a cell over all sweeps",
	.help =
		"Reads the last sweeps, or in this order those that are named "
		  "by number, name, file of regatta bundle or folder of a "
		  "regatta run. "
		  "For each cell of the model, or each cell with all words of "
		  "CELL, shows the mean rate in each sweep and its "
		  "change against the mean of the earlier sweeps. A decrease "
		  "by more than 5 % and more than twice their standard "
		  "deviation is a regression. The exit status is 1 if the last "
		  "sweep of a cell is one, or does not meet a requirement; its "
		  "baseline are the earlier sweeps.",
	.example = "regatta trend \"model=gpt3_6.7B nodes=2\"",
	.fn = trend_command,
};
/* clang-format on */
