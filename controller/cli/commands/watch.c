/* watch.c - watch: shows a sweep on the whole terminal until it ends.
 */
#include "controller/cli/watch.h"
#include "controller/cli/command.h"
#include "controller/cli/commands/sweep_source.h"
#include "controller/cli/notify.h"
#include "controller/report/races.h"
#include "protocol/base/program.h"
#include "protocol/message/query.h"
#include "protocol/message/reply_jobs.h"

#include <errno.h>
#include <string.h>

/* `[SWEEP | job ID]`: the last sweep, that one, or that of the job; *job is 0
 * where none is named.
 */
static int find_sweep(struct cli *cli, struct session *session, uint64_t *sweep,
		      uint64_t *job, struct error *err)
{
	struct message_query query = { .what = QUERY_JOB };
	owned(answer_clear) struct answer answer = { 0 };

	if (!cli->arg_count || strcmp(cli->args[0], "job") != 0)
		return session_open_sweep(session, cli,
					  cli->arg_count ? cli->args[0] : NULL,
					  sweep, err);
	if (cli->arg_count < 2)
		return error_set(err, EINVAL,
				 "watch: missing argument ID (expected the "
				 "number of a job)");
	if (cli_id(cli->args[1], "job", &query.id, err) < 0 ||
	    session_open(session, cli, err) < 0 ||
	    client_query(session->client, &query, &answer, err) < 0)
		return -1;
	*job = query.id;
	*sweep = ((const struct reply_job *)answer.reply)->job.sweep;
	return 0;
}

struct watch_options {
	struct options common;
	const char *notify;
};

/* Of a file, in which all jobs have ended. */
static int watch_file(struct cli *cli, const struct watch_options *given,
		      struct error *err)
{
	owned(sweep_source_clear) struct sweep_source source = { 0 };
	struct sweep_end end = { 0 };

	if (sweep_source_read(&source, cli, cli->args[0], 0, err) < 0 ||
	    races_count_empty(&source.rows, &end.lost, err) < 0)
		return -1;
	end.sweep = source.sweep;
	end.jobs = source.rows.count;
	ROWS_EACH(row, &source.rows)
	{
		end.completed += row_completed(row);
	}
	return sweep_end_tell(cli, &end, given->notify);
}

static int watch_command(struct cli *cli, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(watch_free) struct watch *watch = NULL;
	owned(report_rows_clear) struct report_rows rows = { 0 };
	const struct watch_options *given = cli->given;
	uint64_t sweep = 0, job = 0;
	struct sweep_end end;

	if (cli->arg_count == 1 && sweep_source_is_file(cli->args[0]))
		return watch_file(cli, given, err);
	if (find_sweep(cli, &session, &sweep, &job, err) < 0)
		return -1;
	watch = watch_new(cli, session.client, sweep, err);
	if (!watch)
		return -1;
	if (job)
		watch_choose(watch, job);
	watch_notify(watch, given->notify);
	if (watch_run_until_interrupt(watch, err) < 0) {
		if (err->code != EINTR)
			return -1;
		cli_say(cli, "sweep %llu continues", (unsigned long long)sweep);
		return EXIT_GOOD;
	}
	end = watch_end(watch);
	if (results_fetch(session.client, sweep, false, &rows, err) < 0 ||
	    races_count_empty(&rows, &end.lost, err) < 0)
		return -1;
	watch_tell_pause(watch);
	return sweep_end_tell(cli, &end, given->notify);
}

/* clang-format off */
static const struct option_rule rules[] = {
	OPTION_STATE,
	OPTION_NOTIFY(watch_options),
	{ 0 },
};

const struct command command_watch = {
	.name = "watch",
	.args = "[SWEEP | DIR | FILE | job ID]",
	.max_args = 2,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct watch_options),
	.summary = "show a sweep on the whole terminal until it ends",
	.help =
		"Shows the last sweep, the one with this number or name, that "
		  "of the folder of a regatta run or of a file of regatta "
		  "bundle, or that of the given job. The arrow keys select a job, l shows the end of "
		  "its output, c cancels it, and q quits; the sweep "
		  "continues. Without a terminal, each change is printed as a "
		  "line.",
	.example = "regatta watch 3",
	.fn = watch_command,
};
/* clang-format on */
