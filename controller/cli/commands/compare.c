/* compare.c - two sweeps beside each other.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/results.h"
#include "controller/cli/json.h"
#include "controller/cli/render.h"
#include "controller/report/compare.h"
#include "controller/report/row.h"
#include "protocol/base/program.h"

#include <math.h>
#include <string.h>

#define FROM_STEP 21

struct compare_options {
	struct options common;
	uint64_t from_step;
};

static const struct compare_options *given(const struct cli *cli)
{
	return (const struct compare_options *)cli->options;
}

static double number(const cJSON *cell, const char *path)
{
	const cJSON *value = row_at(cell, path);

	return cJSON_IsNumber(value) ? value->valuedouble : NAN;
}

/* "2068.1 ± 12.3 (n = 3)" */
static void side_cell(struct table *table, const cJSON *side)
{
	char rate[HUMAN_SIZE], spread[HUMAN_SIZE];

	if (!cJSON_IsObject(side)) {
		table_cell(table, FAINT, "not there");
		return;
	}
	if (!isfinite(number(side, "rate"))) {
		table_cell(table, FAINT, "no result");
		return;
	}
	human_number(number(side, "rate"), rate);
	if (isfinite(number(side, "spread")))
		table_cell(table, PLAIN, "%s ± %s (n = %.0f)", rate,
			   human_number(number(side, "spread"), spread),
			   number(side, "n"));
	else
		table_cell(table, PLAIN, "%s (n = %.0f)", rate,
			   number(side, "n"));
}

static void verdict_cell(struct table *table, const cJSON *cell)
{
	const cJSON *apart = row_at(cell, "apart");
	double ratio = number(cell, "ratio");
	const char *by = row_text(cell, "by");

	if (!cJSON_IsBool(apart))
		table_cell(table, FAINT, "-");
	else if (cJSON_IsFalse(apart))
		table_cell(table, PLAIN, "within the spread of the %s", by);
	else
		table_cell(table, ratio > 1 ? GREEN : RED,
			   "%s, beyond the spread of the %s",
			   ratio > 1 ? "faster" : "slower", by);
}

static void loss_cell(struct table *table, const cJSON *cell)
{
	if (isfinite(number(cell, "loss.steps")))
		table_cell(table, PLAIN, "%.2f (largest %.2f at step %.0f)",
			   number(cell, "loss.mean_percent"),
			   number(cell, "loss.largest_percent"),
			   number(cell, "loss.at_step"));
	else
		table_cell(table, FAINT, "-");
}

static int print(struct cli *cli, const cJSON *cells, struct error *err)
{
	char titles[2][64];
	const struct column columns[] = {
		{ "CELL", false },       { titles[0], true },
		{ titles[1], true },     { "RATIO", true },
		{ "DIFFERENCE", false }, { "LOSS APART %", true },
		{ NULL, false },
	};
	owned(table_free) struct table *table = NULL;
	const cJSON *cell;

	for (size_t i = 0; i < 2; i++)
		snprintf(titles[i], sizeof(titles[i]), "SWEEP %.32s TOKEN/P/S",
			 cli->args[i]);
	table = table_new(columns, err);
	if (!table)
		return -1;
	cJSON_ArrayForEach(cell, cells)
	{
		double ratio = number(cell, "ratio");

		table_cell(table, PLAIN, "%s", row_text(cell, "cell"));
		side_cell(table, row_at(cell, "a"));
		side_cell(table, row_at(cell, "b"));
		if (isfinite(ratio))
			table_cell(table, PLAIN, "%.3f", ratio);
		else
			table_cell(table, FAINT, "-");
		verdict_cell(table, cell);
		loss_cell(table, cell);
	}
	return table_print(table, cli->out, cli_out_colour(cli), err);
}

static int run_command(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = NULL;
	owned(json_free) cJSON *a = NULL;
	owned(json_free) cJSON *b = NULL;
	owned(json_free) cJSON *cells = NULL;
	uint64_t from = given(cli)->from_step, sweeps[2];

	for (size_t i = 0; i < 2; i++)
		if (cli_id(cli->args[i], "sweep", &sweeps[i], err) < 0)
			return -1;
	client = cli_connect(cli, err);
	if (!client || results_fetch(client, sweeps[0], true, &a, err) < 0 ||
	    results_fetch(client, sweeps[1], true, &b, err) < 0)
		return -1;
	cells = compare_rows(a, b, from == OPTION_NONE ? FROM_STEP : from, err);
	if (!cells)
		return -1;
	if (cli_format(cli, "json"))
		return cli_print_json(cli, cells, err);
	if (print(cli, cells, err) < 0)
		return -1;
	return EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(compare_options, "from-step", 0, OPTION_NUMBER, from_step,
		 "N"),
	  .max = UINT32_MAX,
	  .help = "compare the losses from this step on (21)" },
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_compare = {
	.name = "compare",
	.args = "SWEEP SWEEP",
	.min_args = 2,
	.max_args = 2,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct compare_options),
	.summary = "set two sweeps side by side, cell by cell",
	.help =
		"Cells are matched by their words. Says of each whether the "
		"rates differ by more than their spread, and how far the "
		"losses lie apart.",
	.example = "regatta compare 3 7",
	.fn = run_command,
};
/* clang-format on */
