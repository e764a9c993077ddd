/* gc.c - gc and remove: remove the output of old jobs, and whole sweeps.
 */
#include "controller/cli/command.h"
#include "controller/view/render.h"
#include "protocol/base/program.h"
#include "protocol/base/units.h"
#include "protocol/message/reply_access.h"

struct remove_options {
	struct options common;
	bool force;
};

struct gc_options {
	struct options common;
	const char *older;
	bool dry_run;
};

/* Send it until nothing is left to do. */
static int gc_send(struct client *client, struct message_gc *message,
		   uint64_t *jobs, uint64_t *bytes, struct error *err)
{
	bool more = true;

	*jobs = *bytes = 0;
	while (more) {
		owned(answer_clear) struct answer answer = { 0 };
		const struct reply_gc *reply;

		if (client_call(client, MESSAGE_GC, message, &answer, err) < 0)
			return -1;
		reply = answer.reply;
		*jobs += reply->jobs;
		*bytes += reply->bytes;
		message->after = reply->after;
		more = reply->more;
		message->goes_on = true;
	}
	return 0;
}

static int gc_command(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = NULL;
	struct message_gc message = { 0 };
	uint64_t jobs, bytes;
	const struct gc_options *given = cli->given;

	if (duration_parse(given->older ? given->older : "30d", 0,
			   UINT64_C(100) * 366 * 86400000, &message.older_ms,
			   err) < 0)
		return error_prefix(err, "--older");
	message.dry_run = given->dry_run;
	client = cli_connect(cli, err);
	if (!client)
		return -1;
	if (gc_send(client, &message, &jobs, &bytes, err) < 0)
		return -1;
	if (cli_format(cli, "json"))
		fprintf(cli->out, "{\"jobs\":%llu,\"bytes\":%llu}\n",
			(unsigned long long)jobs, (unsigned long long)bytes);
	cli_say(cli, "%s of output of %s %sremoved", human_bytes(bytes).text,
		human_jobs(jobs).text, given->dry_run ? "would be " : "");
	return EXIT_GOOD;
}

static int remove_command(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = NULL;
	const struct remove_options *given = cli->given;
	uint64_t sweep, jobs, bytes;

	for (size_t i = 0; i < cli->arg_count; i++)
		if (cli_id(cli->args[i], "sweep", &sweep, err) < 0)
			return -1;
	client = cli_connect(cli, err);
	for (size_t i = 0; client && i < cli->arg_count; i++) {
		struct message_gc message = { .force = given->force };

		cli_id(cli->args[i], "sweep", &message.sweep, NULL);
		if (gc_send(client, &message, &jobs, &bytes, err) < 0)
			return -1;
		cli_say(cli, "sweep %s removed, with %s", cli->args[i],
			human_jobs(jobs).text);
	}
	return client ? EXIT_GOOD : -1;
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

static const struct option_rule remove_rules[] = {
	{ OPTION(remove_options, "force", 0, OPTION_FLAG, force, NULL),
	  .help = "also remove what another operator submitted" },
	{ 0 },
};

const struct command command_remove = {
	.name = "remove",
	.args = "SWEEP...",
	.min_args = 1,
	.max_args = COMMAND_ARGS_MAX,
	.connects = true,
	.rules = remove_rules,
	.options_size = sizeof(struct remove_options),
	.summary = "remove a sweep, its jobs, output and results",
	.help =
		"Removes sweeps whose jobs have ended, for good: also results, "
		  "so reports and trends do not contain them any more. What a "
		  "later sweep took over of them keeps a sweep. The last one "
		  "stays until there is a newer one.",
	.example = "regatta remove 3",
	.fn = remove_command,
};
/* clang-format on */
