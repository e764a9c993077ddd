/* options.c - the words of a command line to checked values, by tables.
 */
#include "controller/cli/options.h"
#include "protocol/value.h"

#include <errno.h>
#include <string.h>

#define RULES_MAX 64 /* of one command */

/* clang-format off */
static const struct option_rule always[] = {
	{ .name = "help", .letter = 'h', .kind = OPTION_FLAG,
	  .offset = offsetof(struct options, help), .help = "show this" },
	{ .name = "version", .letter = 'V', .kind = OPTION_FLAG,
	  .offset = offsetof(struct options, version),
	  .help = "show the version" },
	{ 0 },
};
/* clang-format on */

struct reader {
	int argc;
	char **argv;
	int next;
	const struct option_rule *tables[3];
	struct options *options;
};

void options_init(struct options *options)
{
	*options = (struct options){
		.sequence = OPTION_NONE,
		.sweep = OPTION_NONE,
		.rank = OPTION_NONE,
		.tail = OPTION_NONE,
		.attempt = OPTION_NONE,
		.devices = OPTION_NONE,
		.from_step = OPTION_NONE,
	};
}

static const struct option_rule *rule_named(const struct reader *reader,
					    const char *name, size_t length)
{
	for (size_t t = 0; t < 3; t++)
		for (const struct option_rule *rule = reader->tables[t];
		     rule && rule->name; rule++)
			if (strlen(rule->name) == length &&
			    !memcmp(rule->name, name, length))
				return rule;
	return NULL;
}

static const struct option_rule *rule_lettered(const struct reader *reader,
					       char letter)
{
	for (size_t t = 0; t < 3; t++)
		for (const struct option_rule *rule = reader->tables[t];
		     rule && rule->name; rule++)
			if (rule->letter && rule->letter == letter)
				return rule;
	return NULL;
}

static int unknown(const struct reader *reader, const char *name,
		   struct error *err)
{
	const char *names[RULES_MAX + 1];
	const char *near;
	size_t count = 0;

	for (size_t t = 0; t < 3; t++)
		for (const struct option_rule *rule = reader->tables[t];
		     rule && rule->name && count < RULES_MAX; rule++)
			names[count++] = rule->name;
	names[count] = NULL;
	near = word_nearest(name, names);
	return error_set(err, EINVAL, "unknown option '--%.60s'%s%s%s", name,
			 near ? "; did you mean '--" : "", near ? near : "",
			 near ? "'?" : "");
}

static int set_number(const struct option_rule *rule, const char *value,
		      uint64_t *to, struct error *err)
{
	char *end = NULL;
	unsigned long long number = 0;

	errno = 0;
	if (value[0] >= '0' && value[0] <= '9')
		number = strtoull(value, &end, 10);
	if (!end || *end || errno || number < rule->min || number > rule->max)
		return error_set(err, EINVAL,
				 "--%s: found '%.60s', allowed is %llu to %llu",
				 rule->name, value,
				 (unsigned long long)rule->min,
				 (unsigned long long)rule->max);
	*to = number;
	return 0;
}

static int set_word(const struct option_rule *rule, const char *value,
		    const char **to, struct error *err)
{
	char allowed[120] = "";
	size_t used = 0;

	for (size_t i = 0; rule->words[i]; i++) {
		if (!strcmp(rule->words[i], value)) {
			*to = rule->words[i];
			return 0;
		}
		if (used < sizeof(allowed))
			used += (size_t)snprintf(allowed + used,
						 sizeof(allowed) - used, "%s%s",
						 i ? ", " : "", rule->words[i]);
	}
	return error_set(err, EINVAL, "--%s: found '%.60s', allowed: %s",
			 rule->name, value, allowed);
}

/* value: what stood behind `=` or the letter, or NULL. */
static int set_option(struct reader *reader, const struct option_rule *rule,
		      const char *value, struct error *err)
{
	char *at = (char *)reader->options + rule->offset;

	if (rule->kind == OPTION_FLAG) {
		if (value)
			return error_set(err, EINVAL, "--%s takes no value",
					 rule->name);
		*(bool *)at = true;
		return 0;
	}
	if (!value && reader->next < reader->argc)
		value = reader->argv[reader->next++];
	if (!value)
		return error_set(err, EINVAL, "--%s: missing %s behind it",
				 rule->name, rule->value);
	switch (rule->kind) {
	case OPTION_NUMBER:
		return set_number(rule, value, (uint64_t *)at, err);
	case OPTION_WORD:
		return set_word(rule, value, (const char **)at, err);
	default:
		if (!*value)
			return error_set(err, EINVAL,
					 "--%s: found nothing, allowed is %s",
					 rule->name, rule->value);
		*(const char **)at = value;
		return 0;
	}
}

static int read_long(struct reader *reader, const char *name, struct error *err)
{
	const char *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	const struct option_rule *rule = rule_named(reader, name, length);

	if (!rule)
		return unknown(reader, name, err);
	return set_option(reader, rule, equals ? equals + 1 : NULL, err);
}

static int read_letters(struct reader *reader, const char *letters,
			struct error *err)
{
	for (; *letters; letters++) {
		const struct option_rule *rule =
			rule_lettered(reader, *letters);
		bool flag = rule && rule->kind == OPTION_FLAG;

		if (!rule)
			return error_set(err, EINVAL, "unknown option '-%c'",
					 *letters);
		if (set_option(reader, rule,
			       !flag && letters[1] ? letters + 1 : NULL,
			       err) < 0)
			return -1;
		if (!flag)
			break;
	}
	return 0;
}

int options_parse(int argc, char **argv, const struct option_rule *rules,
		  const struct option_rule *more, struct options *options,
		  char **args, size_t *count, struct error *err)
{
	struct reader reader = {
		argc, argv, 0, { rules, more, always }, options
	};

	*count = 0;
	while (reader.next < argc && !options->help && !options->version) {
		char *word = argv[reader.next++];
		int rc = 0;

		if (!strcmp(word, "--")) {
			while (reader.next < argc)
				args[(*count)++] = argv[reader.next++];
			break;
		}
		if (word[0] == '-' && word[1] == '-')
			rc = read_long(&reader, word + 2, err);
		else if (word[0] == '-' && word[1])
			rc = read_letters(&reader, word + 1, err);
		else
			args[(*count)++] = word;
		if (rc < 0)
			return -1;
	}
	return 0;
}

void options_print(FILE *out, const struct option_rule *rules)
{
	for (const struct option_rule *rule = rules; rule->name; rule++) {
		char left[60];
		size_t used = 0;

		if (rule->letter)
			used = (size_t)snprintf(left, sizeof(left), "-%c, ",
						rule->letter);
		snprintf(left + used, sizeof(left) - used, "--%s%s%s",
			 rule->name, rule->value ? " " : "",
			 rule->value ? rule->value : "");
		if (strlen(left) > 24)
			fprintf(out, "  %s\n  %-24s  %s\n", left, "",
				rule->help);
		else
			fprintf(out, "  %-24s  %s\n", left, rule->help);
	}
}
