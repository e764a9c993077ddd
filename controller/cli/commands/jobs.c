/* jobs.c - jobs: lists jobs.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/rows.h"
#include "controller/cli/run/session.h"
#include "protocol/message/reply_jobs.h"

#include <errno.h>

struct jobs_options {
	struct options common;
	uint64_t sweep;
	bool all;
};

typedef unsigned long long ull;

/* Find the sweep to list; 0: all sweeps. *none: there is no sweep. */
static int which_sweep(struct cli *cli, struct client *client, uint64_t *sweep,
		       bool *none, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_SWEEP };
	const struct jobs_options *given = cli->given;

	*none = false;
	*sweep = given->sweep;
	if (given->all)
		*sweep = 0;
	if (*sweep != OPTION_NONE)
		return 0;
	*sweep = 0;
	if (client_query(client, &query, &answer, err) < 0) {
		*none = err->code == ENOENT;
		return *none ? 0 : -1;
	}
	*sweep = ((const struct reply_sweep *)answer.reply)->sweep.id;
	if (!*sweep)
		return error_set(err, EPROTO,
				 "the controller's answer has no sweep number");
	cli_say(cli,
		"jobs of sweep %llu, the last sweep; --sweep ID or --all shows "
		"others",
		(ull)*sweep);
	return 0;
}

static int jobs_command(struct cli *cli, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(rows_clear) struct rows rows = { .schema = &job_info_schema };
	const struct jobs_options *given = cli->given;
	uint64_t sweep;
	bool none;

	if (given->all && given->sweep != OPTION_NONE)
		return error_set(err, EINVAL,
				 "jobs: --all and --sweep exclude each other");
	if (session_open(&session, cli, err) < 0 ||
	    which_sweep(cli, session.client, &sweep, &none, err) < 0)
		return -1;
	if (!none && client_rows(session.client, QUERY_JOBS, sweep, "job",
				 &rows, err) < 0)
		return -1;
	return rows_show(cli, &view_jobs, client_clock_ms(session.client),
			 &rows, err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(jobs_options, "sweep", 0, OPTION_NUMBER, sweep, "ID"),
	  .min = 1,
	  .max = UINT64_MAX - 1, .help = "list all jobs of that sweep" },
	{ OPTION(jobs_options, "all", 0, OPTION_FLAG, all, NULL),
	  .help = "list the jobs of all sweeps" },
	OPTION_STATE,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_jobs = {
	.name = "jobs",
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct jobs_options),
	.summary = "list the jobs of a sweep",
	.help =
		"Lists the jobs of the last sweep, one per line, with cell, "
		  "state, time and nodes. The last column shows the progress, "
		  "the reason of a failure, or what the job waits for.",
	.example = "regatta jobs --sweep 3",
	.fn = jobs_command,
};
/* clang-format on */
