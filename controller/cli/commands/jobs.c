/* jobs.c - jobs: list jobs.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/rows.h"
#include "controller/cli/json.h"
#include "controller/cli/run/session.h"
#include "protocol/base/program.h"

#include <errno.h>

struct jobs_options {
	struct options common;
	uint64_t sweep;
	bool all;
};

static const struct jobs_options *given(const struct cli *cli)
{
	return (const struct jobs_options *)cli->options;
}

typedef unsigned long long ull;

static const struct column job_columns[] = {
	{ "JOB", true },    { "SWEEP", true },   { "CELL", false },
	{ "TRY", true },    { "STATE", false },  { "TIME", true },
	{ "NODES", false }, { "DETAIL", false }, { NULL, false },
};

static void job_row(struct table *table, const cJSON *job, int64_t now_ms)
{
	enum job_state state = job_state_from(json_text(job, "state"));
	int64_t started = (int64_t)json_u64(job, "started_ms");
	int64_t ended = (int64_t)json_u64(job, "ended_ms");
	uint64_t repeat = json_u64(job, "repeat");
	char text[400];

	table_cell(table, PLAIN, "%llu", (ull)json_u64(job, "job"));
	table_cell(table, PLAIN, "%llu", (ull)json_u64(job, "sweep"));
	if (repeat)
		table_cell(table, PLAIN, "%s #%llu", json_text(job, "cell"),
			   (ull)repeat + 1);
	else
		table_cell(table, PLAIN, "%s", json_text(job, "cell"));
	table_cell(table, PLAIN, "%llu", (ull)json_u64(job, "attempt"));
	table_cell(table, colour_of_job(state), "%s", json_text(job, "state"));
	table_cell(table, PLAIN, "%s",
		   started ? human_time((ended ? ended : now_ms) - started,
					text)
			   : "");
	table_cell(table, PLAIN, "%s", job_nodes(job, text, sizeof(text)));
	table_cell(table, PLAIN, "%s", job_detail(job, text, sizeof(text)));
}

/* The sweep whose jobs are meant: 0 for all. *none: there is no sweep. */
static int which_sweep(struct cli *cli, struct client *client, uint64_t *sweep,
		       bool *none, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_SWEEP };

	*none = false;
	*sweep = given(cli)->sweep;
	if (given(cli)->all)
		*sweep = 0;
	if (*sweep != OPTION_NONE)
		return 0;
	*sweep = 0;
	if (client_query(client, &query, &answer, err) < 0) {
		*none = err->code == ENOENT;
		return *none ? 0 : -1;
	}
	*sweep = json_u64(json_get(answer.body, "sweep"), "id");
	if (!*sweep)
		return error_set(err, EPROTO,
				 "the controller's answer names no sweep");
	cli_say(cli,
		"jobs of sweep %llu, the last one; --sweep ID or --all for "
		"others",
		(ull)*sweep);
	return 0;
}

static const struct rows_view jobs_view = { "jobs", job_columns, job_row,
					    "no jobs" };

static int run_command(struct cli *cli, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(json_free) cJSON *rows = NULL;
	uint64_t sweep;
	bool none;

	if (given(cli)->all && given(cli)->sweep != OPTION_NONE)
		return error_set(err, EINVAL,
				 "jobs: --all and --sweep exclude each other");
	if (session_open(&session, cli, err) < 0 ||
	    which_sweep(cli, session.client, &sweep, &none, err) < 0)
		return -1;
	if (none)
		rows = cJSON_CreateArray();
	else if (client_list(session.client, QUERY_JOBS, sweep, "jobs", "job",
			     &rows, err) < 0)
		return -1;
	return rows_show(cli, &jobs_view, session.client, rows, err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(jobs_options, "sweep", 0, OPTION_NUMBER, sweep, "ID"),
	  .min = 1,
	  .max = UINT64_MAX - 1, .help = "all jobs of that sweep" },
	{ OPTION(jobs_options, "all", 0, OPTION_FLAG, all, NULL),
	  .help = "all jobs of all sweeps" },
	OPTION_STATE,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_jobs = {
	.name = "jobs",
	.args = "",
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct jobs_options),
	.summary = "list jobs: of the last sweep, another one, or all",
	.help =
		"One line a job: what it is, its state, where it runs, and "
		"how far it is, why it failed, or what nodes it waits for.",
	.example = "regatta jobs --sweep 3",
	.fn = run_command,
};
/* clang-format on */
