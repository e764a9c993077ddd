/* key.c - key: the key files of people, agents, controllers.
 */
#include "controller/cli/command.h"
#include "protocol/base/program.h"

#include <errno.h>
#include <string.h>

struct key_options {
	struct options common;
	const char *name;
	const char *role;
};

static const struct key_options *given(const struct cli *cli)
{
	return (const struct key_options *)cli->options;
}

static int print_key(struct cli *cli, const struct key *key, const char *file,
		     struct error *err)
{
	owned(json_free) cJSON *object = NULL;
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

static int new_key(struct cli *cli, const char *file, struct error *err)
{
	struct key key;

	if (!given(cli)->name || !given(cli)->role)
		return error_set(err, EINVAL,
				 "key new: --name NAME and --role ROLE are "
				 "needed");
	if (key_generate(&key, given(cli)->name, role_from(given(cli)->role),
			 err) < 0 ||
	    key_save(&key, file, err) < 0)
		return -1;
	cli_say(cli,
		"wrote the private key %s (%s %s); add this line to the "
		"controller's list of keys:",
		file, role_name(key.role), key.name);
	return print_key(cli, &key, file, err);
}

static int run_command(struct cli *cli, struct error *err)
{
	const char *what = cli->args[0];
	struct key key;

	if (strcmp(what, "new") != 0 && strcmp(what, "show") != 0)
		return error_set(err, EINVAL,
				 "key: '%.60s' is not valid here; expected "
				 "new, show",
				 what);
	if (cli->arg_count < 2)
		return error_set(err, EINVAL, "key %s: FILE is missing", what);
	if (!strcmp(what, "new"))
		return new_key(cli, cli->args[1], err);
	if (given(cli)->name || given(cli)->role)
		return error_set(err, EINVAL,
				 "key show: --name and --role are for key new");
	if (key_load(&key, cli->args[1], err) < 0)
		return -1;
	return print_key(cli, &key, cli->args[1], err);
}

/* clang-format off */
static const char *const roles[] = { "agent", "operator", "viewer",
				     "controller", NULL };

static const struct option_rule rules[] = {
	{ OPTION(key_options, "name", 0, OPTION_TEXT, name, "NAME"),
	  .help = "who holds the key (new)" },
	{ OPTION(key_options, "role", 0, OPTION_WORD, role, "ROLE"),
	  .words = roles,
	  .help = "agent, operator, viewer or controller (new)" },
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_key = {
	.name = "key",
	.args = "new FILE --name NAME --role ROLE | show FILE",
	.min_args = 1,
	.max_args = 2,
	.rules = rules,
	.options_size = sizeof(struct key_options),
	.summary = "make or show a key",
	.help =
		"new makes a key file that only you can read; both print the "
		"line that the controller's list of keys needs.",
	.example = "regatta key new n1.key --name n1 --role agent >> authorized",
	.fn = run_command,
};
/* clang-format on */
