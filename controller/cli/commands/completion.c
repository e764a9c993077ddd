/* completion.c - what a shell needs to complete a command line of regatta.
 *
 * The scripts are made from the tables of commands and options, so they know
 * what the program knows.
 */
#include "controller/cli/command.h"
#include "protocol/base/program.h"

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

/* What may follow the name of a command, as its usage shows it. */

static const char *const operand_ends = " |[].=";

/* The words that an operand begins with, "new" and "show" of "new FILE | show
 * FILE", one by one: small letters at the beginning of an alternative. Start
 * with *at at the usage; returns 0 at the end, or the length of the word that
 * *word points to.
 */
static size_t next_verb(const char **at, const char **word)
{
	bool first = true;

	while (**at) {
		size_t n = strcspn(*at, operand_ends);

		if (!n) {
			first = first || **at == '|' || **at == '[';
			(*at)++;
			continue;
		}
		*word = *at;
		*at += n;
		if (first && (*word)[0] >= 'a' && (*word)[0] <= 'z')
			return n;
		first = false;
	}
	return 0;
}

static bool has_verbs(const struct command *command)
{
	const char *at = command->args, *word;

	return next_verb(&at, &word) > 0;
}

static void print_verbs(FILE *out, const struct command *command)
{
	const char *at = command->args, *word;
	const char *space = "";
	size_t n;

	while ((n = next_verb(&at, &word))) {
		fprintf(out, "%s%.*s", space, (int)n, word);
		space = " ";
	}
}

/* Sweeps are files, or numbers that no shell knows. */
static bool takes_files(const struct command *command)
{
	static const char *const names[] = { "FILE", "DIR", "TREE", "SWEEP" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(command->args, names[i]))
			return true;
	return false;
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
	/* Of an optional value no shell knows whether it is one. */
	if (!rule->value || rule->bare)
		return;
	fprintf(out, "\t%s,--%s", command->name, rule->name);
	if (rule->letter)
		fprintf(out, " | %s,-%c", command->name, rule->letter);
	if (rule->words) {
		fputs(") words='", out);
		print_words(out, rule->words);
		fputs("' ;;\n", out);
	} else if (names_folder(rule)) {
		fputs(") kind=-d ;;\n", out);
	} else if (names_file(rule)) {
		fputs(") kind=-f ;;\n", out);
	} else {
		fputs(") return ;;\n", out);
	}
}

static void bash_operands(FILE *out, const struct command *command)
{
	if (!has_verbs(command) && !takes_files(command))
		return;
	fprintf(out, "\t\t%s)", command->name);
	if (takes_files(command))
		fputs(" kind=-f", out);
	if (has_verbs(command)) {
		fprintf(out, "%s ((COMP_CWORD > 2)) || words='",
			takes_files(command) ? ";" : "");
		print_verbs(out, command);
		fputc('\'', out);
	}
	fputs(" ;;\n", out);
}

static void print_bash(FILE *out)
{
	const struct command *command;

	/* bash takes "--name=value" for three words. */
	fputs("# bash completion of regatta\n"
	      "_regatta()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]}\n"
	      "\tlocal prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	      "\tlocal words='' kind=''\n\n"
	      "\tif ((COMP_CWORD == 1)); then\n\t\twords='",
	      out);
	for (size_t i = 0; (command = command_at(i)); i++)
		fprintf(out, "%s ", command->name);
	fputs("help --help --version'\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- "
	      "\"$cur\")\n\t\treturn\n\tfi\n"
	      "\tif [[ $cur == = ]]; then\n\t\tcur=''\n"
	      "\telif [[ $prev == = ]]; then\n"
	      "\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n\tfi\n"
	      "\tcase ${COMP_WORDS[1]},$prev in\n",
	      out);
	for (size_t i = 0; (command = command_at(i)); i++)
		each_option(out, command, bash_value);
	fputs("\tesac\n"
	      "\tif [[ ! $words$kind && $cur == -* ]]; then\n"
	      "\t\tcase ${COMP_WORDS[1]} in\n",
	      out);
	for (size_t i = 0; (command = command_at(i)); i++) {
		fprintf(out, "\t\t%s) words='", command->name);
		each_option(out, command, bash_name);
		fputs("' ;;\n", out);
	}
	fputs("\t\tesac\n"
	      "\telif [[ ! $words$kind ]]; then\n"
	      "\t\tcase ${COMP_WORDS[1]} in\n",
	      out);
	for (size_t i = 0; (command = command_at(i)); i++)
		bash_operands(out, command);
	fputs("\t\tesac\n\tfi\n"
	      "\tif [[ $words ]]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- "
	      "\"$cur\")\n"
	      "\telif [[ $kind ]]; then\n"
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
	const char *joined = rule->bare ? "=-" : rule->value ? "=" : "";

	fputs(" \\\n\t\t\t", out);
	if (rule->letter && rule->kind == OPTION_LIST)
		fprintf(out, "'*'{-%c+,--%s=}'", rule->letter, rule->name);
	else if (rule->letter)
		fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'", rule->letter,
			rule->name, rule->letter, rule->value ? "+" : "",
			rule->name, joined);
	else
		fprintf(out, "'%s--%s%s", rule->kind == OPTION_LIST ? "*" : "",
			rule->name, joined);
	fputc('[', out);
	print_quoted(out, rule->help, "[]:\\");
	fputc(']', out);
	if (rule->words) {
		fprintf(out, ":%s:(", rule->value);
		print_words(out, rule->words);
		fputc(')', out);
	} else if (rule->value) {
		fprintf(out, ":%s%s:%s", rule->bare ? ":" : "", rule->value,
			names_folder(rule) ? "_files -/"
			: names_file(rule) ? "_files"
					   : " ");
	}
	fputc('\'', out);
}

