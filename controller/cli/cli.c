/* cli.c - the command line: one table of commands, their help, their errors.
 */
#include "controller/cli/cli.h"
#include "controller/cli/command.h"
#include "controller/cli/help.h"
#include "controller/cli/json.h"
#include "controller/cli/render.h"
#include "protocol/base/program.h"
#include "protocol/yaml/value.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

/* clang-format off */
static const struct option_rule connection_rules[] = {
	{ OPTION(options, "controller", 0, OPTION_TEXT, controller, "ENDPOINT"),
	  .help = "tcp://HOST:7117 (REGATTA_CONTROLLER)" },
	{ OPTION(options, "controller-key", 0, OPTION_TEXT, controller_key,
		 "KEY"),
	  .help = "its public key or a file with it "
		  "(REGATTA_CONTROLLER_KEY)" },
	{ OPTION(options, "key", 0, OPTION_TEXT, key, "FILE"),
	  .help = "your key (REGATTA_KEY, ~/.config/regatta/key)" },
	{ 0 },
};

const char *const formats_text[] = { "text", "json", NULL };
const char *const formats_json[] = { "json", NULL };
const char *const formats_report[] = { "markdown", "csv", "json", "html",
				       NULL };

static const struct command *const commands[] = {
	&command_run,
	&command_plan,
	&command_submit,
	&command_sweeps,
	&command_jobs,
	&command_nodes,
	&command_show,
	&command_logs,
	&command_image,
	&command_files,
	&command_fetch,
	&command_cancel,
	&command_retry,
	&command_report,
	&command_compare,
	&command_extract,
	&command_sample,
	&command_verify,
	&command_mfu,
	&command_vendors,
	&command_check,
	&command_completion,
	&command_export,
	&command_import,
	&command_key,
	&command_node,
	&command_user,
	&command_join,
	&command_backup,
	&command_gc,
	&command_audit,
};
/* clang-format on */

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

const struct command *command_at(size_t index)
{
	return index < COMMANDS ? commands[index] : NULL;
}

struct option_tables command_options(const struct command *command)
{
	return options_all(command->rules,
			   command->connects ? connection_rules : NULL);
}

static const struct command *command_named(const char *name, struct error *err)
{
	const char *names[COMMANDS + 1];
	const char *near;

	for (size_t i = 0; i < COMMANDS; i++) {
		names[i] = commands[i]->name;
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	names[COMMANDS] = NULL;
	near = word_nearest(name, names);
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
	if (check_words(cli, command, err) < 0)
		return -1;
	return command->fn(cli, err);
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

struct client *cli_connect(struct cli *cli, struct error *err)
{
	struct connection connection;
	struct client *client;
	sd_event *loop = NULL;
	int rc;

	if (settings_connection(cli->environment, cli->options, &connection,
				err) < 0)
		return NULL;
	rc = sd_event_new(&loop);
	if (rc < 0) {
		error_set(err, -rc, "event loop: cannot be made");
		return NULL;
	}
	client = client_new(loop, &connection, err);
	sd_event_unref(loop);
	return client;
}

bool cli_format(const struct cli *cli, const char *word)
{
	return cli->options->format && !strcmp(cli->options->format, word);
}

int cli_print_json(struct cli *cli, const cJSON *json, struct error *err)
{
	char *text = cJSON_PrintUnformatted(json);

	if (!text)
		return error_nomem(err, "output");
	fprintf(cli->out, "%s\n", text);
	cJSON_free(text);
	return 0;
}

void cli_say(struct cli *cli, const char *fmt, ...)
{
	char text[1000], clean[2000];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(cli->err, "%s\n", escape(text, clean, sizeof(clean)));
	fflush(cli->err);
}

static bool may_colour(const struct cli *cli)
{
	const char *no_color = cli->environment->no_color;

	return !no_color || !*no_color;
}

bool cli_out_colour(const struct cli *cli)
{
	return cli->out_terminal && may_colour(cli);
}

bool cli_err_colour(const struct cli *cli)
{
	return cli->err_terminal && may_colour(cli);
}

int cli_id(const char *text, const char *what, uint64_t *id, struct error *err)
{
	char *end = NULL;
	unsigned long long number = 0;

	errno = 0;
	if (text[0] >= '0' && text[0] <= '9')
		number = strtoull(text, &end, 10);
	if (!end || *end || errno || !number)
		return error_set(err, EINVAL,
				 "%s: '%.60s' is not valid here; expected its "
				 "number, from 1 on",
				 what, text);
	*id = number;
	return 0;
}

int interrupts_init(struct interrupts *interrupts, sd_event *loop,
		    sd_event_signal_handler_t fn, void *arg, struct error *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t set;
	int rc = 0;

	memset(interrupts, 0, sizeof(*interrupts));
	sigemptyset(&set);
	for (size_t i = 0; i < 3; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (size_t i = 0; i < 3 && rc >= 0; i++)
		rc = sd_event_add_signal(loop, &interrupts->sources[i],
					 signals[i], fn, arg);
	if (rc < 0) {
		interrupts_clear(interrupts);
		return error_set(err, -rc, "event loop: cannot watch signals");
	}
	return 0;
}

void interrupts_clear(struct interrupts *interrupts)
{
	sigset_t set;

	if (!interrupts->sources[0])
		return;
	for (size_t i = 0; i < 3; i++)
		interrupts->sources[i] =
			sd_event_source_disable_unref(interrupts->sources[i]);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}
