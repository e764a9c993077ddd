/* dispatch.c - runs the command of a command line, and prints its help or
 * error.
 */
#include "controller/cli/dispatch.h"

#include "controller/cli/command.h"
#include "protocol/base/nearest_word.h"
#include "protocol/base/program.h"
#include "protocol/config/free_space.h"

#include <errno.h>
#include <string.h>

#define COMMANDS_MAX 64
#define HINT_SIZE 80
#define LINE_WIDTH 79
#define SUBCOMMAND_WIDTH 24 /* columns of the form of a subcommand */

/* "; did you mean 'jobs'?", or "" if no word is near. Returns hint. */
static const char *hint_at(const char *word, const char *const *words,
			   char hint[HINT_SIZE])
{
	const char *near = nearest_word(word, words);

	*hint = 0;
	if (near)
		snprintf(hint, HINT_SIZE, "; did you mean '%s'?", near);
	return hint;
}

static const struct command *command_named(const char *name, struct error *err)
{
	const char *names[COMMANDS_MAX + 1] = { NULL };
	const struct command *command = command_find(name);
	char hint[HINT_SIZE];

	if (command)
		return command;
	for (size_t i = 0; i < COMMANDS_MAX && (command = command_at(i)); i++)
		names[i] = command->name;
	error_set(err, EINVAL, "no command '%.60s'%s; regatta --help lists all",
		  name, hint_at(name, names, hint));
	return NULL;
}

/* word: NULL if there is none. */
static int unknown_subcommand(const struct command *command, const char *word,
			      struct error *err)
{
	const struct subcommand *subs = command->subcommands;
	const char *names[SUBCOMMANDS_MAX + 1] = { NULL };
	char all[300] = "", hint[HINT_SIZE];

	for (size_t i = 0; i < SUBCOMMANDS_MAX && subs[i].word; i++) {
		names[i] = subs[i].word;
		text_append(all, sizeof(all), "%s%s", i ? ", " : "", names[i]);
	}
	if (!word)
		return error_set(err, EINVAL,
				 "%s: missing argument; expected %s",
				 command->name, all);
	return error_set(err, EINVAL,
			 "%s: '%.60s' is not valid here; expected %s%s",
			 command->name, word, all, hint_at(word, names, hint));
}

/* The arguments that a command, or one of its subcommands, takes. */
struct usage {
	char name[60]; /* "jobs", "node drain" */
	const char *args;
	size_t min, max;
};

/* The name of the word that is missing at this place of a usage without
 * alternatives: "ID" of "KIND ID"; "" where there are some.
 */
static void missing_name(const char *args, size_t place, char *to, size_t size)
{
	to[0] = 0;
	if (strchr(args, '|'))
		return;
	for (; place; place--) {
		args += strcspn(args, " ");
		args += strspn(args, " ");
	}
	snprintf(to, size, " %.*s", (int)strcspn(args, " ."), args);
}

static int dispatch_check_words(const struct usage *usage, char *const *words,
				size_t count, struct error *err)
{
	char missing[40];

	if (count > usage->max)
		return error_set(err, EINVAL,
				 "%s: '%.60s' is not valid here; expected "
				 "regatta %s%s%s",
				 usage->name, words[usage->max], usage->name,
				 *usage->args ? " " : "", usage->args);
	if (count >= usage->min)
		return 0;
	missing_name(usage->args, count, missing, sizeof(missing));
	return error_set(err, EINVAL,
			 "%s: missing argument%s (expected regatta %s %s)",
			 usage->name, missing, usage->name, usage->args);
}

static bool is_given(const struct option_rule *rule,
		     const struct options *options)
{
	const void *value = (const char *)options + rule->offset;

	switch (rule->kind) {
	case OPTION_NUMBER:
		return *(const uint64_t *)value != OPTION_NONE;
	case OPTION_LIST:
		return ((const struct option_list *)value)->count;
	case OPTION_FLAG:
	case OPTION_LAST:
		return *(const bool *)value;
	case OPTION_FLOOR:
		return free_space_is_set(value);
	default:
		return *(const char *const *)value;
	}
}

static bool has_option(const struct subcommand *sub, const char *name)
{
	const char *at = sub->options ? sub->options : "";
	size_t length = strlen(name);

	while (*at) {
		size_t n = strcspn(at, " ");

		if (n == length && !strncmp(at, name, n))
			return true;
		at += n + (at[n] == ' ');
	}
	return false;
}

/* An option of another subcommand is an error. If it were ignored, `image
 * remove --dry-run` would remove the image.
 */
