/* token.c - makes a token, for `node token` and `user add`.
 */
#include "controller/cli/commands/token.h"
#include "controller/view/render.h"
#include "protocol/base/local_address.h"
#include "protocol/base/program.h"
#include "protocol/base/units.h"
#include "protocol/message/reply_access.h"
#include "protocol/wire/join.h"

#include <stdio.h>
#include <string.h>

#define SECONDS_MAX (366ULL * 86400)

int token_seconds(const char *text, uint32_t *seconds, struct error *err)
{
	uint64_t ms;

	if (duration_parse(text, 1000, SECONDS_MAX * 1000, &ms, err) < 0)
		return -1;
	*seconds = (uint32_t)(ms / 1000);
	return 0;
}

/* The controller gets only the public half of the token. */
static int token_prepare(struct cli *cli, const struct token_options *options,
			 struct join_token *token, struct error *err)
{
	struct connection connection;

	if (settings_connection(cli->environment, cli->options, &connection,
				err) < 0 ||
	    settings_newest_key(&connection, err) < 0)
		return -1;
	return join_token_make(token,
			       options->address ? options->address
						: connection.endpoint,
			       connection.server_public, err);
}

static int token_announce(struct cli *cli, const char *line,
			  const char *endpoint, const struct answer *answer,
			  const char *words, struct error *err)
{
	const struct reply_token *reply = answer->reply;
	owned(cJSON_Delete) cJSON *object = NULL;

	cli_say(cli,
		"token %s is valid until %s; use it with: %s "
		"TOKEN",
		reply->token, human_clock(reply->until_ms).text, words);
	if (local_address_only(endpoint))
		cli_say(cli,
			"only this machine can reach the controller at %s; for "
			"other machines, use --address tcp://HOST:PORT",
			endpoint);
	else if (local_address_only(reply->listens))
		cli_say(cli,
			"the controller listens at %s, which only its own "
			"machine can reach; for other machines, set listen: "
			"tcp://0.0.0.0:PORT",
			reply->listens);
	if (!cli_format(cli, "json")) {
		fprintf(cli->out, "%s\n", line);
		return EXIT_GOOD;
	}
	object = codec_object(answer->schema, reply, err);
	if (!object)
		return -1;
	cJSON_AddStringToObject(object, "line", line);
	return cli_print_json(cli, object, err);
}

int token_print(struct cli *cli, const struct token_options *options,
		const char *role, const char *name, bool renew,
		const char *words, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct join_token token = { 0 };
	struct message_token message = {
		.public = token.public,
		.role = (char *)role,
		.name = (char *)name,
		.renew = renew,
		.from = (char *)options->from,
		.uses = options->uses && options->uses != OPTION_NONE
				? (uint32_t)options->uses
				: 1,
	};
	char line[JOIN_TOKEN_MAX];

	if (options->expires &&
	    token_seconds(options->expires, &message.for_s, err) < 0)
		return error_prefix(err, "--expires");
	if (token_prepare(cli, options, &token, err) < 0 ||
	    join_token_text(&token, line, err) < 0 ||
	    cli_call(cli, MESSAGE_TOKEN, &message, &answer, err) < 0)
		return -1;
	return token_announce(cli, line, token.endpoint, &answer, words, err);
}
