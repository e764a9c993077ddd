/* log_prefix.c - prefixes that only several lines together show. */
#include "controller/prefixes/log_prefix.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a line has of a kind of prefix. */
struct prefix_shape {
	size_t size; /* 0: it has none */
	const char *name;
	size_t name_size;
	uint64_t number;
	size_t width;
};

/* Lines that show a prefix. */
static const uint32_t enough[LOG_PREFIX_KINDS] = {
	[LOG_PREFIX_NUMBER] = 3, [LOG_PREFIX_COMPOSE] = 4,
	[LOG_PREFIX_POD] = 4,    [LOG_PREFIX_HOST] = 4,
	[LOG_PREFIX_RANK] = 4,   [LOG_PREFIX_INDENT] = 24,
};

/* ":04:05", "-01-02": what looks like a number is a date. */
static bool number_is_dated(const char *text, size_t size)
{
	return size > 5 && digits_size(text + 1, 2) == 2 && text[3] == *text &&
	       digits_size(text + 4, 2) == 2;
}

/* "12:", "file:12:", "file-12-" */
static void number_shape(const char *text, size_t size,
			 struct prefix_shape *shape)
{
	size_t name = 0, n = digits_size(text, size);
	char digits[12];

	if (!n && !prefix_name_size(text, size))
		return;
	while (!n) {
		while (name < size && text[name] != ':' && text[name] != '-' &&
		       !isspace((unsigned char)text[name]))
			name++;
		if (!name || name + 1 >= size || name > LOG_PREFIX_NAME_MAX ||
		    isspace((unsigned char)text[name]))
			return;
		n = digits_size(text + name + 1, size - name - 1);
		if (name + 1 + n < size && n &&
		    text[name + 1 + n] == text[name])
			break;
		n = 0;
		name++;
	}
	shape->name = text;
	shape->name_size = name;
	name += name > 0;
	if (n >= sizeof(digits) || name + n >= size ||
	    (text[name + n] != ':' && text[name + n] != '-'))
		return;
	if (number_is_dated(text + name + n, size - name - n))
		return;
	memcpy(digits, text + name, n);
	digits[n] = '\0';
	shape->number = strtoull(digits, NULL, 10);
	shape->size = name + n + 1;
}

/* A name that begins with a letter. */
static size_t word_size(const char *text, size_t size)
{
	return size && isalpha((unsigned char)*text)
		       ? prefix_name_size(text, size)
		       : 0;
}

static void compose_shape(const char *text, size_t size,
			  struct prefix_shape *shape)
{
	size_t n = word_size(text, size), at = n;

	while (at < size && text[at] == ' ')
		at++;
	if (!n || at == n || at == size || text[at] != '|')
		return;
	*shape = (struct prefix_shape){
		.name = text,
		.name_size = n,
		.width = at,
		.size = at + 1 + (at + 1 < size && text[at + 1] == ' '),
	};
}

/* A word with a number that begins lines of programs. */
static bool counts_something(const char *text, size_t size)
{
	static const char *const words[] = { "step",  "epoch", "iter",  "loss",
					     "batch", "rank",  "layer", "top" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]);

		if (size >= n && !strncasecmp(text, words[i], n))
			return true;
	}
	return false;
}

static void pod_shape(const char *text, size_t size, struct prefix_shape *shape)
{
	size_t pod = word_size(text, size), container;

	if (!pod || pod + 1 >= size || text[pod] != ' ' ||
	    !memchr(text, '-', pod))
		return;
	container = word_size(text + pod + 1, size - pod - 1);
	if (!container || counts_something(text + pod + 1, container) ||
	    (pod + 1 + container < size && text[pod + 1 + container] != ' '))
		return;
	*shape = (struct prefix_shape){
		.name = text + pod + 1,
		.name_size = container,
		.size = pod + 1 + container + (pod + 1 + container < size),
	};
}

static void host_shape(const char *text, size_t size,
		       struct prefix_shape *shape)
{
	size_t n = prefix_host_size(text, size);

	if (!n && size > 9 && !memcmp(text, "localhost", 9))
		n = 9;
	if (!n || n == size || text[n] != ':' ||
	    (n + 1 < size && text[n + 1] != ' ') || counts_something(text, n))
		return;
	*shape = (struct prefix_shape){ .name = text,
					.name_size = n,
					.size = n + 1 + (n + 1 < size) };
}

static void rank_shape(const char *text, size_t size,
		       struct prefix_shape *shape)
{
	size_t n = size && *text == '[' ? digits_size(text + 1, size - 1) : 0;

	if (!n || n > 5 || n + 1 >= size || text[n + 1] != ']' ||
	    (n + 2 < size && text[n + 2] != ' '))
		return;
	*shape = (struct prefix_shape){ .name = text + 1,
					.name_size = n,
					.size = n + 2 + (n + 2 < size) };
}

static void indent_shape(const char *text, size_t size,
			 struct prefix_shape *shape)
{
	size_t n = 0;

	if (size > 1 && *text == '>' && text[1] == ' ')
		n = 2;
	else
		while (n < size && text[n] == (*text == '\t' ? '\t' : ' '))
			n++;
	if (n >= 2 || (n && *text == '\t'))
		*shape = (struct prefix_shape){
			.name = text, .name_size = 1, .width = n, .size = n
		};
}

