/* key.c - key: creates, shows and rotates keys.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/token.h"
#include "controller/view/render.h"
#include "protocol/base/machine.h"
#include "protocol/base/program.h"
#include "protocol/config/agent.h"
#include "protocol/config/installed.h"
#include "protocol/message/reply_access.h"
#include "protocol/wire/join.h"
#include "protocol/wire/server_keys.h"

#include <errno.h>
#include <unistd.h>

#define ROTATE_MS 20000

struct key_options {
	struct options common;
	const char *name;
	const char *role;
	const char *keep;
	const char *expires;
};

static const struct key_options *key_options_given(const struct cli *cli)
{
	return cli->given;
}

static int public_key_print(struct cli *cli, const struct key *key,
			    const char *file, struct error *err)
{
	owned(cJSON_Delete) cJSON *object = NULL;
	char line[256];

	if (!cli_format(cli, "json")) {
		key_line(key, line, sizeof(line));
		fputs(line, cli->out);
		return EXIT_GOOD;
	}
	object = cJSON_CreateObject();
	if (!cJSON_AddStringToObject(object, "name", key->name) ||
	    !cJSON_AddStringToObject(object, "role", role_name(key->role)) ||
	    !cJSON_AddStringToObject(object, "public", key->public) ||
	    !cJSON_AddStringToObject(object, "file", file))
		return error_nomem(err, "output");
	return cli_print_json(cli, object, err);
}

static int new_key(struct cli *cli, struct error *err)
{
	const char *file = cli->args[1];
	struct key key;

	if (!key_options_given(cli)->name || !key_options_given(cli)->role)
		return error_set(err, EINVAL,
				 "key new: missing option (expected --name "
				 "NAME and --role ROLE)");
	if (key_generate(&key, key_options_given(cli)->name,
			 role_from(key_options_given(cli)->role), err) < 0 ||
	    key_save(&key, file, err) < 0)
		return -1;
	cli_say(cli, "wrote the private key %s (%s %s); %s", file,
		role_name(key.role), key.name,
		key.role == ROLE_CONTROLLER
			? "it is for regatta-controller --key; people and "
			  "agents need its public key:"
			: "add this line to the controller's list of keys:");
	return public_key_print(cli, &key, file, err);
}

/* Rotating. */

/* Find the controller of a key: for an agent's key, in the agent's settings. */
static int rotation_find_controller(struct cli *cli, enum role role,
				    const char *file,
				    struct connection *connection,
				    struct error *err)
{
	owned(config_free) struct config *config = NULL;
	struct agent_settings settings;

	snprintf(connection->keys_file, sizeof(connection->keys_file), "%s%s",
		 file, SERVER_KEYS_PERSON);
	if (role != ROLE_AGENT || cli->options->controller ||
	    access(installed_agent_yaml, R_OK) < 0)
		return settings_controller(cli->environment, cli->options,
					   connection, err);
	if (config_read_file(&agent_program, installed_agent_yaml, &settings,
			     &config, err) < 0)
		return -1;
	if (!settings.controller || !settings.controller_key)
		return error_set(err, EINVAL, "%s does not set a controller",
				 installed_agent_yaml);
	snprintf(connection->endpoint, sizeof(connection->endpoint), "%s",
		 settings.controller);
	snprintf(connection->keys_file, sizeof(connection->keys_file), "%s/%s",
		 settings.state, SERVER_KEYS_AGENT);
	return key_public(settings.controller_key, connection->server_public,
			  err);
}

static int read_times(struct cli *cli, struct join_rotation *rotation,
		      struct error *err)
{
	const struct key_options *options = key_options_given(cli);

	if (options->keep &&
	    token_seconds(options->keep, &rotation->keep_s, err) < 0)
		return error_prefix(err, "--keep");
	if (options->expires &&
	    token_seconds(options->expires, &rotation->for_s, err) < 0)
		return error_prefix(err, "--expires");
	return 0;
}

/* The new key is saved beside the old one before the controller is asked, and
 * replaces it after the answer. So whenever this is interrupted, one of the two
 * is valid, and the same command continues.
 */
static int rotation_ask(struct join_rotation *rotation, const char *file,
			struct error *err)
{
	char machine[MACHINE_ID_SIZE];
	const char *here = machine_id(machine) ? machine : NULL;

	if (join_rotate(rotation, here, ROTATE_MS, err) == 0)
		return 0;
	if (err->code == EBUSY)
		join_key_forget(file);
	if (err->code != EACCES)
		return error_prefix(err, "%s", file);
	/* An earlier attempt may have succeeded, perhaps long ago. */
	rotation->key = rotation->next;
	if (join_rotate(rotation, here, ROTATE_MS, NULL) == 0)
		return 0;
	return error_prefix(err, "%s", file);
}

