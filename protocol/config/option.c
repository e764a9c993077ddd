/* option.c - options by tables: read from words, printed as help.
 */
#include "protocol/config/option.h"

#include "protocol/base/units.h"
#include "protocol/base/nearest_word.h"
#include "protocol/config/free_space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HELP_LEFT 28 /* column where the words of help begin */
#define HELP_WIDTH 79

struct reader {
	int argc;
	char **argv;
	int next;
	const struct option_tables *tables;
	void *values;
	bool last; /* an OPTION_LAST was read */
};

const struct option_rule *option_next(const struct option_tables *tables,
				      const struct option_rule *rule)
{
	bool found = !rule;

	for (size_t t = 0; t < OPTION_TABLES_MAX; t++)
		for (const struct option_rule *each = tables->list[t];
		     each && each->name; each++) {
			if (found)
				return each;
			found = each == rule;
		}
	return NULL;
}

/* By its name of this length, or by its letter. */
static const struct option_rule *find_rule(const struct reader *reader,
					   const char *name, size_t length,
					   char letter)
{
	const struct option_rule *rule = NULL;

	while ((rule = option_next(reader->tables, rule)))
		if (name ? strlen(rule->name) == length &&
				    !memcmp(rule->name, name, length)
			 : rule->letter == letter)
			break;
	return rule;
}

static int option_refuse_unknown(const struct reader *reader, const char *name,
				 struct error *err)
{
	const char *names[OPTION_RULES_MAX + 1];
	const struct option_rule *rule = NULL;
	const char *near;
	size_t count = 0;

	while ((rule = option_next(reader->tables, rule)) &&
	       count < OPTION_RULES_MAX)
		names[count++] = rule->name;
	names[count] = NULL;
	near = nearest_word(name, names);
	return error_set(err, EINVAL, "unknown option '--%.60s'; %s%s%s", name,
			 near ? "did you mean '--" : "--help lists them",
			 near ? near : "", near ? "'?" : "");
}

static int option_set_number(const struct option_rule *rule, const char *text,
			     uint64_t *to, struct error *err)
{
	char *end = NULL;
	unsigned long long number = 0;

	errno = 0;
	if (text[0] >= '0' && text[0] <= '9')
		number = strtoull(text, &end, 10);
	if (!end || *end || errno || number < rule->min || number > rule->max)
		return error_set(err, EINVAL,
				 "'%.60s' is not valid here; expected %llu to "
				 "%llu",
				 text, (unsigned long long)rule->min,
				 (unsigned long long)rule->max);
	*to = number;
	return 0;
}

static int set_word(const struct option_rule *rule, const char *text,
		    const char **to, struct error *err)
{
	char allowed[120] = "";
	size_t used = 0;

	for (size_t i = 0; rule->words[i]; i++) {
		if (!strcmp(rule->words[i], text)) {
			*to = rule->words[i];
			return 0;
		}
		if (used < sizeof(allowed))
			used += (size_t)snprintf(allowed + used,
						 sizeof(allowed) - used, "%s%s",
						 i ? ", " : "", rule->words[i]);
	}
	return error_set(err, EINVAL, "'%.60s' is not valid here; expected %s",
			 text, allowed);
}

static int set_flag(const char *text, bool *to, struct error *err)
{
	bool value = !strcmp(text, "true");

	if (!value && strcmp(text, "false") != 0)
		return error_set(err, EINVAL,
				 "'%.60s' is not valid here; expected true or "
				 "false",
				 text);
	*to = value;
	return 0;
}

static int option_add_item(const char *text, struct option_list *list,
			   struct error *err)
{
	if (list->count == OPTION_LIST_MAX)
		return error_set(err, EINVAL, "more than the limit of %d",
				 OPTION_LIST_MAX);
	list->items[list->count++] = text;
	return 0;
}

int option_set(const struct option_rule *rule, const char *text, void *values,
	       struct error *err)
{
	char *at = (char *)values + rule->offset;

