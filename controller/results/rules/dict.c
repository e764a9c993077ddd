/* dict.c - parses a JSON object or the repr() of a Python dict.
 */
#include "controller/results/rules/dict.h"

#include <stdio.h>
#include <string.h>

struct reader {
	const char *at;
	const char *end;
	char path[DICT_PATH_MAX + 1];
	size_t path_size; /* DICT_PATH_MAX + 1: too long */
	int depth;
	dict_value_fn *fn;
	void *arg;
};

static bool dict_read_value(struct reader *reader);

static void skip_blanks(struct reader *reader)
{
	while (reader->at < reader->end &&
	       (*reader->at == ' ' || *reader->at == '\t'))
		reader->at++;
}

static bool take_char(struct reader *reader, char c)
{
	skip_blanks(reader);
	if (reader->at == reader->end || *reader->at != c)
		return false;
	reader->at++;
	return true;
}

/* Lengthen the path by ".key"; returns its former size. */
static size_t path_enter(struct reader *reader, const char *key, size_t size)
{
	size_t before = reader->path_size;
	size_t dot = before ? 1 : 0;

	if (before > DICT_PATH_MAX || size > DICT_PATH_MAX - before ||
	    dot > DICT_PATH_MAX - before - size) {
		reader->path_size = DICT_PATH_MAX + 1;
		return before;
	}
	if (dot)
		reader->path[before] = '.';
	memcpy(reader->path + before + dot, key, size);
	reader->path_size = before + dot + size;
	reader->path[reader->path_size] = 0;
	return before;
}

static void path_leave(struct reader *reader, size_t before)
{
	reader->path_size = before;
	if (before <= DICT_PATH_MAX)
		reader->path[before] = 0;
}

static void deliver(struct reader *reader, const char *text, size_t size,
		    bool quoted)
{
	if (reader->path_size <= DICT_PATH_MAX)
		reader->fn(reader->path, text, size, quoted, reader->arg);
}

/* The string whose quote stands at the reader. */
static bool dict_read_string(struct reader *reader, const char **text,
			     size_t *size)
{
	char quote = *reader->at++;

	*text = reader->at;
	while (reader->at < reader->end) {
		if (*reader->at == quote) {
			*size = (size_t)(reader->at++ - *text);
			return true;
		}
		if (*reader->at == '\\' && reader->at + 1 < reader->end)
			reader->at++;
		reader->at++;
	}
	return false;
}

/* A bare word, up to the comma or brace that ends it. Brackets and the text in
 * them are part of it.
 */
static bool dict_read_word(struct reader *reader)
{
	const char *from = reader->at;
	const char *to;
	int depth = 0;

	while (reader->at < reader->end) {
		char c = *reader->at;
		const char *text;
		size_t size;

		if (!depth && (c == ',' || c == '}' || c == ']' || c == ')'))
			break;
		if (c == '{')
			return false; /* not a bare word */
		if (depth && (c == '\'' || c == '"')) {
			if (!dict_read_string(reader, &text, &size))
				return false;
			continue;
		}
		if (c == '(' || c == '[')
			depth++;
		else if (c == ')' || c == ']')
			depth--;
		reader->at++;
	}
	to = reader->at;
	while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
		to--;
	if (to == from || reader->at == reader->end)
		return false;
	deliver(reader, from, (size_t)(to - from), false);
	return true;
}

static bool dict_read_list(struct reader *reader, char close)
{
	reader->at++;
	if (take_char(reader, close))
		return true;
	for (unsigned i = 0;; i++) {
		char index[16];
		int size = snprintf(index, sizeof(index), "%u", i);
		size_t before = path_enter(reader, index, (size_t)size);

		if (!dict_read_value(reader))
			return false;
		path_leave(reader, before);
		if (take_char(reader, close))
			return true;
		if (!take_char(reader, ','))
			return false;
		/* A tuple of one. */
		if (take_char(reader, close))
			return true;
	}
}

static bool dict_read_map(struct reader *reader)
{
	reader->at++;
	if (take_char(reader, '}'))
		return true;
	for (;;) {
		const char *key;
		size_t size, before;

		skip_blanks(reader);
		if (reader->at == reader->end ||
		    (*reader->at != '"' && *reader->at != '\'') ||
		    !dict_read_string(reader, &key, &size) ||
		    !take_char(reader, ':'))
			return false;
		before = path_enter(reader, key, size);
		if (!dict_read_value(reader))
			return false;
		path_leave(reader, before);
		if (take_char(reader, '}'))
			return true;
		if (!take_char(reader, ','))
			return false;
	}
}

static bool dict_read_value(struct reader *reader)
{
	const char *text;
	size_t size;
	bool good;

	skip_blanks(reader);
	if (reader->at == reader->end || reader->depth == DICT_DEPTH_MAX)
		return false;
	if (*reader->at == '"' || *reader->at == '\'') {
		if (!dict_read_string(reader, &text, &size))
			return false;
		deliver(reader, text, size, true);
		return true;
	}
	reader->depth++;
	if (*reader->at == '{')
		good = dict_read_map(reader);
	else if (*reader->at == '[')
		good = dict_read_list(reader, ']');
	else if (*reader->at == '(')
		good = dict_read_list(reader, ')');
	else
		good = dict_read_word(reader);
	reader->depth--;
	return good;
}

size_t dict_read(const char *text, size_t size, dict_value_fn *fn, void *arg)
{
	struct reader reader = {
		.at = text, .end = text + size, .fn = fn, .arg = arg
	};

	if (!size || *text != '{' || !dict_read_map(&reader))
		return 0;
	return (size_t)(reader.at - text);
}

bool dict_begins(const char *text, size_t size)
{
	size_t i = 1;

	while (i < size && (text[i] == ' ' || text[i] == '\t'))
		i++;
	return i < size && (text[i] == '"' || text[i] == '\'');
}

bool dict_begins_members(const char *text, size_t size)
{
	const char *colon;

	if (size < 3 || memchr(text, '}', size))
		return false;
	if (*text == '{')
		return dict_begins(text, size);
	colon = *text == '"' ? memmem(text, size, "\":", 2) : NULL;
	return colon &&
	       !memmem(colon + 2, size - (size_t)(colon + 2 - text), "\":", 2);
}

bool dict_opens_list(const char *text, size_t size)
{
	while (size && strchr("[]{}\"', \t", *text) && *text) {
		text++;
		size--;
	}
	return !size || text[-1] == '"' || text[-1] == '\'';
}
