/* user.c - user: who may connect, and as what.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/rows.h"
#include "controller/cli/commands/token.h"
#include "protocol/base/program.h"
#include "protocol/message/reply_access.h"

#include <errno.h>
#include <string.h>

struct user_options {
	struct options common;
	struct token_options token;
	const char *role;
	const char *public;
};

static const struct user_options *given(const struct cli *cli)
{
	return cli->given;
}

static int admit(struct cli *cli, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	char public[KEY_TEXT_SIZE];
	struct message_admit message = {
		.name = cli->args[1],
		.role = (char *)given(cli)->role,
		.public = public,
	};

	if (key_public(given(cli)->public, public, err) < 0)
		return error_prefix(err, "--public");
	if (cli_call(cli, MESSAGE_ADMIT, &message, &answer, err) < 0)
		return -1;
	cli_say(cli, "%s is %s", cli->args[1], given(cli)->role);
	return cli_print_answer(cli, &answer, err);
}

static int add(struct cli *cli, struct error *err)
{
	if (!given(cli)->role)
		return error_set(err, EINVAL,
				 "user add: missing option (expected --role "
				 "operator or --role viewer)");
	if (given(cli)->public)
		return admit(cli, err);
	return token_print(cli, &given(cli)->token, given(cli)->role,
			   cli->args[1], false, "regatta join", err);
}

static void user_row(struct table *table, const void *row, int64_t now_ms)
{
	const struct key_info *key = row;
	bool revoked = key->revoked_ms > 0;
	bool ends = !revoked && key->until_ms;

	table_cell(table, revoked ? FAINT : PLAIN, "%s", key->name);
	table_text(table, key->role);
	table_cell(table, revoked ? RED : GREEN, "%s%s",
		   revoked ? "revoked"
		   : ends  ? "valid until "
			   : "good",
		   ends ? human_clock(key->until_ms).text : "");
	table_text(table,
		   human_clock(revoked ? key->revoked_ms : key->since_ms).text);
	table_text(table, key->network ? key->network : "any");
	table_text(table, key->by);
	table_text(table, key->public);
}

static const struct column user_columns[] = {
	{ "NAME", false },   { "ROLE", false }, { "KEY", false },
	{ "SINCE", false },  { "FROM", false }, { "BY", false },
	{ "PUBLIC", false }, { NULL, false },
};
static const struct rows_view users_view = { "keys", user_columns, user_row,
					     "no keys", NULL };

static int list(struct cli *cli, struct error *err)
{
	return rows_list(cli, &users_view, QUERY_KEYS, NULL, err);
}

static int remove_user(struct cli *cli, struct error *err)
{
	struct message_revoke message = { .kind = (char *)"user",
					  .name = cli->args[1] };
	owned(answer_clear) struct answer answer = { 0 };

	if (cli_call(cli, MESSAGE_REVOKE, &message, &answer, err) < 0)
		return -1;
	cli_say(cli, "%s is removed and the key is refused", cli->args[1]);
	return cli_print_answer(cli, &answer, err);
}

static int roles_json(struct cli *cli, struct error *err)
{
	owned(cJSON_Delete) cJSON *object = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(object, "roles");

	for (int i = 1; i < MESSAGE_TYPES; i++) {
		const struct message_kind *kind = &message_kinds[i];
		cJSON *row;

		if (!kind->does)
			continue;
		row = cJSON_CreateObject();
		cJSON_AddStringToObject(row, "message", kind->name);
		cJSON_AddStringToObject(row, "may", kind->does);
		cJSON_AddBoolToObject(row, "operator",
				      kind->senders & ROLE_OPERATOR);
		cJSON_AddBoolToObject(row, "viewer",
				      kind->senders & ROLE_VIEWER);
		cJSON_AddBoolToObject(row, "token",
				      kind->senders & ROLE_JOINER);
		cJSON_AddBoolToObject(row, "audit", kind->audited);
		cJSON_AddItemToArray(list, row);
	}
	return cli_print_json(cli, object, err);
}

/* The table that the controller goes by. */
static int roles(struct cli *cli, struct error *err)
{
	static const struct column columns[] = {
		{ "MAY", false },   { "OPERATOR", false }, { "VIEWER", false },
		{ "TOKEN", false }, { "AUDIT", false },    { NULL, false },
	};
	static const enum role shown[] = { ROLE_OPERATOR, ROLE_VIEWER,
					   ROLE_JOINER };
	owned(table_clear) struct table table = { .columns = columns };

	if (cli_format(cli, "json"))
		return roles_json(cli, err);
	for (int i = 1; i < MESSAGE_TYPES; i++) {
		const struct message_kind *kind = &message_kinds[i];

		if (!kind->does)
			continue;
		table_text(&table, kind->does);
		for (size_t r = 0; r < sizeof(shown) / sizeof(shown[0]); r++)
			table_text(&table,
				   kind->senders & shown[r] ? "yes" : "-");
		table_text(&table, kind->audited ? "yes" : "-");
	}
	return table_print(&table, cli->out, false, err);
}

/* clang-format off */
static const char *const person_roles[] = { "operator", "viewer", NULL };

static const struct subcommand subcommands[] = {
	{ "add", "NAME --role ROLE", 1, 1, "role public expires address from",
	  "print a token with which a user joins: regatta join TOKEN", add },
	{ "list", NULL, 0, 0, NULL, "list the keys of users and nodes", list },
	{ "remove", "NAME", 1, 1, NULL,
	  "refuse a user's key at once, also in open sessions",
	  remove_user },
	{ "roles", NULL, 0, 0, NULL, "show what each role may do", roles },
	{ 0 },
};

static const struct option_rule rules[] = {
	{ OPTION(user_options, "role", 0, OPTION_WORD, role, "ROLE"),
	  .words = person_roles,
	  .help = "operator or viewer (required)" },
	{ OPTION(user_options, "public", 0, OPTION_KEY, public, "KEY"),
	  .help = "enrol this public key (or file with it), without a token" },
	OPTIONS_TOKEN(user_options),
	{ OPTION(user_options, "from", 0, OPTION_TEXT, token.from, "NETWORK"),
	  .help = "network from which the token is valid: 10.0.0.0/8 (any)" },
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_user = {
	.name = "user",
	.min_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct user_options),
	.summary = "add, list and remove users",
	.example = "regatta user add ann --role operator",
	.subcommands = subcommands,
};
/* clang-format on */
