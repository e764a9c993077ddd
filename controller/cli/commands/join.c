/* join.c - join: joins a cluster as a user, with a token.
 */
#include "controller/cli/command.h"
#include "protocol/base/file.h"
#include "protocol/base/program.h"
#include "protocol/wire/join.h"

#include <errno.h>
#include <string.h>

#define JOIN_MS 20000

struct join_options {
	struct options common;
	const char *token_file;
	bool replace;
};

/* The key of another cluster would be lost: nobody prints it a second time. */
static int join_check_other(struct cli *cli, const struct join_token *token,
			    const char *path, struct error *err)
{
	struct environment file_only = *cli->environment;
	struct connection other = { 0 };

	file_only.controller = file_only.controller_key = NULL;
	if (((const struct join_options *)cli->given)->replace ||
	    settings_controller(&file_only, cli->options, &other, NULL) < 0 ||
	    !strcmp(other.endpoint, token->endpoint) ||
	    !strcmp(other.server_public, token->server_public))
		return 0;
	return error_set(err, EEXIST,
			 "%.80s is of the controller %.60s; set REGATTA_CONFIG "
			 "to another file, or give up that key with --replace",
			 path, other.endpoint);
}

static int join_command(struct cli *cli, struct error *err)
{
	static const char *const keys[] = { "controller", "controller_key",
					    "key", NULL };
	char folder[PATH_MAX], path[PATH_MAX], key_path[PATH_MAX + 8];
	char text[PATH_MAX + 500];
	const struct join_options *options = cli->given;
	struct join_token token;
	struct key key;

	if (join_token_fetch(&token, cli->arg_count ? cli->args[0] : NULL,
			     options->token_file, err) < 0 ||
	    settings_file(cli->environment, path, folder, err) < 0 ||
	    join_check_other(cli, &token, path, err) < 0 ||
	    file_make_folders(folder, 0700, err) < 0)
		return -1;
	snprintf(key_path, sizeof(key_path), "%s/key", folder);
	/* The token determines name and role. */
	if (join_key_prepare(&key, key_path, "me", ROLE_VIEWER, err) < 0)
		return -1;
	if (join_enrol(&token, &key, false, NULL, JOIN_MS, err) < 0)
		return -1;
	snprintf(text, sizeof(text),
		 "controller: \"%s\"\ncontroller_key: \"%s\"\nkey: \"%s\"\n",
		 token.endpoint, token.server_public, key_path);
	if (join_settings(path, keys, text, "", err) < 0 ||
	    join_key_settle(&key, key_path, err) < 0)
		return -1;
	cli_say(cli, "joined %s as %s (%s); key: %s, settings: %s", key.name,
		role_name(key.role), token.endpoint, key_path, path);
	return EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(join_options, "token-file", 0, OPTION_TEXT, token_file, "FILE"),
	  .help = "read the token from a file, not the command line" },
	OPTION_REPLACE(join_options, "replace the settings and the key of "
		  "another cluster"),
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_join = {
	.name = "join",
	.args = "[TOKEN | -]",
	.max_args = 1,
	.rules = rules,
	.options_size = sizeof(struct join_options),
	.summary = "join a cluster as a user, with a token",
	.help =
		"Creates a key in ~/.config/regatta, enrols it, and saves the "
		  "address of the controller there. - reads the token from "
		  "standard input. Machines join with regatta-agent join.",
	.example = "regatta join tcp://10.0.0.1:7117,Zk3...,q9A...",
	.fn = join_command,
};
/* clang-format on */
