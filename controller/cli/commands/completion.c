/* completion.c - what a shell needs to complete a command line of regatta.
 *
 * The scripts are made from the tables of commands and options, so they know
 * what the program knows.
 */
#include "controller/cli/command.h"
#include "protocol/program.h"

#include <errno.h>
#include <string.h>

typedef void option_fn(FILE *out, const struct command *command,
		       const struct option_rule *rule);

static void each_option(FILE *out, const struct command *command, option_fn *fn)
{
	const struct option_tables tables = command_options(command);
	const struct option_rule *rule = NULL;

	while ((rule = option_next(&tables, rule)))
		fn(out, command, rule);
}

static bool names_file(const struct option_rule *rule)
{
	return rule->value &&
	       (!strcmp(rule->value, "FILE") || !strcmp(rule->value, "KEY"));
}

static bool names_folder(const struct option_rule *rule)
{
	return rule->value && !strcmp(rule->value, "DIR");
}

static void print_words(FILE *out, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", words[i]);
}

/* bash */

static void bash_name(FILE *out, const struct command *command,
		      const struct option_rule *rule)
{
	fprintf(out, " --%s", rule->name);
	if (rule->letter)
		fprintf(out, " -%c", rule->letter);
}

static void bash_value(FILE *out, const struct command *command,
		       const struct option_rule *rule)
{
	if (rule->words) {
		fprintf(out, "\t%s,--%s) words='", command->name, rule->name);
		print_words(out, rule->words);
		fputs("' ;;\n", out);
	} else if (names_folder(rule)) {
		fprintf(out, "\t%s,--%s) kind=-d ;;\n", command->name,
			rule->name);
	} else if (names_file(rule)) {
		fprintf(out, "\t%s,--%s) kind=-f ;;\n", command->name,
			rule->name);
	} else if (rule->value) {
		fprintf(out, "\t%s,--%s) return ;;\n", command->name,
			rule->name);
	}
}

static void print_bash(FILE *out)
{
	const struct command *command;

	fputs("# bash completion of regatta\n"
	      "_regatta()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]}\n"
	      "\tlocal prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	      "\tlocal words='' kind='-f'\n\n"
	      "\tif ((COMP_CWORD == 1)); then\n\t\twords='",
	      out);
	for (size_t i = 0; (command = command_at(i)); i++)
		fprintf(out, "%s ", command->name);
	fputs("help --help --version'\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- "
	      "\"$cur\")\n\t\treturn\n\tfi\n"
	      "\tcase ${COMP_WORDS[1]},$prev in\n",
	      out);
	for (size_t i = 0; (command = command_at(i)); i++)
		each_option(out, command, bash_value);
	fputs("\tesac\n"
	      "\tif [[ ! $words && $cur == -* ]]; then\n"
	      "\t\tcase ${COMP_WORDS[1]} in\n",
	      out);
	for (size_t i = 0; (command = command_at(i)); i++) {
		fprintf(out, "\t\t%s) words='", command->name);
		each_option(out, command, bash_name);
		fputs("' ;;\n", out);
	}
	fputs("\t\tesac\n\tfi\n"
	      "\tif [[ $words ]]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- "
	      "\"$cur\")\n"
	      "\telse\n"
	      "\t\tcompopt -o filenames 2>/dev/null\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen \"$kind\" -- \"$cur\")\n"
	      "\tfi\n}\n"
	      "complete -F _regatta regatta\n",
	      out);
}

/* zsh and fish: text in single quotes. */

static void print_quoted(FILE *out, const char *text, const char *escaped)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\'", out);
		else if (strchr(escaped, *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void zsh_option(FILE *out, const struct command *command,
		       const struct option_rule *rule)
{
	fprintf(out, " \\\n\t\t\t'--%s[", rule->name);
	print_quoted(out, rule->help, "[]:\\");
	fputc(']', out);
	if (rule->words) {
		fprintf(out, ":%s:(", rule->value);
		print_words(out, rule->words);
		fputc(')', out);
	} else if (rule->value) {
		fprintf(out, ":%s:%s", rule->value,
			names_folder(rule) ? "_files -/"
			: names_file(rule) ? "_files"
					   : " ");
	}
	fputc('\'', out);
}

static void print_zsh(FILE *out)
{
	const struct command *command;

	fputs("#compdef regatta\n"
	      "_regatta()\n{\n"
	      "\tlocal -a commands=(\n",
	      out);
	for (size_t i = 0; (command = command_at(i)); i++) {
		fprintf(out, "\t\t'%s:", command->name);
		print_quoted(out, command->summary, ":\\");
		fputs("'\n", out);
	}
	fputs("\t)\n\n"
	      "\tif ((CURRENT == 2)); then\n"
	      "\t\t_describe command commands\n\t\treturn\n\tfi\n"
	      "\tcase $words[2] in\n",
	      out);
	for (size_t i = 0; (command = command_at(i)); i++) {
		fprintf(out,
			"\t%s)\n\t\tshift words; ((CURRENT--))\n"
			"\t\t_arguments -S",
			command->name);
		each_option(out, command, zsh_option);
		fputs(" \\\n\t\t\t'*: :_files'\n\t\t;;\n", out);
	}
	fputs("\tesac\n}\n_regatta \"$@\"\n", out);
}

static void fish_option(FILE *out, const struct command *command,
			const struct option_rule *rule)
{
	fprintf(out,
		"complete -c regatta -n '__fish_seen_subcommand_from %s' -l %s",
		command->name, rule->name);
	if (rule->letter)
		fprintf(out, " -s %c", rule->letter);
	if (rule->words) {
		fputs(" -x -a '", out);
		print_words(out, rule->words);
		fputc('\'', out);
	} else if (names_folder(rule)) {
		fputs(" -x -a '(__fish_complete_directories)'", out);
	} else if (rule->value) {
		fputs(names_file(rule) ? " -r" : " -x", out);
	}
	fputs(" -d '", out);
	print_quoted(out, rule->help, "\\");
	fputs("'\n", out);
}

static void print_fish(FILE *out)
{
	const struct command *command;

	fputs("# fish completion of regatta\n", out);
	for (size_t i = 0; (command = command_at(i)); i++) {
		fprintf(out,
			"complete -c regatta -n __fish_use_subcommand -f "
			"-a %s -d '",
			command->name);
		print_quoted(out, command->summary, "\\");
		fputs("'\n", out);
	}
	for (size_t i = 0; (command = command_at(i)); i++)
		each_option(out, command, fish_option);
}

int command_completion(struct cli *cli, struct error *err)
{
	static const struct {
		const char *name;
		void (*print)(FILE *out);
	} shells[] = {
		{ "bash", print_bash },
		{ "zsh", print_zsh },
		{ "fish", print_fish },
	};

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (!strcmp(shells[i].name, cli->args[0])) {
			shells[i].print(cli->out);
			return EXIT_GOOD;
		}
	return error_set(err, EINVAL,
			 "completion: found '%.60s', allowed: bash, zsh, fish",
			 cli->args[0]);
}
