/* sweeps.c - sweeps: lists the sweeps.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/rows.h"
#include "controller/cli/run/session.h"

static int sweeps_command(struct cli *cli, struct error *err)
{
	return rows_list(cli, &view_sweeps, QUERY_SWEEPS, "id", err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	OPTION_STATE,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_sweeps = {
	.name = "sweeps",
	.connects = true,
	.rules = rules,
	.summary = "list the sweeps",
	.help =
		"Lists all sweeps, the newest last.",
	.example = "regatta sweeps",
	.fn = sweeps_command,
};
/* clang-format on */
