/* dockerfile.c - which images a Dockerfile is built from. Pure.
 */
#include "protocol/registry/dockerfile.h"

#include "protocol/base/buffer.h"
#include "protocol/base/file.h"
#include "protocol/registry/reference.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 65536
#define SPACE " \t\r\v\f"
#define NAME                                                                   \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"                 \
	"0123456789_"

struct reading {
	char escape;
	bool directives;     /* comments may still be some */
	bool staged;         /* a FROM was read */
	struct buffer line;  /* continued lines as one */
	struct strings args; /* NAME=DEFAULT */
	struct strings stages;
	struct strings *bases;
	struct error *err;
};

static void reading_clear(struct reading *reading)
{
	buffer_clear(&reading->line);
	strings_clear(&reading->args);
	strings_clear(&reading->stages);
}
OWNED_VALUE(struct reading, reading_clear)

/* A few names, each once. */
static int keep(struct reading *reading, struct strings *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i], name))
			return 0;
	if (list->count == DOCKERFILE_NAMES_MAX)
		return error_set(reading->err, E2BIG,
				 "more than %d stages, ARGs or "
				 "base images",
				 DOCKERFILE_NAMES_MAX);
	return strings_add(list, name, reading->err);
}

/* ARGs. */

static const char *arg_value(const struct reading *reading, const char *name,
			     size_t size)
{
	/* The last one counts. */
	for (size_t i = reading->args.count; i-- > 0;) {
		const char *item = reading->args.items[i];

		if (!strncmp(item, name, size) && item[size] == '=')
			return item + size + 1;
	}
	return NULL;
}

/* "NAME}", "NAME:-word}" or "NAME:+word}" behind "${". */
static bool fill_braced(const struct reading *reading, const char **at,
			struct buffer *out)
{
	size_t size = strspn(*at, NAME);
	const char *value = arg_value(reading, *at, size);
	const char *behind = *at + size;
	const char *end = strchr(behind, '}');
	bool other = behind[0] == ':' && (behind[1] == '-' || behind[1] == '+');
	bool set = value && *value;

	if (!size || !end || (!other && behind != end))
		return false;
	*at = end + 1;
	if (!other)
		return value && buffer_text(out, value, NULL) == 0;
	if (set == (behind[1] == '-'))
		return !set || buffer_text(out, value, NULL) == 0;
	return buffer_append(out, behind + 2, (size_t)(end - behind - 2),
			     NULL) == 0;
}

/* false: something in it is not known here. */
static bool fill(const struct reading *reading, const char *word,
		 struct buffer *out)
{
	while (*word) {
		size_t plain = strcspn(word, "$");
		const char *value;

		if (buffer_append(out, word, plain, NULL) < 0)
			return false;
		word += plain;
		if (!*word)
			break;
		word++;
		if (*word == '{') {
			word++;
			if (!fill_braced(reading, &word, out))
				return false;
			continue;
		}
		plain = strspn(word, NAME);
		value = arg_value(reading, word, plain);
		if (!plain || !value || buffer_text(out, value, NULL) < 0)
			return false;
		word += plain;
	}
	return true;
}

/* Words of a line, cut out in place; NULL: no more. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, SPACE);
	size_t size = strcspn(word, SPACE);

	if (!size)
		return NULL;
	*at = word + size;
	if (**at)
		*(*at)++ = 0;
	return word;
}

/* NAME=DEFAULT; the default may be made of those before. */
static int keep_arg(struct reading *reading, char *word)
{
	owned(buffer_clear) struct buffer line;
	char *value = strchr(word, '=') + 1;
	size_t size = strlen(value);

	if (size > 1 && (*value == '"' || *value == '\'') &&
	    value[size - 1] == *value) {
		value[size - 1] = 0;
		memmove(value, value + 1, size - 1);
	}
	buffer_init(&line, LINE_MAX_BYTES);
	return fill(reading, word, &line)
		       ? keep(reading, &reading->args, line.data)
		       : 0;
}

static int read_arg(struct reading *reading, char *words)
{
	char *word;

	while (!reading->staged && (word = next_word(&words)))
		if (strchr(word, '=') && keep_arg(reading, word) < 0)
			return -1;
	return 0;
}

/* Images. */

static bool is_stage(const struct reading *reading, const char *name)
{
	for (size_t i = 0; i < reading->stages.count; i++)
		if (!strcasecmp(reading->stages.items[i], name))
			return true;
	return false;
}

