/* jobs.c - jobs: lists jobs.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/rows.h"
#include "controller/cli/run/session.h"
#include "protocol/message/reply_jobs.h"

#include <errno.h>

struct jobs_options {
	struct options common;
	const char *sweep;
	bool all;
};

typedef unsigned long long ull;

/* Open a session and find the sweep to list; 0: all sweeps. *none: there is no
 * sweep.
 */
static int which_sweep(struct cli *cli, struct session *session,
		       uint64_t *sweep, bool *none, struct error *err)
{
	const struct jobs_options *given = cli->given;
	const char *word = cli->arg_count ? cli->args[0] : given->sweep;
	int rc;

	*none = false;
	*sweep = 0;
	if (given->all)
		return session_open(session, cli, err);
	rc = session_open_sweep(session, cli, word, sweep, err);
	if (rc < 0 && !word && session->client && err->code == ENOENT) {
		*none = true;
		return 0;
	}
	if (rc == 0 && !word)
		cli_say(cli,
			"jobs of sweep %llu, the last sweep; a number, a name "
			"or --all shows others",
			(ull)*sweep);
	return rc;
}

static int jobs_command(struct cli *cli, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(rows_clear) struct rows rows = { .schema = &job_info_schema };
	const struct jobs_options *given = cli->given;
	uint64_t sweep;
	bool none;

	if (given->all + (given->sweep != NULL) + (cli->arg_count > 0) > 1)
		return error_set(err, EINVAL,
				 "jobs: --all, --sweep and SWEEP exclude each "
				 "other");
	if (which_sweep(cli, &session, &sweep, &none, err) < 0)
		return -1;
	if (!none && client_rows(session.client, QUERY_JOBS, sweep, "job",
				 &rows, err) < 0)
		return -1;
	return rows_show(cli, &view_jobs, client_clock_ms(session.client),
			 &rows, err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(jobs_options, "sweep", 0, OPTION_TEXT, sweep, "SWEEP|DIR"),
	  .help = "the same as the argument" },
	{ OPTION(jobs_options, "all", 0, OPTION_FLAG, all, NULL),
	  .help = "list the jobs of all sweeps" },
	OPTION_STATE,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_jobs = {
	.name = "jobs",
	.args = "[SWEEP|DIR]",
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct jobs_options),
	.summary = "list the jobs of a sweep",
	.help =
		"Lists the jobs of the last sweep, or of the one with this "
		  "number or name, or of the folder of a regatta run, one per line, with cell, "
		  "state, time and nodes. The last column shows the progress, "
		  "the reason of a failure, or what the job waits for.",
	.example = "regatta jobs nightly",
	.fn = jobs_command,
};
/* clang-format on */
