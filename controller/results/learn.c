/* learn.c - makes log rules from values that a person sees in a log.
 */
#include "controller/results/learn.h"

#include "controller/prefixes/prefixes.h"
#include "protocol/base/printable.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define NAME_MAX_BYTES 32 /* of a group of PCRE2 */
#define LINE_MAX_BYTES 2048
#define BEFORE 24 /* bytes of a line that are kept before its first value */
#define BEHIND 12 /* and after its last one */

struct seen {
	const char *name;
	size_t name_size;
	const char *text;
	size_t size;
	bool learnt;
	const char *at; /* in the current line; NULL: not there */
	size_t length;  /* there: with the zeros in front of it */
};

struct learning {
	struct seen values[LEARN_VALUES_MAX];
	size_t count;
	struct buffer *yaml;
};

static bool is_number_byte(char c)
{
	return isdigit((unsigned char)c) || (c && strchr(".,+-", c));
}

static bool seen_is_whole(const struct seen *value)
{
	return strspn(value->text, "0123456789") == value->size;
}

/* Find the value as a separate number; a whole one may have zeros in front.
 * NULL: none.
 */
static const char *find_value(struct seen *value, const char *line,
			      const char *end)
{
	const char *at = line;

	while ((at = memmem(at, (size_t)(end - at), value->text,
			    value->size))) {
		const char *behind = at + value->size, *from = at;
		bool cut;

		while (seen_is_whole(value) && from > line && from[-1] == '0')
			from--;
		cut = (from > line && is_number_byte(from[-1]) &&
		       from[-1] != ',' && from[-1] != '-') ||
		      (behind < end && isdigit((unsigned char)*behind)) ||
		      (behind + 1 < end && *behind == '.' &&
		       isdigit((unsigned char)behind[1]));
		value->length = (size_t)(behind - from);
		if (!cut)
			return from;
		at++;
	}
	return NULL;
}

/* Find the values that no rule reads yet, each at a place of its own; return
 * their number.
 */
static size_t find_values(struct learning *learning, const char *line,
			  const char *end)
{
	size_t found = 0;

	for (size_t i = 0; i < learning->count; i++) {
		struct seen *value = &learning->values[i];

		value->at = value->learnt ? NULL : find_value(value, line, end);
		for (size_t j = 0; value->at && j < i; j++)
			if (learning->values[j].at == value->at)
				value->at =
					find_value(value, value->at + 1, end);
		found += value->at != NULL;
	}
	return found;
}

/* The first value from `at` on. */
static struct seen *next_value(struct learning *learning, const char *at)
{
	struct seen *next = NULL;

	for (size_t i = 0; i < learning->count; i++) {
		struct seen *value = &learning->values[i];

		if (value->at && value->at >= at &&
		    (!next || value->at < next->at))
			next = value;
	}
	return next;
}

static int put_character(struct buffer *yaml, char c)
{
	if (c == '\'')
		return buffer_text(yaml, "''", NULL);
	if (isalpha((unsigned char)c) || c == '_')
		return buffer_append(yaml, &c, 1, NULL);
	if (strchr("\\^$.|?*+()[]{}", c))
		return buffer_printf(yaml, NULL, "\\%c", c);
	if (isgraph((unsigned char)c))
		return buffer_append(yaml, &c, 1, NULL);
	return buffer_printf(yaml, NULL, "\\x%02x", (unsigned char)c);
}

/* The text between values: any number of blanks, and any numbers. */
static int put_between(struct buffer *yaml, const char *at, const char *end)
{
	int rc = 0;

	while (at < end && rc == 0) {
		const char *from = at;

		while (at < end && (*at == ' ' || *at == '\t'))
			at++;
		if (at > from) {
			rc = buffer_text(yaml, "\\s+", NULL);
			continue;
		}
		while (at < end && (isdigit((unsigned char)*at) ||
				    (at > from && is_number_byte(*at))))
			at++;
		if (at > from) {
			rc = buffer_text(yaml, "[-+\\d.,]+", NULL);
			continue;
		}
		rc = put_character(yaml, *at);
		at++;
	}
	return rc;
}

static int learn_put_value(struct buffer *yaml, const struct seen *value)
{
	const char *form =
		seen_is_whole(value) ? "\\d+"
		: memchr(value->text, ',', value->size)
			? "[-+\\d.,]*\\d"
			: "[-+]?(?:[\\d.]+(?:[eE][-+]?\\d+)?|nan|inf)";

	return buffer_printf(yaml, NULL, "(?<%.*s>%s)", (int)value->name_size,
			     value->name, form);
}