static void prefix_shape_read(enum log_prefix_kind kind, const char *text,
			      size_t size, struct prefix_shape *shape)
{
	typedef void read_fn(const char *, size_t, struct prefix_shape *);
	static read_fn *const readers[LOG_PREFIX_KINDS] = {
		[LOG_PREFIX_NUMBER] = number_shape,
		[LOG_PREFIX_COMPOSE] = compose_shape,
		[LOG_PREFIX_POD] = pod_shape,
		[LOG_PREFIX_HOST] = host_shape,
		[LOG_PREFIX_RANK] = rank_shape,
		[LOG_PREFIX_INDENT] = indent_shape,
	};

	*shape = (struct prefix_shape){ 0 };
	if (kind != LOG_PREFIX_NONE)
		readers[kind](text, size, shape);
	if (shape->name_size > LOG_PREFIX_NAME_MAX)
		shape->size = 0;
}

static bool prefix_has_name(const struct log_prefix *prefix,
			    const struct prefix_shape *shape)
{
	for (size_t i = 0; i < prefix->name_count; i++)
		if (strlen(prefix->names[i]) == shape->name_size &&
		    !memcmp(prefix->names[i], shape->name, shape->name_size))
			return true;
	return false;
}

static void prefix_count(struct log_prefix *prefix,
			 const struct prefix_shape *shape, const char *text,
			 size_t size)
{
	prefix->lines++;
	if (prefix_has_name(prefix, shape))
		prefix->repeats++;
	else if (prefix->name_count < LOG_PREFIX_NAMES)
		snprintf(prefix->names[prefix->name_count++],
			 sizeof(prefix->names[0]), "%.*s",
			 (int)shape->name_size, shape->name);
	/* srun's labels may rise, too. */
	prefix->texts += prefix->kind != LOG_PREFIX_NUMBER ||
			 (shape->size < size && text[shape->size] != ' ');
	/* The frames of a traceback are indented themselves. */
	if (prefix->kind == LOG_PREFIX_INDENT && size > shape->width + 6 &&
	    !memcmp(text + shape->width, "File \"", 6) &&
	    (!prefix->frames || shape->width < prefix->frames))
		prefix->frames = shape->width;
}

bool log_prefix_guess(struct log_prefix *prefix, const char *text, size_t size,
		      bool first)
{
	struct prefix_shape shape;

	for (int kind = 1; kind < LOG_PREFIX_KINDS; kind++) {
		prefix_shape_read((enum log_prefix_kind)kind, text, size,
				  &shape);
		if (!shape.size || (kind == LOG_PREFIX_INDENT && !first))
			continue;
		*prefix = (struct log_prefix){
			.kind = (enum log_prefix_kind)kind,
			.number = shape.number,
			.width = shape.width,
		};
		prefix_count(prefix, &shape, text, size);
		return true;
	}
	prefix->kind = LOG_PREFIX_NONE;
	return false;
}

/* Does the shape belong to the prefix? */
static bool shape_fits(const struct log_prefix *prefix,
		       const struct prefix_shape *shape, bool next)
{
	if (!shape->size)
		return false;
	switch (prefix->kind) {
	case LOG_PREFIX_NUMBER:
		return prefix_has_name(prefix, shape) &&
		       (!next || shape->number == prefix->number + 1);
	case LOG_PREFIX_COMPOSE:
		return shape->width == prefix->width;
	case LOG_PREFIX_POD:
		return prefix_has_name(prefix, shape);
	case LOG_PREFIX_INDENT:
		return (next || shape->width >= prefix->width) &&
		       prefix_has_name(prefix, shape);
	default:
		return true;
	}
}

bool log_prefix_continues(struct log_prefix *prefix, const char *text,
			  size_t size)
{
	struct prefix_shape shape;

	prefix_shape_read(prefix->kind, text, size, &shape);
	if (!shape_fits(prefix, &shape, true))
		return false;
	prefix->number = shape.number;
	if (shape.width < prefix->width)
		prefix->width = shape.width;
	prefix_count(prefix, &shape, text, size);
	return true;
}

bool log_prefix_shown(const struct log_prefix *prefix, bool ended)
{
	uint32_t lines = prefix->lines;

	if (!prefix->texts ||
	    (prefix->frames && prefix->width >= prefix->frames))
		return false;
	if (!ended)
		return lines >= enough[prefix->kind] &&
		       prefix->repeats * 2 >= lines;
	return prefix->kind == LOG_PREFIX_INDENT ||
	       (lines >= 2 && prefix->repeats * 2 >= lines - 2);
}

size_t log_prefix_size(const struct log_prefix *prefix, const char *text,
		       size_t size, struct line_origin *origin)
{
	struct prefix_shape shape;

	prefix_shape_read(prefix->kind, text, size, &shape);
	if (!shape_fits(prefix, &shape, false))
		return 0;
	if (prefix->kind == LOG_PREFIX_HOST) {
		origin->host = shape.name;
		origin->host_size = shape.name_size;
	} else if (prefix->kind == LOG_PREFIX_RANK) {
		origin->rank = strtoll(shape.name, NULL, 10);
	}
	return prefix->kind == LOG_PREFIX_INDENT ? prefix->width : shape.size;
}
