/* files.c - files: lists the collected files of a job.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/rows.h"
#include "controller/cli/run/session.h"
#include "protocol/message/reply_logs.h"

static int files_command(struct cli *cli, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_FILES };
	const struct reply_files *reply;
	unsigned long long job;

	if (cli_id(cli->args[0], "job", &query.id, err) < 0 ||
	    session_query(cli, &query, &answer, err) < 0)
		return -1;
	reply = answer.reply;
	job = query.id;
	if (!reply->files_count && !cli_format(cli, "json"))
		cli_say(cli,
			"job %llu has no collected files; set collect: [path] "
			"in the sweep; regatta logs %llu --list shows streams",
			job, job);
	return rows_show(cli, &view_files, 0,
			 &(struct rows){ &file_info_schema,
					 (char *)reply->files,
					 reply->files_count },
			 err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	OPTION_STATE,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_files = {
	.name = "files",
	.args = "JOB",
	.min_args = 1,
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.summary = "list the collected files of a job",
	.help =
		"Lists the files that the sweep names under collect:, for "
		  "each node.",
	.example = "regatta files 17",
	.fn = files_command,
};
/* clang-format on */
