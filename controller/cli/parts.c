/* parts.c - commands whose first word says what to do: `node drain`.
 */
#include "controller/cli/parts.h"

#include "protocol/yaml/value.h"

#include <errno.h>
#include <string.h>

#define PARTS_MAX 16

static int unknown_part(const struct command *command, const char *word,
			struct error *err)
{
	const char *names[PARTS_MAX + 1] = { NULL };
	char all[300] = "";
	const char *near;
	size_t used = 0;

	for (size_t i = 0; i < PARTS_MAX && command->parts[i].word; i++) {
		names[i] = command->parts[i].word;
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
					 i ? ", " : "", names[i]);
	}
	near = word_nearest(word, names);
	return error_set(err, EINVAL,
			 "%s: '%.60s' is not valid here; expected %s%s%s%s",
			 command->name, word, all,
			 near ? "; did you mean '" : "", near ? near : "",
			 near ? "'?" : "");
}

/* Its form in the usage: "drain NODE". */
static void form_of(const struct command *command, const char *word, char *form,
		    size_t size)
{
	const char *at = command->args, *end = at;
	size_t length = strlen(word);

	snprintf(form, size, "%s", word);
	for (; end; at = end + 3) {
		end = strstr(at, " | ");
		if (strncmp(at, word, length) != 0 || at[length] != ' ')
			continue;
		snprintf(form, size, "%.*s",
			 (int)(end ? (size_t)(end - at) : strlen(at)), at);
		return;
	}
}

static int check_count(const struct cli *cli, const struct command *command,
		       const struct command_part *part, struct error *err)
{
	size_t count = cli->arg_count ? cli->arg_count - 1 : 0;
	char form[120];

	if (count >= part->min_args && count <= part->max_args)
		return 0;
	form_of(command, part->word, form, sizeof(form));
	return error_set(err, EINVAL, "%s %s: %s; expected regatta %s %s",
			 command->name, part->word,
			 count < part->min_args ? "missing argument"
						: "too many words",
			 command->name, form);
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
