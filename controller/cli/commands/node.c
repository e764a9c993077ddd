/* node.c - node: joins, drains, labels and removes nodes.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/rows.h"
#include "controller/cli/commands/token.h"
#include "protocol/message/reply_access.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define JOIN "sudo regatta-agent join"

struct node_options {
	struct options common;
	struct token_options token;
	const char *name;
	bool force;
	const char *reason;
	const char *from;
	const char *until;
};

static const struct node_options *node_options_given(const struct cli *cli)
{
	return cli->given;
}

static int print_token(struct cli *cli, const char *name, bool renew,
		       struct error *err)
{
	struct token_options options = node_options_given(cli)->token;

	options.from = node_options_given(cli)->from;
	return token_print(cli, &options, "agent", name, renew, JOIN, err);
}

static int token(struct cli *cli, struct error *err)
{
	return print_token(cli, node_options_given(cli)->name, false, err);
}

static int rekey(struct cli *cli, struct error *err)
{
	return print_token(cli, cli->args[1], true, err);
}

static int tokens(struct cli *cli, struct error *err)
{
	return rows_list(cli, &view_tokens, QUERY_TOKENS, NULL, err);
}

static int revoke_token(struct cli *cli, struct error *err)
{
	struct message_revoke message = { .kind = (char *)"token",
					  .name = cli->args[1] };

	return cli_order(cli, MESSAGE_REVOKE, &message, "is revoked", err);
}

static int node_order_remove(struct cli *cli, struct error *err)
{
	struct message_revoke message = {
		.kind = (char *)"node",
		.name = cli->args[1],
		.force = node_options_given(cli)->force
	};
	owned(answer_clear) struct answer answer = { 0 };

	if (cli_call(cli, MESSAGE_REVOKE, &message, &answer, err) < 0)
		return -1;
	cli_say(cli, "%s is removed and its key is refused%s", cli->args[1],
		!((const struct reply_revoke *)answer.reply)->reached
			? "; it is not reachable, and ends its remaining tasks "
			  "an hour after its key was first refused"
			: "");
	return cli_print_answer(cli, &answer, err);
}

static int node_order_drain(struct cli *cli, struct error *err)
{
	struct message_drain message = {
		.node = cli->args[1],
		.reason = (char *)node_options_given(cli)->reason,
	};

	return cli_order(cli, MESSAGE_DRAIN, &message, "gets no new tasks",
			 err);
}

static int undrain(struct cli *cli, struct error *err)
{
	struct message_drain message = {
		.node = cli->args[1],
		.undrain = true,
	};

	return cli_order(cli, MESSAGE_DRAIN, &message, "gets tasks again", err);
}

/* A local date and time, or a duration from now. */
static int read_time(const char *text, int64_t now_ms, uint64_t *to,
		     struct error *err)
{
	static const char *const forms[] = { "%Y-%m-%d %H:%M",
					     "%Y-%m-%dT%H:%M" };
	uint32_t seconds;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm tm = { .tm_isdst = -1 };
		const char *rest = strptime(text, forms[i], &tm);
		time_t time = rest && !*rest ? mktime(&tm) : -1;

		if (time > 0) {
			*to = (uint64_t)time * 1000;
			return 0;
		}
	}
	if (token_seconds(text, &seconds, NULL) < 0)
		return error_set(err, EINVAL,
				 "'%.60s' is not valid here; expected a time: "
				 "'2030-01-31 22:00', or 90m, 2h, 1d from now",
				 text);
	*to = (uint64_t)now_ms + seconds * UINT64_C(1000);
	return 0;
}

static int maintain(struct cli *cli, struct error *err)
{
	struct message_drain message = {
		.node = cli->args[1],
		.reason = (char *)(node_options_given(cli)->reason
					   ? node_options_given(cli)->reason
					   : "maintenance"),
	};
	int64_t now_ms = (int64_t)time(NULL) * 1000;

	if (!node_options_given(cli)->until)
		return error_set(err, EINVAL,
				 "node maintain: missing option (expected "
				 "--until TIME)");
	if (node_options_given(cli)->from &&
	    read_time(node_options_given(cli)->from, now_ms, &message.from_ms,
		      err) < 0)
		return error_prefix(err, "--from");
	if (read_time(node_options_given(cli)->until, now_ms, &message.until_ms,
		      err) < 0)
		return error_prefix(err, "--until");
	return cli_order(cli, MESSAGE_DRAIN, &message,
			 "gets no new tasks in that time", err);
}

