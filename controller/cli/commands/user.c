/* user.c - user: adds, lists and removes users.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/rows.h"
#include "controller/cli/commands/token.h"
#include "protocol/message/reply_access.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct user_options {
	struct options common;
	struct token_options token;
	const char *role;
	const char *public;
};

static int user_admit(struct cli *cli, struct error *err)
{
	const struct user_options *given = cli->given;
	char public[KEY_TEXT_SIZE], done[40];
	struct message_admit message = {
		.name = cli->args[1],
		.role = (char *)given->role,
		.public = public,
	};

	if (key_public(given->public, public, err) < 0)
		return error_prefix(err, "--public");
	snprintf(done, sizeof(done), "is %s", given->role);
	return cli_order(cli, MESSAGE_ADMIT, &message, done, err);
}

static int user_add_account(struct cli *cli, struct error *err)
{
	const struct user_options *given = cli->given;

	if (!given->role)
		return error_set(err, EINVAL,
				 "user add: missing option (expected --role "
				 "operator or --role viewer)");
	if (given->public)
		return user_admit(cli, err);
	return token_print(cli, &given->token, given->role, cli->args[1], false,
			   "regatta join", err);
}

/* By name; of a name in the order in which its keys were admitted. */
static int user_keys_compare(const void *a, const void *b)
{
	const struct key_info *x = a, *y = b;
	int rc = strverscmp(x->name, y->name);

	return rc ? rc
		  : (x->since_ms > y->since_ms) - (x->since_ms < y->since_ms);
}

static int users_list(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = cli_connect(cli, err);
	owned(rows_clear) struct rows rows = { 0 };

	if (!client || client_rows(client, QUERY_KEYS, 0, NULL, &rows, err) < 0)
		return -1;
	qsort(rows.items, rows.count, rows.schema->size, user_keys_compare);
	return rows_show(cli, &view_keys, client_clock_ms(client), &rows, err);
}

static int remove_user(struct cli *cli, struct error *err)
{
	struct message_revoke message = { .kind = (char *)"user",
					  .name = cli->args[1] };

	return cli_order(cli, MESSAGE_REVOKE, &message,
			 "is removed and the key is refused", err);
}

/* What a request does, and who may send it, by the table of the controller. */
struct permission {
	char *message;
	char *may;
	bool operator;
	bool viewer;
	bool token;
	bool audit;
};
static const struct schema permission_schema =
	SCHEMA(permission, FIELD(permission, message), FIELD(permission, may),
	       FIELD(permission, operator), FIELD(permission, viewer),
	       FIELD(permission, token), FIELD(permission, audit));

static void permission_put(struct view_row *row, const void *of)
{
	const struct permission *permission = of;
	const bool given[] = { permission->operator, permission->viewer,
			       permission->token, permission->audit };

	view_text(row, permission->may);
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		view_text(row, given[i] ? "yes" : "-");
}

static const struct view_column permission_columns[] = {
	{ "MAY", NULL, false, 0 },    { "OPERATOR", NULL, false, 0 },
	{ "VIEWER", NULL, false, 0 }, { "TOKEN", NULL, false, 0 },
	{ "AUDIT", NULL, false, 0 },  { NULL, NULL, false, 0 },
};
static const struct view permissions_view = { "roles",
					      sizeof(struct permission),
					      permission_columns,
					      permission_put,
					      NULL,
					      false };

static int roles(struct cli *cli, struct error *err)
{
	struct permission items[MESSAGE_TYPES];
	struct rows rows = { &permission_schema, (char *)items, 0 };

	for (int i = 1; i < MESSAGE_TYPES; i++) {
		const struct message_kind *kind = &message_kinds[i];

		if (kind->does)
			items[rows.count++] = (struct permission){
				.message = (char *)kind->name,
				.may = (char *)kind->does,
				.operator= kind->senders & ROLE_OPERATOR,
				.viewer = kind->senders & ROLE_VIEWER,
				.token = kind->senders & ROLE_JOINER,
				.audit = kind->audited,
			};
	}
	return rows_show(cli, &permissions_view, 0, &rows, err);
}

/* clang-format off */
static const char *const person_roles[] = { "operator", "viewer", NULL };

static const struct subcommand subcommands[] = {
	{ "add", "NAME --role ROLE", 1, 1, "role public expires address from",
	  "print a token with which a user joins: regatta join TOKEN", user_add_account },
	{ "list", NULL, 0, 0, NULL, "list the keys of users and nodes", users_list },
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