static int check_options(const struct cli *cli, const struct command *command,
			 const struct subcommand *sub, struct error *err)
{
	const struct option_rule *rule = command->rules;

	for (; rule && rule->name; rule++) {
		char owners[120] = "";

		if (!is_given(rule, cli->options) ||
		    has_option(sub, rule->name))
			continue;
		for (const struct subcommand *of = command->subcommands;
		     of->word; of++)
			if (has_option(of, rule->name))
				text_append(owners, sizeof(owners), "%s%s %s",
					    *owners ? ", " : "", command->name,
					    of->word);
		if (*owners)
			return error_set(err, EINVAL,
					 "%s %s: --%s is not valid here; it is "
					 "for %s",
					 command->name, sub->word, rule->name,
					 owners);
	}
	return 0;
}

static int run_subcommand(struct cli *cli, const struct command *command,
			  struct error *err)
{
	const struct subcommand *sub = command->subcommands;
	size_t count = cli->arg_count ? cli->arg_count - 1 : 0;
	struct usage usage;

	if (cli->arg_count < command->min_args)
		return unknown_subcommand(command, NULL, err);
	while (cli->arg_count && sub->word &&
	       strcmp(sub->word, cli->args[0]) != 0)
		sub++;
	if (!sub->word)
		return unknown_subcommand(command, cli->args[0], err);
	usage = (struct usage){ .args = sub->args ? sub->args : "",
				.min = sub->min_args,
				.max = sub->max_args };
	snprintf(usage.name, sizeof(usage.name), "%s %s", command->name,
		 sub->word);
	if (dispatch_check_words(&usage, cli->args + 1, count, err) < 0 ||
	    check_options(cli, command, sub, err) < 0)
		return -1;
	return sub->fn(cli, err);
}

static int dispatch_run(struct cli *cli, const struct command *command,
			struct error *err)
{
	struct usage usage = { .args = command->args ? command->args : "",
			       .min = command->min_args,
			       .max = command->max_args };

	snprintf(usage.name, sizeof(usage.name), "%s", command->name);
	return dispatch_check_words(&usage, cli->args, cli->arg_count, err) < 0
		       ? -1
		       : command->fn(cli, err);
}

/* The help. */

static void help_all(FILE *out)
{
	fputs("regatta runs matrices of training benchmarks in containers and "
	      "prints result\ntables.\n\nusage: regatta COMMAND [OPTION...] "
	      "[ARGUMENT...]\n\n",
	      out);
	for (size_t i = 0; command_at(i); i++)
		fprintf(out, "  %-10s  %s\n", command_at(i)->name,
			command_at(i)->summary);
	fputs("\nStart here:\n  regatta run first.yaml       run a sweep on "
	      "this machine, without setup\n  regatta COMMAND --help       "
	      "show the options of a command and an example\n\nExit status: 0 "
	      "success, 1 the work failed, 2 the request was wrong, 3 "
	      "the\ncontroller or the engine is not reachable. See regatta(1) "
	      "and regatta-sweep(5).\n",
	      out);
}

/* Alternatives that do not fit in a line are printed below each other. */
static void print_command_usage(FILE *out, const struct command *command)
{
	const char *form = command->subcommands ? "SUBCOMMAND"
			   : command->args      ? command->args
						: "";
	int left = fprintf(out, "usage: regatta %s", command->name);
	const char *more =
		command->connects || command->rules ? " [OPTION...]" : "";
	bool fits = (size_t)left + strlen(form) + strlen(more) < LINE_WIDTH;

	while (!fits && strstr(form, " | ")) {
		const char *end = strstr(form, " | ");

		fprintf(out, " %.*s\n%*s", (int)(end - form), form, left, "");
		form = end + 3;
	}
	fprintf(out, "%s%s%s\n", *form ? " " : "", form, more);
}

static void print_subcommands(FILE *out, const struct subcommand *sub)
{
	char form[80];

	for (; sub->word; sub++) {
		snprintf(form, sizeof(form), "%s%s%s", sub->word,
			 sub->args ? " " : "", sub->args ? sub->args : "");
		if (strlen(form) > SUBCOMMAND_WIDTH)
			fprintf(out, "  %s\n%*s", form, SUBCOMMAND_WIDTH + 4,
				"");
		else
			fprintf(out, "  %-*s  ", SUBCOMMAND_WIDTH, form);
		words_print(out, sub->summary, SUBCOMMAND_WIDTH + 4);
	}
}

