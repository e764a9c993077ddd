/* dispatch.c - a command line to its command, and its errors to words.
 */
#include "controller/cli/dispatch.h"

#include "controller/cli/command.h"
#include "controller/cli/help.h"
#include "controller/cli/subcommands.h"
#include "protocol/base/program.h"
#include "protocol/base/nearest_word.h"

#include <errno.h>
#include <string.h>

static const struct command *command_named(const char *name, struct error *err)
{
	const char *names[COMMANDS_MAX + 1] = { NULL };
	const struct command *command = command_find(name);
	const char *near;

	if (command)
		return command;
	for (size_t i = 0; i < COMMANDS_MAX && (command = command_at(i)); i++)
		names[i] = command->name;
	near = nearest_word(name, names);
	error_set(err, EINVAL,
		  "no command '%.60s'%s%s%s; regatta --help lists all", name,
		  near ? "; did you mean '" : "", near ? near : "",
		  near ? "'?" : "");
	return NULL;
}

/* The name of the word that is missing at this place of a usage without
 * alternatives: "ID" of "KIND ID"; "" where there are some.
 */
static void missing_name(const char *usage, size_t place, char *to, size_t size)
{
	to[0] = 0;
	if (strchr(usage, '|'))
		return;
	for (; place; place--) {
		usage += strcspn(usage, " ");
		usage += strspn(usage, " ");
	}
	snprintf(to, size, " %.*s", (int)strcspn(usage, " ."), usage);
}

/* Not too few, nor too many. */
static int check_words(const struct cli *cli, const struct command *command,
		       struct error *err)
{
	const char *space = *command->args ? " " : "";
	char missing[40];

	if (cli->arg_count > command->max_args)
		return error_set(err, EINVAL,
				 "%s: '%.60s' is not valid here; expected "
				 "regatta %s%s%s",
				 command->name, cli->args[command->max_args],
				 command->name, space, command->args);
	if (cli->arg_count >= command->min_args)
		return 0;
	missing_name(command->args, cli->arg_count, missing, sizeof(missing));
	return error_set(err, EINVAL,
			 "%s: missing argument%s (expected regatta %s %s)",
			 command->name, missing, command->name, command->args);
}

static int run_command(struct cli *cli, const struct command *command, int argc,
		       char **argv, struct error *err)
{
	const struct option_tables tables = command_options(command);

	if (options_parse(argc, argv, &tables, cli->options, cli->args,
			  &cli->arg_count, err) < 0)
		return error_prefix(err, "%s", command->name);
	if (cli->options->help) {
		help_command(cli->out, command);
		return EXIT_GOOD;
	}
	if (cli->options->version) {
		fputs("regatta " REGATTA_VERSION "\n", cli->out);
		return EXIT_GOOD;
	}
	if (command->subcommands)
		return subcommands_run(cli, command, err);
	return check_words(cli, command, err) < 0 ? -1 : command->fn(cli, err);
}

/* With room for the command's own options. */
static int prepare_command(struct cli *cli, const struct command *command,
			   int argc, char **argv, struct error *err)
{
	size_t size = command->options_size ? command->options_size
					    : sizeof(struct options);
	owned_free struct options *options = calloc(1, size);
	int code;

	if (!options)
		return error_nomem(err, "command line");
	cli->command = command->name;
	cli->options = options;
	code = run_command(cli, command, argc, argv, err);
	cli->options = NULL;
	return code;
}

static int dispatch(struct cli *cli, int argc, char **argv, struct error *err)
{
	const struct command *command;

	if (argc < 2) {
		help_all(cli->err);
		return EXIT_WRONG_REQUEST;
	}
	if (argc > COMMAND_ARGS_MAX)
		return error_set(err, EINVAL, "%d words; expected at most %d",
				 argc, COMMAND_ARGS_MAX);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    (!strcmp(argv[1], "help") && argc == 2)) {
		help_all(cli->out);
		return EXIT_GOOD;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		fputs("regatta " REGATTA_VERSION "\n", cli->out);
		return EXIT_GOOD;
	}
	if (argv[1][0] == '-')
		return error_set(err, EINVAL,
				 "'%.60s' is not valid here; expected a "
				 "command first; regatta --help lists all",
				 argv[1]);
	if (!strcmp(argv[1], "help")) {
		command = command_named(argv[2], err);
		if (!command)
			return -1;
		help_command(cli->out, command);
		return EXIT_GOOD;
	}
	command = command_named(argv[1], err);
	if (!command)
		return -1;
	return prepare_command(cli, command, argc - 2, argv + 2, err);
}

static int exit_code(struct error *err)
{
	if (err->code == EINTR)
		return EXIT_INTERRUPTED;
	/* A file that may not be read; a controller out of reach is ENOTCONN.
	 */
	if (err->code == EACCES)
		err->code = EPERM;
	return (int)program_exit_code(err);
}

/* Whether the command line asks for JSON, even one that is wrong. */
static bool wants_json(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--format=json") ||
		    (!strcmp(argv[i], "--format") && i + 1 < argc &&
		     !strcmp(argv[i + 1], "json")))
			return true;
	return false;
}

/* {"error": {"text": "...", "exit": 2}} */
static void print_json_error(struct cli *cli, const char *text, int code)
{
	owned(json_free) cJSON *object = cJSON_CreateObject();
	cJSON *error = cJSON_AddObjectToObject(object, "error");

	if (cJSON_AddStringToObject(error, "text", text) &&
	    cJSON_AddNumberToObject(error, "exit", code))
		cli_print_json(cli, object, NULL);
	fflush(cli->out);
}

int cli_run(struct cli *cli, int argc, char **argv)
{
	owned_free char **args = calloc((size_t)argc + 1, sizeof(*args));
	struct error err = { 0 };
	int code = -1;

	cli->options = NULL;
	cli->command = "";
	cli->args = args;
	cli->arg_count = 0;
	if (!args)
		error_nomem(&err, "command line");
	else
		code = dispatch(cli, argc, argv, &err);
	if (fflush(cli->out) != 0 && code >= 0)
		code = error_errno(&err, "cannot write the output");
	if (code < 0) {
		cli_say(cli, "regatta: %s", err.text);
		code = exit_code(&err);
		if (wants_json(argc, argv))
			print_json_error(cli, err.text, code);
	}
	cli->args = NULL;
	return code;
}