	switch (rule->kind) {
	case OPTION_FLAG:
	case OPTION_LAST:
		return set_flag(text, (bool *)at, err);
	case OPTION_NUMBER:
		return option_set_number(rule, text, (uint64_t *)at, err);
	case OPTION_SIZE:
		return size_parse(text, rule->min, rule->max, (uint64_t *)at,
				  err);
	case OPTION_FLOOR:
		return free_space_parse(text, (struct free_space *)at, err);
	case OPTION_WORD:
		return set_word(rule, text, (const char **)at, err);
	case OPTION_LIST:
		return option_add_item(text, (struct option_list *)at, err);
	default:
		if (!*text)
			return error_set(err, EINVAL,
					 "missing value (expected %s)",
					 rule->value);
		*(const char **)at = text;
		return 0;
	}
}

/* value: what stood behind `=` or the letter, or NULL. */
static int option_read_value(struct reader *reader,
			     const struct option_rule *rule, const char *value,
			     struct error *err)
{
	if (rule->kind == OPTION_FLAG || rule->kind == OPTION_LAST) {
		if (value)
			return error_set(err, EINVAL, "--%s takes no value",
					 rule->name);
		reader->last = rule->kind == OPTION_LAST;
		return option_set(rule, "true", reader->values, err);
	}
	if (!value && rule->bare)
		value = rule->bare;
	if (!value && reader->next < reader->argc)
		value = reader->argv[reader->next++];
	if (!value)
		return error_set(err, EINVAL, "--%s: missing %s after it",
				 rule->name, rule->value);
	if (option_set(rule, value, reader->values, err) < 0)
		return error_prefix(err, "--%s", rule->name);
	return 0;
}

static int read_long(struct reader *reader, const char *name, struct error *err)
{
	const char *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	const struct option_rule *rule = find_rule(reader, name, length, 0);

	if (!rule)
		return option_refuse_unknown(reader, name, err);
	return option_read_value(reader, rule, equals ? equals + 1 : NULL, err);
}

static int read_letters(struct reader *reader, const char *letters,
			struct error *err)
{
	for (; *letters && !reader->last; letters++) {
		const struct option_rule *rule =
			find_rule(reader, NULL, 0, *letters);
		bool flag = rule && (rule->kind == OPTION_FLAG ||
				     rule->kind == OPTION_LAST);

		if (!rule)
			return error_set(err, EINVAL,
					 "unknown option '-%c'; --help lists "
					 "them",
					 *letters);
		if (option_read_value(reader, rule,
				      !flag && letters[1] ? letters + 1 : NULL,
				      err) < 0)
			return -1;
		if (!flag)
			break;
	}
	return 0;
}

int option_parse(int argc, char **argv, const struct option_tables *tables,
		 void *values, char **args, size_t *count, struct error *err)
{
	struct reader reader = {
		.argc = argc, .argv = argv, .tables = tables, .values = values
	};

	*count = 0;
	while (reader.next < argc && !reader.last) {
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

void words_print(FILE *out, const char *text, int left)
{
	size_t room = (size_t)(HELP_WIDTH - left), column = 0;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column && column + 1 + word > room) {
			fprintf(out, "\n%*s", left, "");
			column = 0;
		}
		fprintf(out, "%s%.*s", column ? " " : "", (int)word, text);
		column += (column ? 1 : 0) + word;
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

void option_print(FILE *out, const struct option_rule *rules)
{
	for (const struct option_rule *rule = rules; rule->name; rule++) {
		char left[60], words[400];
		size_t used = 0;

		if (rule->letter)
			used = (size_t)snprintf(left, sizeof(left), "-%c, ",
						rule->letter);
		snprintf(left + used, sizeof(left) - used, "--%s%s%s%s",
			 rule->name,
			 rule->bare    ? "[="
			 : rule->value ? " "
				       : "",
			 rule->value ? rule->value : "", rule->bare ? "]" : "");
		snprintf(words, sizeof(words), "%s%s%s%s", rule->help,
			 rule->initial ? " (" : "",
			 rule->initial ? rule->initial : "",
			 rule->initial ? ")" : "");
		if (strlen(left) > HELP_LEFT - 4)
			fprintf(out, "  %s\n%*s", left, HELP_LEFT, "");
		else
			fprintf(out, "  %-*s  ", HELP_LEFT - 4, left);
		words_print(out, words, HELP_LEFT);
	}
}
