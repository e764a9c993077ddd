/* subcommands.c - commands whose first word says what to do: `node drain`.
 */
#include "controller/cli/subcommands.h"

#include "protocol/base/nearest_word.h"

#include <errno.h>
#include <string.h>

#define SUBCOMMANDS_MAX 16

/* word: NULL, there is none. */
static int unknown_subcommand(const struct command *command, const char *word,
			      struct error *err)
{
	const char *names[SUBCOMMANDS_MAX + 1] = { NULL };
	char all[300] = "", what[90] = "missing argument";
	const char *near;
	size_t used = 0;

	for (size_t i = 0; i < SUBCOMMANDS_MAX && command->subcommands[i].word;
	     i++) {
		names[i] = command->subcommands[i].word;
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
					 i ? ", " : "", names[i]);
	}
	near = word ? nearest_word(word, names) : NULL;
	if (word)
		snprintf(what, sizeof(what), "'%.60s' is not valid here", word);
	return error_set(err, EINVAL, "%s: %s; expected %s%s%s%s",
			 command->name, what, all,
			 near ? "; did you mean '" : "", near ? near : "",
			 near ? "'?" : "");
}

static int check_count(const struct cli *cli, const struct command *command,
		       const struct subcommand *sub, struct error *err)
{
	size_t count = cli->arg_count ? cli->arg_count - 1 : 0;

	if (count >= sub->min_args && count <= sub->max_args)
		return 0;
	return error_set(err, EINVAL, "%s %s: %s; expected regatta %s %s%s%s",
			 command->name, sub->word,
			 count < sub->min_args ? "missing argument"
					       : "too many words",
			 command->name, sub->word, sub->args ? " " : "",
			 sub->args ? sub->args : "");
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

/* Left out in silence, an option of another part would mislead: an image would
 * be removed that was only to be looked at.
 */
static int check_options(const struct cli *cli, const struct command *command,
			 const struct subcommand *sub, struct error *err)
{
	const struct option_rule *rule = command->rules;

	for (; rule->name; rule++) {
		char owners[120] = "";
		size_t used = 0;

		if (!options_given(rule, cli->options) ||
		    has_option(sub, rule->name))
			continue;
		for (const struct subcommand *of = command->subcommands;
		     of->word; of++)
			if (has_option(of, rule->name))
				used += (size_t)snprintf(owners + used,
							 sizeof(owners) - used,
							 "%s%s %s",
							 used ? ", " : "",
							 command->name,
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

int subcommands_run(struct cli *cli, const struct command *command,
		    struct error *err)
{
	const struct subcommand *sub = command->subcommands;

	if (cli->arg_count < command->min_args)
		return unknown_subcommand(command, NULL, err);
	while (cli->arg_count && sub->word &&
	       strcmp(sub->word, cli->args[0]) != 0)
		sub++;
	if (!sub->word)
		return unknown_subcommand(command, cli->args[0], err);
	if (check_count(cli, command, sub, err) < 0 ||
	    check_options(cli, command, sub, err) < 0)
		return -1;
	return sub->fn(cli, err);
}