static void zsh_operands(FILE *out, const struct command *command)
{
	if (has_verbs(command)) {
		fputs(" \\\n\t\t\t'1: :(", out);
		print_verbs(out, command);
		fputs(")'", out);
	}
	if (command->max_args)
		fprintf(out, " \\\n\t\t\t'*: :%s'",
			takes_files(command) ? "_files" : " ");
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
		zsh_operands(out, command);
		fputs("\n\t\t;;\n", out);
	}
	/* zsh loads the file when it first needs it, and a person may eval it.
	 */
	fputs("\tesac\n}\n"
	      "if [[ ${funcstack[1]-} == _regatta ]]; then\n"
	      "\t_regatta \"$@\"\nelse\n\tcompdef _regatta regatta\nfi\n",
	      out);
}

static void fish_option(FILE *out, const struct command *command,
			const struct option_rule *rule)
{
	fprintf(out, "complete -c regatta -n '__regatta_is %s' -l %s",
		command->name, rule->name);
	if (rule->letter)
		fprintf(out, " -s %c", rule->letter);
	if (rule->words) {
		fputs(" -x -a '", out);
		print_words(out, rule->words);
		fputc('\'', out);
	} else if (names_folder(rule)) {
		fputs(" -x -a '(__fish_complete_directories)'", out);
	} else if (rule->value && !rule->bare) {
		fputs(names_file(rule) ? " -r" : " -x", out);
	}
	fputs(" -d '", out);
	print_quoted(out, rule->help, "\\");
	fputs("'\n", out);
}

static void fish_operands(FILE *out, const struct command *command)
{
	if (has_verbs(command)) {
		fprintf(out,
			"complete -c regatta -n '__regatta_is %s 2' -f -a '",
			command->name);
		print_verbs(out, command);
		fputs("'\n", out);
	}
	if (!takes_files(command))
		fprintf(out, "complete -c regatta -n '__regatta_is %s' -f\n",
			command->name);
}

static void print_fish(FILE *out)
{
	const struct command *command;

	/* Not fish's own function, which finds a command's name anywhere. */
	fputs("# fish completion of regatta\n"
	      "function __regatta_is\n"
	      "\tset -l words (commandline -opc)\n"
	      "\ttest \"$words[2]\" = \"$argv[1]\"; or return\n"
	      "\ttest -z \"$argv[2]\" -o \"$argv[2]\" = (count $words)\n"
	      "end\n"
	      "complete -c regatta -n '__regatta_is \"\"' -f\n",
	      out);
	for (size_t i = 0; (command = command_at(i)); i++) {
		fprintf(out,
			"complete -c regatta -n '__regatta_is \"\"' -a %s -d '",
			command->name);
		print_quoted(out, command->summary, "\\");
		fputs("'\n", out);
	}
	for (size_t i = 0; (command = command_at(i)); i++) {
		each_option(out, command, fish_option);
		fish_operands(out, command);
	}
}

static int run_command(struct cli *cli, struct error *err)
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
			 "completion: '%.60s' is not valid here; expected "
			 "bash, zsh, fish",
			 cli->args[0]);
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ 0 },
};

const struct command command_completion = {
	.name = "completion",
	.args = "bash | zsh | fish",
	.min_args = 1,
	.max_args = 1,
	.rules = rules,
	.summary = "print what a shell needs to complete command lines",
	.help =
		"Packages install it where the shell looks for it. Needs no "
		"controller.",
	.example = "eval \"$(regatta completion bash)\"",
	.fn = run_command,
};
/* clang-format on */