static int keep_base(struct reading *reading, const char *word)
{
	owned(buffer_clear) struct buffer name;
	struct reference parts;

	buffer_init(&name, REFERENCE_MAX);
	if (!fill(reading, word, &name) || !name.size ||
	    !strcasecmp(name.data, "scratch") || is_stage(reading, name.data) ||
	    reference_parse(name.data, &parts, NULL) < 0)
		return 0;
	return keep(reading, reading->bases, name.data);
}

/* [--platform=X] IMAGE [AS STAGE] */
static int read_from(struct reading *reading, char *words)
{
	char *word = next_word(&words);

	while (word && !strncmp(word, "--", 2))
		word = next_word(&words);
	reading->staged = true;
	if (!word)
		return 0;
	if (keep_base(reading, word) < 0)
		return -1;
	word = next_word(&words);
	if (word && !strcasecmp(word, "AS"))
		word = next_word(&words);
	return word ? keep(reading, &reading->stages, word) : 0;
}

/* [--from=IMAGE] ...; a number is a stage. */
static int read_copy(struct reading *reading, char *words)
{
	char *word;

	while ((word = next_word(&words)) && !strncmp(word, "--", 2))
		if (!strncmp(word, "--from=", 7) &&
		    word[7 + strspn(word + 7, "0123456789")] &&
		    keep_base(reading, word + 7) < 0)
			return -1;
	return 0;
}

/* Lines. */

static int read_instruction(struct reading *reading)
{
	static const struct {
		const char *name;
		int (*fn)(struct reading *reading, char *words);
	} table[] = {
		{ "ARG", read_arg },
		{ "FROM", read_from },
		{ "COPY", read_copy },
	};
	char *words = reading->line.size ? reading->line.data : NULL;
	char *word = words ? next_word(&words) : NULL;

	for (size_t i = 0; word && i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcasecmp(word, table[i].name))
			return table[i].fn(reading, words);
	return 0;
}

/* "# escape=`", only in front of all else. */
static void read_directive(struct reading *reading, const char *line)
{
	line += 1 + strspn(line + 1, SPACE);
	if (strncasecmp(line, "escape", 6) != 0)
		return;
	line += 6 + strspn(line + 6, SPACE);
	if (*line != '=')
		return;
	line += 1 + strspn(line + 1, SPACE);
	if (*line == '`' || *line == '\\')
		reading->escape = *line;
}

static int read_line(struct reading *reading, char *line)
{
	size_t size = strlen(line);
	char *begin = line + strspn(line, SPACE);
	int rc;

	if (*begin == '#') {
		if (reading->directives)
			read_directive(reading, begin);
		return 0;
	}
	reading->directives = false;
	if (!*begin)
		return 0; /* also between continued lines */
	while (size && strchr(SPACE, line[size - 1]))
		size--;
	if (size && line[size - 1] == reading->escape)
		return buffer_append(&reading->line, line, size - 1,
				     reading->err);
	if (buffer_append(&reading->line, line, size, reading->err) < 0)
		return -1;
	rc = read_instruction(reading);
	buffer_clear(&reading->line);
	return rc;
}

int dockerfile_bases(const char *text, size_t size, struct strings *bases,
		     struct error *err)
{
	owned(reading_clear) struct reading reading = {
		.escape = '\\',
		.directives = true,
		.bases = bases,
		.err = err,
	};
	owned_free char *copy = NULL;
	char *at, *line;

	buffer_init(&reading.line, LINE_MAX_BYTES);
	if (size > DOCKERFILE_BYTES_MAX)
		return error_set(err, E2BIG,
				 "Dockerfile: %zu bytes; expected at most %d",
				 size, DOCKERFILE_BYTES_MAX);
	/* A NUL ends it, as no reference has one. */
	copy = strndup(text, size);
	if (!copy)
		return error_nomem(err, "Dockerfile");
	at = copy;
	while ((line = strsep(&at, "\n")))
		if (read_line(&reading, line) < 0)
			return error_prefix(err, "Dockerfile");
	return read_instruction(&reading) < 0 ? error_prefix(err, "Dockerfile")
					      : 0;
}

int dockerfile_read(const char *folder, struct strings *bases,
		    struct error *err)
{
	owned(buffer_clear) struct buffer text;
	owned_free char *path = NULL;

	buffer_init(&text, DOCKERFILE_BYTES_MAX);
	if (asprintf(&path, "%s/Dockerfile", folder) < 0) {
		path = NULL;
		return error_nomem(err, "Dockerfile");
	}
	if (file_read(AT_FDCWD, path, &text, err) < 0)
		return -1;
	return dockerfile_bases(text.size ? text.data : "", text.size, bases,
				err);
}
