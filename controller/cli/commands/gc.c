/* gc.c - gc: remove the output of old jobs.
 */
#include "controller/cli/command.h"
#include "controller/view/render.h"
#include "protocol/base/program.h"
#include "protocol/base/units.h"
#include "protocol/message/reply_access.h"

struct gc_options {
	struct options common;
	const char *older;
	bool dry_run;
};

static int gc_command(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = NULL;
	struct message_gc message = { 0 };
	uint64_t jobs = 0, bytes = 0;
	const struct gc_options *given = cli->given;
	bool more = true;

	if (duration_parse(given->older ? given->older : "30d", 0,
			   UINT64_C(100) * 366 * 86400000, &message.older_ms,
			   err) < 0)
		return error_prefix(err, "--older");
	message.dry_run = given->dry_run;
	client = cli_connect(cli, err);
	if (!client)
		return -1;
	while (more) {
		owned(answer_clear) struct answer answer = { 0 };
		const struct reply_gc *reply;

		if (client_call(client, MESSAGE_GC, &message, &answer, err) < 0)
			return -1;
		reply = answer.reply;
		jobs += reply->jobs;
		bytes += reply->bytes;
		message.after = reply->after;
		more = reply->more;
		message.goes_on = true;
	}
	if (cli_format(cli, "json"))
		fprintf(cli->out, "{\"jobs\":%llu,\"bytes\":%llu}\n",
			(unsigned long long)jobs, (unsigned long long)bytes);
	cli_say(cli, "%s of output of %s %sremoved", human_bytes(bytes).text,
		human_jobs(jobs).text, given->dry_run ? "would be " : "");
	return EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(gc_options, "older", 0, OPTION_TEXT, older, "TIME"),
	  .help = "only for jobs that ended this long ago (30d)" },
	{ OPTION(gc_options, "dry-run", 0, OPTION_FLAG, dry_run, NULL),
	  .help = "only tell how much output would be removed; collected "
		  "files do not count" },
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_gc = {
	.name = "gc",
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct gc_options),
	.summary = "remove the output of old jobs",
	.help =
		"Removes the output of ranks and the collected files. Results "
		  "stay.",
	.example = "regatta gc --older 90d",
	.fn = gc_command,
};
/* clang-format on */
