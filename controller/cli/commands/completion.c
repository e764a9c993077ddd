/* completion.c - completion: prints what a shell needs to complete a command
 * line.
 *
 * The scripts ask this program (`regatta completion words -- WORD...`) for the
 * words that may replace the last one. It prints lines of a word, a tab and its
 * meaning; or FILES or FOLDERS.
 */
#include "controller/cli/command.h"
#include "protocol/base/program.h"

#include <errno.h>
#include <string.h>

#define FILES ":files\n"
#define FOLDERS ":directories\n"

/* bash splits "--name=value" into three words. */
static const char bash_script[] =
	"# bash completion of regatta\n"
	"_regatta()\n{\n"
	"\tlocal IFS=$'\\n' cur=${COMP_WORDS[COMP_CWORD]} lines\n\n"
	"\tmapfile -t lines < <(regatta completion words -- "
	"\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
	"\t[[ $cur == = ]] && cur=\n"
	"\tcase ${lines[0]-} in\n"
	"\t:files | :directories)\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -\"${lines[0]:1:1}\" -- "
	"\"$cur\") ;;\n"
	"\t*)\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W "
	"\"${lines[*]%%$'\\t'*}\" -- \"$cur\") ;;\n"
	"\tesac\n}\n"
	"complete -F _regatta regatta\n";

/* zsh loads the file at its first use; a user may also eval it. */
static const char zsh_script[] =
	"#compdef regatta\n"
	"_regatta()\n{\n"
	"\tlocal line\n"
	"\tlocal -a lines known\n\n"
	"\tlines=(${(f)\"$(regatta completion words -- "
	"\"${(@Q)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
	"\tcase ${lines[1]-} in\n"
	"\t:files) compset -P '--*='; _files ;;\n"
	"\t:directories) compset -P '--*='; _files -/ ;;\n"
	"\t*)\n"
	"\t\tfor line in $lines; do\n"
	"\t\t\tknown+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
	"\t\tdone\n"
	"\t\t_describe regatta known ;;\n"
	"\tesac\n}\n"
	"if [[ ${funcstack[1]-} == _regatta ]]; then\n"
	"\t_regatta \"$@\"\nelse\n\tcompdef _regatta regatta\nfi\n";

static const char fish_script[] =
	"# fish completion of regatta\n"
	"function __regatta_words\n"
	"\tset -l token (commandline -ct)\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l lines (regatta completion words -- $words[2..-1] \"$token\" "
	"2>/dev/null)\n"
	"\tswitch \"$lines[1]\"\n"
	"\t\tcase :files\n"
	"\t\t\t__fish_complete_path \"$token\"\n"
	"\t\tcase :directories\n"
	"\t\t\t__fish_complete_directories \"$token\"\n"
	"\t\tcase '*'\n"
	"\t\t\tprintf '%s\\n' $lines\n"
	"\tend\nend\n"
	"complete -c regatta -f -a '(__regatta_words)'\n";

static const struct {
	const char *name, *script;
} shells[] = {
	{ "bash", bash_script },
	{ "zsh", zsh_script },
	{ "fish", fish_script },
};

static const char *const operand_ends = " |[].=";

/* The words that an operand begins with, "new" and "show" of "new FILE | show
 * FILE": small letters at the beginning of an alternative. Returns how many.
 */
static size_t print_verbs(FILE *out, const struct command *command)
{
	const struct subcommand *sub = command->subcommands;
	const char *at = sub || !command->args ? "" : command->args;
	bool first = true;
	size_t count = 0;

	for (; sub && sub->word; sub++, count++)
		fprintf(out, "%s\t%s\n", sub->word, sub->summary);
	while (*at) {
		size_t n = strcspn(at, operand_ends);

		if (!n) {
			first = first || *at == '|' || *at == '[';
			at++;
			continue;
		}
		if (first && *at >= 'a' && *at <= 'z') {
			fprintf(out, "%.*s\t%s\n", (int)n, at,
				command->summary);
			count++;
		}
		first = false;
		at += n;
	}
	return count;
}

