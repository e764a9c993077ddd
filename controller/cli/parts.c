/* parts.c - commands whose first word says what to do: `node drain`.
 */
#include "controller/cli/parts.h"

#include "protocol/base/word.h"

#include <errno.h>
#include <string.h>

#define PARTS_MAX 16

/* word: NULL, there is none. */
static int unknown_part(const struct command *command, const char *word,
			struct error *err)
{
	const char *names[PARTS_MAX + 1] = { NULL };
	char all[300] = "", what[90] = "missing argument";
	const char *near;
	size_t used = 0;

	for (size_t i = 0; i < PARTS_MAX && command->parts[i].word; i++) {
		names[i] = command->parts[i].word;
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
					 i ? ", " : "", names[i]);
	}
	near = word ? word_nearest(word, names) : NULL;
	if (word)
		snprintf(what, sizeof(what), "'%.60s' is not valid here", word);
	return error_set(err, EINVAL, "%s: %s; expected %s%s%s%s",
			 command->name, what, all,
			 near ? "; did you mean '" : "", near ? near : "",
			 near ? "'?" : "");
}

static int check_count(const struct cli *cli, const struct command *command,
		       const struct command_part *part, struct error *err)
{
	size_t count = cli->arg_count ? cli->arg_count - 1 : 0;

	if (count >= part->min_args && count <= part->max_args)
		return 0;
	return error_set(err, EINVAL, "%s %s: %s; expected regatta %s %s%s%s",
			 command->name, part->word,
			 count < part->min_args ? "missing argument"
						: "too many words",
			 command->name, part->word, part->args ? " " : "",
			 part->args ? part->args : "");
}

static bool has_option(const struct command_part *part, const char *name)
{
	const char *at = part->options ? part->options : "";
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
			 const struct command_part *part, struct error *err)
{
	const struct option_rule *rule = command->rules;

	for (; rule->name; rule++) {
		char owners[120] = "";
		size_t used = 0;

		if (!options_given(rule, cli->options) ||
		    has_option(part, rule->name))
			continue;
		for (const struct command_part *of = command->parts; of->word;
		     of++)
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
					 command->name, part->word, rule->name,
					 owners);
	}
	return 0;
}

int parts_run(struct cli *cli, const struct command *command, struct error *err)
{
	const struct command_part *part = command->parts;

	if (cli->arg_count < command->min_args)
		return unknown_part(command, NULL, err);
	while (cli->arg_count && part->word &&
	       strcmp(part->word, cli->args[0]) != 0)
		part++;
	if (!part->word)
		return unknown_part(command, cli->args[0], err);
	if (check_count(cli, command, part, err) < 0 ||
	    check_options(cli, command, part, err) < 0)
		return -1;
	return part->fn(cli, err);
}
