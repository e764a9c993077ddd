/* cancel.c - cancel: ends sweeps and jobs.
 */
#include "controller/cli/command.h"
#include "controller/view/render.h"
#include "protocol/base/program.h"
#include "protocol/message/reply_sweeps.h"

#include <errno.h>
#include <string.h>

struct cancel_options {
	struct options common;
	bool force;
	bool all;
};

static const struct cancel_options *cancel_options_given(const struct cli *cli)
{
	return cli->given;
}

static int cancel_send(struct cli *cli, struct client *client, const char *kind,
		       uint64_t id, cJSON *list, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_cancel cancel = {
		.kind = (char *)kind,
		.id = id,
		.force = cancel_options_given(cli)->force
	};
	uint64_t count;
	cJSON *row;

	if (client_call(client, MESSAGE_CANCEL, &cancel, &answer, err) < 0)
		return -1;
	count = ((const struct reply_cancel *)answer.reply)->cancelled;
	cli_say(cli, "%s %llu: %s cancelled", kind, (unsigned long long)id,
		human_jobs(count).text);
	row = cJSON_CreateObject();
	if (!cJSON_AddStringToObject(row, "kind", kind) ||
	    !cJSON_AddNumberToObject(row, "id", (double)id) ||
	    !cJSON_AddNumberToObject(row, "cancelled", (double)count) ||
	    !cJSON_AddItemToArray(list, row)) {
		cJSON_Delete(row);
		return error_nomem(err, "output");
	}
	return 0;
}

/* Read `[sweep | job] ID...` and cancel each; client NULL: only check the
 * words.
 */
static int cancel_each(struct cli *cli, struct client *client, cJSON *list,
		       struct error *err)
{
	const char *kind = "sweep";
	size_t numbers = 0;

	for (size_t i = 0; i < cli->arg_count; i++) {
		uint64_t id;

		if (!strcmp(cli->args[i], "sweep") ||
		    !strcmp(cli->args[i], "job")) {
			kind = cli->args[i];
			continue;
		}
		if (cli_id(cli->args[i], kind, &id, err) < 0)
			return -1;
		numbers++;
		if (client && cancel_send(cli, client, kind, id, list, err) < 0)
			return -1;
	}
	if (!numbers)
		return error_set(err, EINVAL,
				 "cancel: missing argument ID (expected the "
				 "number of a %s)",
				 kind);
	return 0;
}

/* Those of others are named, and left alone. */
static int cancel_all(struct cli *cli, struct client *client, cJSON *list,
		      struct error *err)
{
	owned(rows_clear) struct rows sweeps = { 0 };
	struct error why;

	if (client_rows(client, QUERY_SWEEPS, 0, "id", &sweeps, err) < 0)
		return -1;
	for (size_t i = 0; i < sweeps.count; i++) {
		const struct sweep_info *sweep = rows_at(&sweeps, i);

		if (sweep->final || cancel_send(cli, client, "sweep", sweep->id,
						list, &why) == 0)
			continue;
		if (why.code != EPERM)
			return error_set(err, why.code, "%s", why.text);
		cli_say(cli, "%s", why.text);
	}
	if (!cJSON_GetArraySize(list))
		cli_say(cli, "no sweep was cancelled");
	return 0;
}

static int cancel_command(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = NULL;
	owned(cJSON_Delete) cJSON *list = cJSON_CreateArray();
	bool all = cancel_options_given(cli)->all;

	if (!list)
		return error_nomem(err, "output");
	if (all && cli->arg_count)
		return error_set(err, EINVAL,
				 "cancel: --all and ID exclude each other");
	if (!all && cancel_each(cli, NULL, NULL, err) < 0)
		return -1;
	client = cli_connect(cli, err);
	if (!client ||
	    (all ? cancel_all : cancel_each)(cli, client, list, err) < 0)
		return -1;
	if (cli_format(cli, "json") && cli_print_json(cli, list, err) < 0)
		return -1;
	return EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(cancel_options, "force", 0, OPTION_FLAG, force, NULL),
	  .help = "also cancel what another operator submitted" },
	{ OPTION(cancel_options, "all", 0, OPTION_FLAG, all, NULL),
	  .help = "end every sweep that has not ended" },
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_cancel = {
	.name = "cancel",
	.args = "--all | [sweep | job] ID...",
	.max_args = COMMAND_ARGS_MAX,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct cancel_options),
	.summary = "end a sweep or a job",
	.help =
		"A number alone is the number of a sweep. Jobs that have "
		  "ended do not change.",
	.example = "regatta cancel job 17",
	.fn = cancel_command,
};
/* clang-format on */