static int rotate_key(struct cli *cli, struct error *err)
{
	const char *file = cli->args[1];
	struct connection connection = { 0 };
	struct key key, next;
	struct join_rotation rotation = { .endpoint = connection.endpoint,
					  .server = connection.server_public,
					  .key = &key,
					  .next = &next };

	if (key_load(&key, file, err) < 0)
		return -1;
	if (key.role == ROLE_CONTROLLER)
		return error_set(err, EINVAL,
				 "%s: expected the key of a user or a node; "
				 "for the controller's key, use regatta key "
				 "rotate-controller",
				 file);
	if (read_times(cli, &rotation, err) < 0 ||
	    rotation_find_controller(cli, key.role, file, &connection, err) <
		    0 ||
	    settings_newest_key(&connection, err) < 0 ||
	    join_key_prepare(&next, file, key.name, key.role, err) < 0 ||
	    rotation_ask(&rotation, file, err) < 0 ||
	    join_key_settle(&next, file, err) < 0)
		return -1;
	if (rotation.old_until_ms)
		cli_say(cli,
			"%s contains the new key of %s; the old key is valid "
			"until %s%s",
			file, key.name, human_clock(rotation.old_until_ms).text,
			key.role == ROLE_AGENT
				? "; the agent uses it after a restart, its "
				  "tasks keep running"
				: "");
	return public_key_print(cli, &next, file, err);
}

static int rotate_controller(struct cli *cli, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_rotate_controller message = { 0 };
	const struct reply_rotate_controller *reply;

	if (key_options_given(cli)->keep &&
	    token_seconds(key_options_given(cli)->keep, &message.keep_s, err) <
		    0)
		return error_prefix(err, "--keep");
	if (cli_call(cli, MESSAGE_ROTATE_CONTROLLER, &message, &answer, err) <
	    0)
		return -1;
	reply = answer.reply;
	if (cli_format(cli, "json"))
		return cli_print_answer(cli, &answer, err);
	cli_say(cli,
		"the controller uses this key from %s on; agents and users who "
		"connect until then receive it, the others need it as "
		"controller_key:",
		human_clock(reply->from_ms).text);
	fprintf(cli->out, "%s\n", reply->public);
	return EXIT_GOOD;
}

static int show_key(struct cli *cli, struct error *err)
{
	struct key key;

	return key_load(&key, cli->args[1], err) < 0
		       ? -1
		       : public_key_print(cli, &key, cli->args[1], err);
}

/* clang-format off */
static const char *const roles[] = { "agent", "operator", "viewer",
				     "controller", NULL };

static const struct subcommand subcommands[] = {
	{ "new", "FILE --name NAME --role ROLE", 1, 1, "name role",
	  "create a key file that only you can read, and print its line for "
		  "the controller's list of keys", new_key },
	{ "show", "FILE", 1, 1, NULL, "print the line of a key for the "
		  "controller's list of keys", show_key },
	{ "rotate", "FILE", 1, 1, "keep expires",
	  "replace the key in the file; the controller accepts the new key at "
		  "once, and the old key for a day", rotate_key },
	{ "rotate-controller", "", 0, 0, "keep",
	  "make the controller change its own key in a week; clients that "
		  "connect until then receive the new key", rotate_controller },
	{ 0 },
};

static const struct option_rule rules[] = {
	{ OPTION(key_options, "name", 0, OPTION_TEXT, name, "NAME"),
	  .help = "name of the user or node (new)" },
	{ OPTION(key_options, "role", 0, OPTION_WORD, role, "ROLE"),
	  .words = roles,
	  .help = "agent, operator, viewer or controller (new)" },
	{ OPTION(key_options, "keep", 0, OPTION_TEXT, keep, "TIME"),
	  .help = "how long the old key stays valid, 1h to 7d (24h; rotate), "
		  "10s to 30d (7d; rotate-controller)" },
	{ OPTION(key_options, "expires", 0, OPTION_TEXT, expires, "TIME"),
	  .help = "when the new key expires, at least 30d (as the old one; rotate)" },
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_key = {
	.name = "key",
	.min_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct key_options),
	.summary = "create, show or rotate a key",
	.help = "The same command continues an interrupted rotation.",
	.example = "regatta key new n1.key --name n1 --role agent >> authorized",
	.subcommands = subcommands,
};
/* clang-format on */
