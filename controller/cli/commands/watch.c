/* watch.c - watch: shows a sweep on the whole terminal until it ends.
 */
#include "controller/cli/watch.h"
#include "controller/cli/command.h"
#include "controller/cli/notify.h"
#include "controller/cli/run/session.h"
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

static int watch_command(struct cli *cli, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(watch_free) struct watch *watch = NULL;
	const struct watch_options *given = cli->given;
	uint64_t sweep = 0, job = 0;

	if (find_sweep(cli, &session, &sweep, &job, err) < 0)
		return -1;
	watch = watch_new(cli, session.client, sweep, err);
	if (!watch)
		return -1;
	if (job)
		watch_choose(watch, job);
	watch_notify(watch, given->notify);
	if (watch_run_until_interrupt(watch, err) == 0)
		return watch_verdict(watch);
	if (err->code != EINTR)
		return -1;
	cli_say(cli, "sweep %llu continues", (unsigned long long)sweep);
	return EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	OPTION_STATE,
	OPTION_NOTIFY(watch_options),
	{ 0 },
};

const struct command command_watch = {
	.name = "watch",
	.args = "[SWEEP | DIR | job ID]",
	.max_args = 2,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct watch_options),
	.summary = "show a sweep on the whole terminal until it ends",
	.help =
		"Shows the last sweep, the one with this number or name, that "
		  "of the folder of a regatta run, or that of the given job. The arrow keys select a job, l shows the end of "
		  "its output, c cancels it, and q quits; the sweep "
		  "continues. Without a terminal, each change is printed as a "
		  "line.",
	.example = "regatta watch 3",
	.fn = watch_command,
};
/* clang-format on */