/* Where the rule begins: at a word at most BEFORE bytes before its first value.
 */
static const char *first_word(const char *line, const char *value)
{
	const char *at = value - line > BEFORE ? value - BEFORE : line;
	const char *word;

	for (word = at;
	     word < value && word > line && !isspace((unsigned char)word[-1]);)
		word++;
	while (word < value && isspace((unsigned char)*word))
		word++;
	return word < value ? word : at;
}

static int put_rule(struct learning *learning, const char *line,
		    const char *end)
{
	struct buffer *yaml = learning->yaml;
	struct seen *value = next_value(learning, line);
	const char *at = first_word(line, value->at), *stop;
	char shown[81];
	size_t size;

	while (isspace((unsigned char)*line))
		line++;
	size = (size_t)(end - line);
	size = size < sizeof(shown) ? size : sizeof(shown) - 1;
	memcpy(shown, line, size);
	shown[size] = 0;
	printable(shown, size);
	if (buffer_printf(yaml, NULL, "    # %s\n    - match: '", shown) < 0)
		return -1;
	for (; value; value = next_value(learning, at)) {
		if (put_between(yaml, at, value->at) < 0 ||
		    learn_put_value(yaml, value) < 0)
			return -1;
		at = value->at + value->length;
		value->learnt = true;
	}
	/* Text after the value keeps a cut number from matching. */
	for (stop = at; stop < end && stop - at < BEHIND &&
			!isdigit((unsigned char)*stop);)
		stop++;
	while (stop > at && isspace((unsigned char)stop[-1]))
		stop--;
	if (put_between(yaml, at, stop) < 0)
		return -1;
	return buffer_text(yaml, at == stop ? "(?![\\d.])'\n" : "'\n", NULL);
}

static int learn_read_values(struct learning *learning,
			     const char *const *values, size_t count,
			     struct error *err)
{
	if (count > LEARN_VALUES_MAX)
		return error_set(err, E2BIG, "%zu values; expected at most %d",
				 count, LEARN_VALUES_MAX);
	for (size_t i = 0; i < count; i++) {
		struct seen *value = &learning->values[i];
		const char *is = strchr(values[i], '=');

		value->name = values[i];
		value->name_size = is ? (size_t)(is - values[i]) : 0;
		value->text = is ? is + 1 : "";
		value->size = strlen(value->text);
		for (size_t c = 0; c < value->name_size; c++)
			if (!isalpha((unsigned char)value->name[c]) &&
			    value->name[c] != '_' &&
			    !(c && isdigit((unsigned char)value->name[c])))
				value->name_size = 0;
		if (!value->name_size || value->name_size > NAME_MAX_BYTES ||
		    strcspn(value->text, "0123456789") == value->size)
			return error_set(err, EINVAL,
					 "value %s is not valid here; expected "
					 "NAME=NUMBER as written in the log",
					 values[i]);
	}
	learning->count = count;
	return 0;
}

/* Find the line with most of the remaining values; return how many; 0: none. */
static size_t best_line(struct learning *learning, const char *log, size_t size,
			const char **line, const char **line_end)
{
	const char *end = log + size;
	size_t most = 0;

	while (log < end) {
		const char *stop = log;
		size_t length, found;

		while (stop < end && *stop != '\n' && *stop != '\r')
			stop++;
		length = (size_t)(stop - log);
		found = length <= LINE_MAX_BYTES
				? find_values(learning, log, stop)
				: 0;
		if (found > most) {
			most = found;
			*line = log;
			*line_end = stop;
		}
		log = stop + 1;
	}
	return most;
}

int learn_rules(const char *log, size_t size, const char *const *values,
		size_t count, struct buffer *yaml, struct error *err)
{
	owned(buffer_clear) struct buffer plain = { 0 };
	struct learning learning = { .yaml = yaml };
	const char *line = NULL, *end = NULL;

	buffer_init(&plain, size);
	if (prefixes_remove(log, size, &plain, err) < 0 ||
	    learn_read_values(&learning, values, count, err) < 0)
		return -1;
	if (buffer_text(yaml, "log:\n  rules:\n", err) < 0)
		return -1;
	while (best_line(&learning, plain.data, plain.size, &line, &end)) {
		find_values(&learning, line, end);
		if (put_rule(&learning, line, end) < 0)
			return error_nomem(err, "rules");
	}
	for (size_t i = 0; i < count; i++)
		if (!learning.values[i].learnt)
			return error_set(err, EINVAL,
					 "no line has the value %s", values[i]);
	return 0;
}