/* Do the arguments include files? A sweep may be one. */
static bool takes_files(const char *args)
{
	static const char *const names[] = { "FILE", "DIR", "TREE", "SWEEP" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (args && strstr(args, names[i]))
			return true;
	return false;
}

/* The arguments in the usage of the command, or of its subcommand. */
static const char *args_of(const struct command *command, const char *word)
{
	const struct subcommand *sub = command->subcommands;

	while (sub && sub->word && strcmp(sub->word, word) != 0)
		sub++;
	return sub ? sub->args : command->args;
}

static void completion_print_commands(FILE *out)
{
	const struct command *command;

	for (size_t i = 0; (command = command_at(i)); i++)
		fprintf(out, "%s\t%s\n", command->name, command->summary);
	fputs("help\tshow what a command does\n--help\tlist the commands\n"
	      "--version\tshow the version\n",
	      out);
}

static void print_options(FILE *out, const struct option_tables *tables)
{
	const struct option_rule *rule = NULL;

	while ((rule = option_next(tables, rule))) {
		fprintf(out, "--%s\t%s\n", rule->name, rule->help);
		if (rule->letter)
			fprintf(out, "-%c\t%s\n", rule->letter, rule->help);
	}
}

/* The option that a word names; NULL: none. */
static const struct option_rule *
option_named(const struct option_tables *tables, const char *word)
{
	const struct option_rule *rule = NULL;

	while (*word == '-' && (rule = option_next(tables, rule)))
		if (!strncmp(word, "--", 2)
			    ? !strcmp(word + 2, rule->name)
			    : rule->letter == word[1] && !word[2])
			return rule;
	return NULL;
}

/* prefix: the part of the word before the value. */
static void print_values(FILE *out, const struct option_rule *rule,
			 const char *prefix)
{
	const char *value = rule->value ? rule->value : "";

	for (size_t i = 0; rule->words && rule->words[i]; i++)
		fprintf(out, "%s%s\t%s\n", prefix, rule->words[i], rule->help);
	if (!strcmp(value, "FILE") || !strcmp(value, "KEY"))
		fputs(FILES, out);
	else if (!strcmp(value, "DIR"))
		fputs(FOLDERS, out);
}

/* words: those behind "regatta"; the last one is completed. */
static void print_words(FILE *out, char *const *words, size_t count)
{
	const struct command *command =
		count > 1 ? command_find(words[0]) : NULL;
	const char *last = count ? words[count - 1] : "";
	const char *before = count > 2 ? words[count - 2] : "";
	const char *equals = strchr(last, '=');
	char name[100] = "", prefix[100] = "";
	const struct option_rule *rule;
	struct option_tables tables;

	if (count < 2)
		completion_print_commands(out);
	if (!command)
		return;
	tables = command_options(command);
	if (!strcmp(before, "=") && count > 3)
		before = words[count - 3];
	if (!strncmp(last, "--", 2) && equals) {
		snprintf(name, sizeof(name), "%.*s", (int)(equals - last),
			 last);
		snprintf(prefix, sizeof(prefix), "%.*s=", (int)(equals - last),
			 last);
		before = name;
	}
	rule = option_named(&tables, before);
	if (rule && rule->value && (*prefix || !rule->bare))
		print_values(out, rule, prefix);
	else if (*last == '-')
		print_options(out, &tables);
	else if ((count > 2 || !print_verbs(out, command)) &&
		 takes_files(args_of(command, words[1])))
		fputs(FILES, out);
}

static int completion_command(struct cli *cli, struct error *err)
{
	const char *what = cli->args[0];

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (!strcmp(shells[i].name, what) && cli->arg_count == 1) {
			fputs(shells[i].script, cli->out);
			return EXIT_GOOD;
		}
	if (!strcmp(what, "words")) {
		print_words(cli->out, cli->args + 1, cli->arg_count - 1);
		return EXIT_GOOD;
	}
	return error_set(err, EINVAL,
			 "completion: '%.60s' is not valid here; expected "
			 "bash, zsh, fish",
			 cli->args[cli->arg_count - 1]);
}

/* clang-format off */
const struct command command_completion = {
	.name = "completion",
	.args = "bash | zsh | fish",
	.min_args = 1,
	.max_args = COMMAND_ARGS_MAX,
	.summary = "print a shell completion script",
	.help =
		"Packages install this script for all users. Needs no "
		  "controller.",
	.example = "eval \"$(regatta completion bash)\"",
	.fn = completion_command,
};
/* clang-format on */
