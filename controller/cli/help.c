/* help.c - prints the help.
 */
#include "controller/cli/help.h"

#include <string.h>

#define LINE_WIDTH 79
#define SUBCOMMAND_WIDTH 24

void help_all(FILE *out)
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

void help_command(FILE *out, const struct command *command)
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