/* KEY=VALUE sets, KEY- removes. */
static int label_read(const char *word, cJSON *labels, struct error *err)
{
	const char *equals = strchr(word, '=');
	size_t length = strlen(word);
	char name[KEY_NAME_SIZE];

	if (equals && equals != word && equals[1] &&
	    (size_t)(equals - word) < sizeof(name)) {
		snprintf(name, sizeof(name), "%.*s", (int)(equals - word),
			 word);
		cJSON_AddStringToObject(labels, name, equals + 1);
		return 0;
	}
	if (!equals && length > 1 && word[length - 1] == '-' &&
	    length <= sizeof(name)) {
		snprintf(name, sizeof(name), "%.*s", (int)length - 1, word);
		cJSON_AddNullToObject(labels, name);
		return 0;
	}
	return error_set(err, EINVAL,
			 "label: '%.80s' is not valid here; expected "
			 "KEY=VALUE, or KEY- to remove one",
			 word);
}

static int label(struct cli *cli, struct error *err)
{
	owned(cJSON_Delete) cJSON *labels = cJSON_CreateObject();
	struct message_label message = {
		.node = cli->args[1],
		.labels = labels,
	};

	for (size_t i = 2; i < cli->arg_count; i++)
		if (label_read(cli->args[i], labels, err) < 0)
			return -1;
	return cli_order(cli, MESSAGE_LABEL, &message, "has new labels", err);
}

/* clang-format off */
static const struct subcommand subcommands[] = {
	{ "token", NULL, 0, 0, "uses name expires address from",
	  "print a token with which a machine joins: sudo regatta-agent join "
		  "TOKEN", token },
	{ "tokens", NULL, 0, 0, NULL, "list the tokens", tokens },
	{ "revoke", "TOKEN", 1, 1, NULL, "refuse a token from now on",
	  revoke_token },
	{ "rekey", "NODE", 1, 1, "expires address from",
	  "print a token with which a node gets a new key; the old key is "
		  "then refused", rekey },
	{ "remove", "NODE", 1, 1, "force",
	  "refuse a node's key at once; its tasks start again on other nodes",
	  node_order_remove },
	{ "drain", "NODE", 1, 1, "reason",
	  "start no new tasks on a node; running tasks continue", node_order_drain },
	{ "undrain", "NODE", 1, 1, NULL, "start new tasks on a node again",
	  undrain },
	{ "maintain", "NODE --until TIME", 1, 1, "reason from until",
	  "drain a node for a time", maintain },
	{ "label", "NODE KEY=VALUE...", 2, 65, NULL,
	  "set labels that sweeps can require; KEY- removes one", label },
	{ 0 },
};

static const struct option_rule rules[] = {
	{ OPTION(node_options, "uses", 0, OPTION_NUMBER, token.uses, "N"),
	  .min = 1, .max = 16384,
	  .help = "how many nodes may join with the token (1)" },
	{ OPTION(node_options, "name", 0, OPTION_TEXT, name, "NAME"),
	  .help = "the only node that may join with the token (any)" },
	OPTIONS_TOKEN(node_options),
	{ OPTION(node_options, "force", 0, OPTION_FLAG, force, NULL),
	  .help = "remove a node even if it has tasks; they are lost" },
	{ OPTION(node_options, "reason", 0, OPTION_TEXT, reason, "TEXT"),
	  .help = "why the node is drained; regatta nodes shows it" },
	{ OPTION(node_options, "from", 0, OPTION_TEXT, from, "NETWORK|TIME"),
	  .help = "token, rekey: network from which the token is valid: "
		  "10.0.0.0/8; maintain: start: '2030-01-31 22:00', or 2h "
		  "(from now)" },
	{ OPTION(node_options, "until", 0, OPTION_TEXT, until, "TIME"),
	  .help = "end of the maintenance" },
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_node = {
	.name = "node",
	.min_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct node_options),
	.summary = "join, drain, label and remove nodes",
	.example = "regatta node token --uses 8 --expires 2h",
	.subcommands = subcommands,
};
/* clang-format on */
