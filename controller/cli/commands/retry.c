/* retry.c - retry: runs the failed and cancelled jobs of a sweep again.
 */
#include "controller/cli/command.h"
#include "controller/cli/logins.h"
#include "controller/view/render.h"
#include "controller/cli/secrets.h"
#include "protocol/message/reply_sweeps.h"
#include "protocol/registry/login.h"

struct retry_options {
	struct options common;
	bool force;
};

static void say_credentials_gone(struct cli *cli, uint64_t sweep,
				 const char *registry)
{
	cli_say(cli,
		"the sweep's credentials for %s were deleted; if a node lacks "
		"its images, use regatta retry %llu --registry-auth",
		registry, (unsigned long long)sweep);
}

static void say_gone(struct cli *cli, uint64_t sweep,
		     const struct strings *gone)
{
	for (size_t i = 0; i < gone->count; i++) {
		const struct registry_login login = { gone->items[i], NULL };
		const char *variable = login_variable(&login);

		if (variable)
			cli_say(cli,
				"the secret %s was deleted when the sweep "
				"ended, so its jobs fail; run regatta retry "
				"%llu where its value can be read",
				variable, (unsigned long long)sweep);
		else
			say_credentials_gone(cli, sweep, gone->items[i]);
	}
}

static int retry_command(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = NULL;
	owned(answer_clear) struct answer answer = { 0 };
	owned(logins_clear) struct logins logins = { 0 };
	struct message_retry retry = { 0 };
	const struct retry_options *options = cli->given;
	const struct reply_retry *reply;

	if (cli_id(cli->args[0], "sweep", &retry.sweep, err) < 0)
		return -1;
	retry.force = options->force;
	client = cli_connect(cli, err);
	if (!client ||
	    logins_collect_again(cli, client, retry.sweep, &logins, err) < 0 ||
	    secrets_collect_again(cli, client, retry.sweep, &logins, err) < 0)
		return -1;
	retry.logins = logins.items;
	retry.logins_count = logins.count;
	if (client_call(client, MESSAGE_RETRY, &retry, &answer, err) < 0)
		return -1;
	reply = answer.reply;
	cli_say(cli, "sweep %llu: %s queued again",
		(unsigned long long)retry.sweep,
		human_jobs(reply->retried).text);
	if (reply->ending)
		cli_say(cli, "%s still %s; retry again after that",
			human_jobs(reply->ending).text,
			reply->ending == 1 ? "ends" : "end");
	else if (!reply->retried)
		cli_say(cli, "no job of it has failed or was cancelled");
	say_gone(cli, retry.sweep, &reply->gone);
	return cli_print_answer(cli, &answer, err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(retry_options, "force", 0, OPTION_FLAG, force, NULL),
	  .help = "also retry a sweep that another operator submitted" },
	OPTION_REGISTRY_AUTH("registry credentials to send again "
		  "(~/.docker/config.json)"),
	OPTION_IMAGES,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_retry = {
	.name = "retry",
	.args = "SWEEP",
	.min_args = 1,
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct retry_options),
	.summary = "re-run failed and cancelled jobs of a sweep",
	.help =
		"Completed jobs keep their results.",
	.example = "regatta retry 3",
	.fn = retry_command,
};
/* clang-format on */
