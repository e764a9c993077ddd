/* line_prefix.c - prefixes that one line is enough to recognise. */
#include "controller/prefixes/line_prefix.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

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

/* Every line of a log is looked at: <ctype.h> would be a call for each
 * character.
 */
static bool char_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool char_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool char_is_of_name(char c)
{
	return char_is_letter(c) || char_is_digit(c) || c == '.' || c == '_' ||
	       c == '-' || c == '/' || c == '@';
}

/* Digits at the beginning of text. */
static size_t digits_size(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && char_is_digit(text[n]))
		n++;
	return n;
}

/* Characters of the name of a host, pod or program: at most size. */
static size_t prefix_name_size(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && char_is_of_name(text[n]))
		n++;
	return n;
}

/* Of a host's: it has a digit, and is no error code of Ascend; 0: it is none.
 */
static size_t prefix_host_size(const char *text, size_t size)
{
	size_t n = prefix_name_size(text, size), i = 0;

	if (!n || !char_is_letter(*text) || memchr(text, '/', n) ||
	    (n == 6 && *text == 'E' && digits_size(text + 2, 4) == 4))
		return 0;
	while (i < n && !char_is_digit(text[i]))
		i++;
	return i < n ? n : 0;
}

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
		origin->bare = true;
	}
	return prefix->kind == LOG_PREFIX_INDENT ? prefix->width : shape.size;
}

#define RANK_DIGITS 6
#define BLANKS_MAX 40
#define ACTOR_MAX 120 /* bytes of the label of an actor of Ray */

/* Shapes. Letters and marks stand for themselves, but:
 *	R	the digits of a rank
 *	L	the same without a word that says so
 *	N	digits
 *	D	four digits or more
 *	T	a date with the time, or the time alone
 *	H	the name of a host
 *	W	the name of a program, a pod or a field
 *	A	"..pid=1.." of an actor of Ray, "raylet"
 *	B	blanks, fewer than six
 *	?	at the end: a blank, if there is one that is no indentation
 *	!	at the end: only before a traceback, a bracket or an indented
 *		line, which is not removed
 */
static const char *const bracketed[] = {
	"[rankR]:?",
	"[defaultN]:?",
	"[trainerN]:?",
	"[workerN]:?",
	"[worker-N] ",
	"[master-N] ",
	"[launcher-N] ",
	"[node-N] ",
	"[N,R]<stdout>:?",
	"[N,R]<stderr>:?",
	"[N,R]:?",
	"[R]<stdout>:?",
	"[R]<stderr>:?",
	"[pod/W] ",
	"[T] ",
	"[rankR] ",
	"[L] !",
	"[D] ",
	NULL,
};

/* Those behind a time: the longest first. */
static const char *const timed[] = {
	" stdout F ",
	" stderr F ",
	" stdout P ",
	" stderr P ",
	" H W[N]: ",
	" H kernel: ",
	"[N,R]<stdout>:?",
	"[N,R]<stderr>:?",
	"[R]<stdout>:?",
	"[R]<stderr>:?",
	" ",
	NULL,
};

static const char *const marked[] = {
	"<N>1 T H W W W - ",
	"<N>T H W[N]: ",
	"<N>T H W: ",
	NULL,
};

static const char *const actors[] = { "(A) ", NULL };

/* srun --label; the numbered lines of notebooks. */
static const char *const numbered[] = { "BL: ", "N.Ns\tN\t", NULL };

/* A launcher's streams; pdsh */
static const char *const hosts[] = { "stdout: ", "stderr: ", "H: !", NULL };

/* Does the text fit "0000-00-00", where 0 stands for a digit? */
static bool digits_fit(const char *text, size_t size, const char *form)
{
	for (size_t i = 0; form[i]; i++)
		if (i >= size || (form[i] == '0' ? !char_is_digit(text[i])
						 : form[i] != text[i]))
			return false;
	return true;
}

/* "09:12:02", "09:12:02,123", "09:12:02.5Z", "09:12:02+08:00" */
static size_t clock_size(const char *text, size_t size)
{
	size_t at = 8;

	if (!digits_fit(text, size, "00:00:00"))
		return 0;
	if (at + 1 < size && (text[at] == '.' || text[at] == ',') &&
	    char_is_digit(text[at + 1]))
		at += 1 + digits_size(text + at + 1, size - at - 1);
	if (at < size && text[at] == 'Z')
		return at + 1;
	if (at < size && (text[at] == '+' || text[at] == '-')) {
		if (digits_fit(text + at + 1, size - at - 1, "00:00"))
			return at + 6;
		if (digits_fit(text + at + 1, size - at - 1, "0000"))
			return at + 5;
	}
	return at;
}

static bool word_among(const char *text, size_t size, const char *words)
{
	for (; size >= 4 && *words; words += 3)
		if (!memcmp(text, words, 3) && text[3] == ' ')
			return true;
	return false;
}

/* "Nov  3 09:12:02", "Mon Nov  3 09:12:02 2025" */
static size_t unix_date_size(const char *text, size_t size)
{
	size_t at = word_among(text, size, "MonTueWedThuFriSatSun") ? 4 : 0;
	size_t n;

	if (!word_among(text + at, size - at,
			"JanFebMarAprMayJunJulAugSepOctNovDec"))
		return 0;
	at += 4;
	at += at < size && text[at] == ' ';
	n = digits_size(text + at, size - at);
	if (!n || n > 2 || at + n >= size || text[at + n] != ' ')
		return 0;
	at += n + 1;
	n = clock_size(text + at, size - at);
	if (!n)
		return 0;
	at += n;
	return digits_fit(text + at, size - at, " 0000") &&
			       !(at + 5 < size && text[at + 5] == '-')
		       ? at + 5
		       : at;
}