static void help_command(FILE *out, const struct command *command)
{
	const struct option_rule *connection =
		command_options(command).list[COMMAND_CONNECTION];

	fprintf(out, "regatta %s - %s\n\n", command->name, command->summary);
	print_command_usage(out, command);
	fputc('\n', out);
	if (command->subcommands)
		print_subcommands(out, command->subcommands);
	if (command->subcommands && command->help)
		fputc('\n', out);
	if (command->help)
		words_print(out, command->help, 0);
	if (command->rules) {
		fputs("\noptions:\n", out);
		option_print(out, command->rules);
	}
	if (connection) {
		fputs("\nconnection:\n", out);
		option_print(out, connection);
	}
	fprintf(out, "\nexample:\n  %s\n", command->example);
}

static int help_print(struct cli *cli, const struct command *command)
{
	if (command)
		help_command(cli->out, command);
	else
		help_all(cli->out);
	return EXIT_GOOD;
}

static int print_version(struct cli *cli)
{
	fputs("regatta " REGATTA_VERSION "\n", cli->out);
	return EXIT_GOOD;
}

/* Numbers that are not given become OPTION_NONE. */
static int parse_options(struct cli *cli, const struct command *command,
			 int argc, char **argv, struct error *err)
{
	const struct option_tables tables = command_options(command);
	const struct option_rule *rule = NULL;

	while ((rule = option_next(&tables, rule)))
		if (rule->kind == OPTION_NUMBER)
			*(uint64_t *)((char *)cli->options + rule->offset) =
				OPTION_NONE;
	return option_parse(argc, argv, &tables, cli->options, cli->args,
			    &cli->arg_count, err) < 0
		       ? error_prefix(err, "%s", command->name)
		       : 0;
}

static int parse_and_run(struct cli *cli, const struct command *command,
			 int argc, char **argv, struct error *err)
{
	if (parse_options(cli, command, argc, argv, err) < 0)
		return -1;
	if (cli->options->help)
		return help_print(cli, command);
	if (cli->options->version)
		return print_version(cli);
	return command->subcommands ? run_subcommand(cli, command, err)
				    : dispatch_run(cli, command, err);
}

/* With memory for the command's options. */
static int run_with_options(struct cli *cli, const struct command *command,
			    int argc, char **argv, struct error *err)
{
	size_t size = command->options_size ? command->options_size
					    : sizeof(struct options);
	owned_free void *options = calloc(1, size);
	int code;

	if (!options)
		return error_nomem(err, "command line");
	cli->options = cli->given = options;
	code = parse_and_run(cli, command, argc, argv, err);
	cli->options = cli->given = NULL;
	return code;
}

static int dispatch(struct cli *cli, int argc, char **argv, struct error *err)
{
	const struct command *command;
	const char *word = argc > 1 ? argv[1] : "";

	if (argc < 2) {
		help_all(cli->err);
		return EXIT_WRONG_REQUEST;
	}
	if (argc > COMMAND_ARGS_MAX)
		return error_set(err, EINVAL, "%d words; expected at most %d",
				 argc, COMMAND_ARGS_MAX);
	if (!strcmp(word, "--help") || !strcmp(word, "-h") ||
	    (!strcmp(word, "help") && argc == 2))
		return help_print(cli, NULL);
	if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		return print_version(cli);
	if (word[0] == '-')
		return error_set(err, EINVAL,
				 "'%.60s' is not valid here; expected a "
				 "command first; regatta --help lists all",
				 word);
	if (!strcmp(word, "help")) {
		command = command_named(argv[2], err);
		return command ? help_print(cli, command) : -1;
	}
	command = command_named(word, err);
	return command ? run_with_options(cli, command, argc - 2, argv + 2, err)
		       : -1;
}

static int exit_code(struct error *err)
{
	if (err->code == EINTR)
		return EXIT_INTERRUPTED;
	/* EACCES is a file that may not be read, and so a wrong request. (An
	 * unreachable controller is ENOTCONN.)
	 */
	if (err->code == EACCES || err->code == SETTINGS_NO_CONTROLLER)
		err->code = EPERM;
	return (int)program_exit_code(err);
}

/* Does the command line ask for JSON, even if the rest of it is wrong? */
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
	owned(cJSON_Delete) cJSON *object = cJSON_CreateObject();
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

	cli->args = args;
	cli->arg_count = 0;
	if (!args)
		error_nomem(&err, "command line");
	else
		code = dispatch(cli, argc, argv, &err);
	if (fflush(cli->out) != 0 && code >= 0)
		code = error_errno(&err, "cannot write the output");
	else if (ferror(cli->out) && code >= 0)
		code = error_set(&err, EIO, "cannot write all of the output");
	if (code < 0) {
		cli_say(cli, "regatta: %s", err.text);
		code = exit_code(&err);
		if (wants_json(argc, argv))
			print_json_error(cli, err.text, code);
	}
	cli->args = NULL;
	return code;
}
