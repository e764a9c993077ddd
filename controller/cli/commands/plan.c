/* plan.c - plan: checks a sweep and lists its cells.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/plan_forecast.h"
#include "controller/cli/commands/plan_pin.h"
#include "controller/cli/commands/plan_text.h"
#include "controller/cli/input.h"
#include "controller/cli/workspace.h"
#include "controller/sweep/plan.h"
#include "controller/results/json_object.h"
#include "protocol/base/program.h"

#include <errno.h>

struct plan_options {
	struct options common;
	bool pin;
	bool commands;
};

/* Print how FlagPerf's run.py would start the container of each case. */
static int print_commands(struct cli *cli, const struct input *input,
			  const cJSON *plan, struct error *err)
{
	const struct flagperf *flagperf = sweep_flagperf(input->sweep);
	owned(cJSON_Delete) cJSON *commands = cJSON_CreateArray();
	const cJSON *row;

	if (!flagperf)
		return error_set(err, EINVAL,
				 "--commands: %s has no flagperf: block",
				 input->name);
	cJSON_ArrayForEach(row, row_at(plan, "kept"))
	{
		const char *cell = row_text(row, "cell");
		const char *docker = flagperf_docker(flagperf, cell);
		cJSON *item = docker ? cJSON_CreateObject() : NULL;

		if (!docker)
			continue;
		cJSON_AddStringToObject(item, "cell", cell);
		cJSON_AddStringToObject(item, "command", docker);
		cJSON_AddItemToArray(commands, item);
		if (!cli_format(cli, "json"))
			fprintf(cli->out, "# %s\n%s\n", cell, docker);
	}
	if (cli_format(cli, "json") && cli_print_json(cli, commands, err) < 0)
		return -1;
	return EXIT_GOOD;
}

static int run_command(struct cli *cli, struct error *err)
{
	owned(input_clear) struct input input = { 0 };
	owned(plan_forecast_clear) struct plan_forecast forecast = { 0 };
	owned(cJSON_Delete) cJSON *plan = NULL;
	const struct plan_options *options = cli->given;
	bool json = cli_format(cli, "json");

	/* Workspaces are part of the key of a cell, by which its earlier times
	 * are found.
	 */
	if (input_init(&input, cli, cli->args[0], false, err) < 0 ||
	    workspaces_bind(input.sweep, input.name, cli, err) < 0)
		return -1;
	if (options->pin)
		return plan_pin(cli, &input, err);
	plan = plan_new(input.sweep,
			json || options->commands ? SWEEP_CELLS_MAX
						  : PLAN_TEXT_ROWS,
			err);
	if (plan && options->commands)
		return print_commands(cli, &input, plan, err);
	if (!plan || plan_forecast_init(&forecast, cli, input.sweep, err) < 0 ||
	    plan_forecast_add(&forecast, input.sweep, plan, err) < 0)
		return -1;
	if (json ? cli_print_json(cli, plan, err) < 0
		 : plan_text_print(cli, plan, input.sweep, &forecast, err) < 0)
		return -1;
	if (sweep_totals(input.sweep)->jobs)
		return EXIT_GOOD;
	cli_say(cli, "regatta: %s: nothing to run: all cells are dropped",
		input.name);
	return EXIT_WRONG_REQUEST;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(plan_options, "pin", 0, OPTION_FLAG, pin, NULL),
	  .help = "print the sweep with its image as NAME@DIGEST, as found on "
		  "the nodes" },
	{ OPTION(plan_options, "commands", 0, OPTION_FLAG, commands, NULL),
	  .help = "print the docker run command that FlagPerf would use for "
		  "each of its cases" },
	OPTIONS_SWEEP,
	OPTION_IMAGES,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_plan = {
	.name = "plan",
	.args = "SWEEP",
	.min_args = 1,
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct plan_options),
	.summary = "check a sweep and list its cells",
	.help =
		"Lists cells that would run, and dropped cells with the "
		  "reason. SWEEP may be - for standard input. If a controller "
		  "is reachable, it also shows on which nodes and in which "
		  "order the cells would run, how long they took before, and "
		  "which cells the policies of the nodes refuse.",
	.example = "regatta plan first.yaml",
	.fn = run_command,
};
/* clang-format on */