static size_t time_size(const char *text, size_t size)
{
	size_t n;

	if (!size)
		return 0;
	if (char_is_letter(*text))
		return unix_date_size(text, size);
	if (digits_fit(text, size, "0000-00-00") ||
	    digits_fit(text, size, "0000/00/00")) {
		if (size < 12 || !strchr("T -_", text[10]))
			return 0;
		n = clock_size(text + 11, size - 11);
		return n ? 11 + n : 0;
	}
	return clock_size(text, size);
}

static size_t actor_size(const char *text, size_t size)
{
	const char *end, *pid;

	if (size > ACTOR_MAX)
		size = ACTOR_MAX;
	end = memchr(text, ')', size);
	pid = end ? memmem(text, (size_t)(end - text), "pid=", 4) : NULL;
	if (end && size > 6 && !memcmp(text, "raylet", 6))
		return (size_t)(end - text);
	return pid && (pid == text || pid[-1] == ' ') ? (size_t)(end - text)
						      : 0;
}

/* "KeyError:", "torch.OutOfMemoryError: ..." */
static bool exception_begins(const char *text, size_t size)
{
	static const char *const ends[] = { "Error", "Exception", "Interrupt" };
	size_t n = prefix_name_size(text, size);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t length = strlen(ends[i]);

		if (n >= length && !memcmp(text + n - length, ends[i], length))
			return true;
	}
	return false;
}

static bool report_begins(const char *text, size_t size)
{
	return size && (*text == '[' || *text == ' ' ||
			(size >= 9 && !memcmp(text, "Traceback", 9)) ||
			exception_begins(text, size));
}

static size_t blanks_size(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && n < BLANKS_MAX && text[n] == ' ')
		n++;
	return n;
}

static int64_t rank_number(const char *text, size_t size)
{
	int64_t rank = 0;

	for (size_t i = 0; i < size; i++)
		rank = rank * 10 + (text[i] - '0');
	return rank;
}

/* The size of the part of the text that a letter of a shape stands for; -1: it
 * does not fit.
 */
static ssize_t part_size(char part, const char *text, size_t size,
			 struct line_origin *origin)
{
	size_t n;

	switch (part) {
	case 'R':
	case 'L':
		n = digits_size(text, size);
		if (n > RANK_DIGITS)
			return -1;
		if (n)
			origin->rank = rank_number(text, n);
		origin->bare = part == 'L';
		break;
	case 'N':
		n = digits_size(text, size);
		break;
	case 'D':
		n = digits_size(text, size);
		n = n < 4 ? 0 : n;
		break;
	case 'T':
		n = time_size(text, size);
		break;
	case 'H':
		n = prefix_host_size(text, size);
		origin->host = text;
		origin->host_size = n;
		break;
	case 'W':
		n = prefix_name_size(text, size);
		break;
	case 'A':
		n = actor_size(text, size);
		break;
	case 'B':
		n = blanks_size(text, size);
		return n < 6 ? (ssize_t)n : -1;
	default:
		n = size && *text == part;
	}
	return n ? (ssize_t)n : -1;
}

/* The size up to the end of the shape, which begins at this place; 0: it does
 * not fit.
 */
static size_t shape_size(const char *shape, const char *text, size_t size,
			 size_t at, struct line_origin *origin)
{
	struct line_origin told = *origin;

	for (; *shape; shape++) {
		ssize_t n;

		if (*shape == '?') {
			/* Python indents by an even number. */
			at += blanks_size(text + at, size - at) % 2;
			break;
		}
		if (*shape == '!') {
			if (!report_begins(text + at, size - at))
				return 0;
			break;
		}
		/* Blanks at the end of a line may be cut off. */
		if (*shape == ' ' && !shape[1] && at == size)
			break;
		n = part_size(*shape, text + at, size - at, &told);
		if (n < 0)
			return 0;
		at += (size_t)n;
	}
	*origin = told;
	return at;
}

static size_t shapes_size(const char *const *shapes, const char *text,
			  size_t size, size_t at, struct line_origin *origin)
{
	size_t n = 0;

	while (*shapes && !(n = shape_size(*shapes, text, size, at, origin)))
		shapes++;
	if (n && strstr(*shapes, " P "))
		origin->partial = true;
	return n;
}

/* "1.5, ": what stands before it is the number of a row of them, not a label */
static bool number_begins_list(const char *text, size_t size)
{
	size_t whole = digits_size(text, size), n = whole + 1;

	if (!whole || n >= size || text[whole] != '.')
		return false;
	n += digits_size(text + n, size - n);
	return n + 1 < size && text[n] == ',' && text[n + 1] == ' ';
}

bool line_prefix_begins(char first)
{
	return char_is_digit(first) || char_is_letter(first) || first == '[' ||
	       first == '(' || first == '<' || first == ' ';
}

size_t line_prefix_size(const char *text, size_t size,
			struct line_origin *origin)
{
	size_t n;

	if (!size)
		return 0;
	switch (*text) {
	case '[':
		return shapes_size(bracketed, text, size, 0, origin);
	case '(':
		return shapes_size(actors, text, size, 0, origin);
	case '<':
		return shapes_size(marked, text, size, 0, origin);
	default:
		break;
	}
	n = time_size(text, size);
	if (n && (n = shapes_size(timed, text, size, n, origin)))
		return n;
	if (char_is_letter(*text))
		return shapes_size(hosts, text, size, 0, origin);
	n = shapes_size(numbered, text, size, 0, origin);
	return number_begins_list(text + n, size - n) ? 0 : n;
}
