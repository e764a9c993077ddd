/* keys.c - key new, key show: the key files of people, agents, controllers.
 */
#include "controller/cli/commands/commands.h"
#include "controller/cli/json.h"
#include "protocol/program.h"

#include <errno.h>
#include <string.h>

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
	return cli_print_json(cli, object, err) < 0 ? -1 : EXIT_GOOD;
}

static int new_key(struct cli *cli, const char *file, struct error *err)
{
	struct key key;

	if (!cli->options.name || !cli->options.role)
		return error_set(err, EINVAL,
				 "key new: --name NAME and --role ROLE are "
				 "needed");
	if (key_generate(&key, cli->options.name, role_from(cli->options.role),
			 err) < 0 ||
	    key_save(&key, file, err) < 0)
		return -1;
	cli_say(cli,
		"%s: the key of %s (%s), for its eyes only; the line of the "
		"controller's list of keys:",
		file, key.name, role_name(key.role));
	return print_key(cli, &key, file, err);
}

int command_key(struct cli *cli, struct error *err)
{
	const char *what = cli->args[0];
	struct key key;

	if (strcmp(what, "new") != 0 && strcmp(what, "show") != 0)
		return error_set(err, EINVAL,
				 "key: found '%.60s', allowed: new, show",
				 what);
	if (cli->arg_count < 2)
		return error_set(err, EINVAL, "key %s: FILE is missing", what);
	if (!strcmp(what, "new"))
		return new_key(cli, cli->args[1], err);
	if (cli->options.name || cli->options.role)
		return error_set(err, EINVAL,
				 "key show: --name and --role are for key new");
	if (key_load(&key, cli->args[1], err) < 0)
		return -1;
	return print_key(cli, &key, cli->args[1], err);
}
