/* sweeps.c - sweeps: lists the sweeps.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/rows.h"
#include "controller/cli/run/session.h"
#include "protocol/message/reply_sweeps.h"

typedef unsigned long long ull;

/* "3 completed, 1 running" */
static void counts_words(const struct sweep_info *sweep, char *to, size_t size)
{
	to[0] = 0;
	for (int i = JOB_QUEUED; i < JOB_STATES; i++)
		if (sweep->counts.of[i])
			text_append(to, size, "%s%llu %s", *to ? ", " : "",
				    (ull)sweep->counts.of[i],
				    job_state_name((enum job_state)i));
}

static void sweep_row_fill(struct table *table, const void *row, int64_t now_ms)
{
	const struct sweep_info *sweep = row;
	const char *end = sweep->final ? "ended" : "active";
	char text[200];

	table_cell(table, PLAIN, "%llu", (ull)sweep->id);
	table_text(table, sweep->name);
	table_cell(table, sweep->final ? PLAIN : CYAN, "%s", end);
	table_cell(table, PLAIN, "%llu", (ull)sweep->jobs);
	table_text(table, human_clock(sweep->submitted_ms).text);
	table_text(table, sweep->client);
	counts_words(sweep, text, sizeof(text));
	table_text(table, text);
}

static const struct column sweep_columns[] = {
	{ "SWEEP", true },     { "NAME", false },     { "STATE", false },
	{ "JOBS", true },      { "SUBMITTED", true }, { "BY", false },
	{ "BY STATE", false }, { NULL, false },
};

static const char *const droppable[] = { "BY", "SUBMITTED", "JOBS", NULL };
static const struct rows_view sweeps_view = { "sweeps", sweep_columns,
					      sweep_row_fill, "no sweeps",
					      droppable };

static int sweeps_command(struct cli *cli, struct error *err)
{
	return rows_list(cli, &sweeps_view, QUERY_SWEEPS, "id", err);
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
