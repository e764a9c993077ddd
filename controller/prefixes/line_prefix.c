/* line_prefix.c - prefixes that one line is enough to recognise. */
#include "controller/prefixes/line_prefix.h"

#include <string.h>
#include <sys/types.h>

#define RANK_DIGITS 6
#define BLANKS_MAX 40
#define ACTOR_MAX 120 /* bytes of the label of an actor of Ray */

/* Shapes. Letters and marks stand for themselves, but:
 *	R	the digits of a rank
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
	"[N,R]<stdout>:?",
	"[N,R]<stderr>:?",
	"[N,R]:?",
	"[R]<stdout>:?",
	"[R]<stderr>:?",
	"[pod/W] ",
	"[T] ",
	"[R] !",
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
static const char *const numbered[] = { "BR: ", "N.Ns\tN\t", NULL };

/* pdsh */
static const char *const hosts[] = { "H: !", NULL };

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

size_t digits_size(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && char_is_digit(text[n]))
		n++;
	return n;
}

size_t prefix_name_size(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && char_is_of_name(text[n]))
		n++;
	return n;
}

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

size_t prefix_host_size(const char *text, size_t size)
{
	size_t n = prefix_name_size(text, size), i = 0;

	if (!n || !char_is_letter(*text) || memchr(text, '/', n) ||
	    (n == 6 && *text == 'E' && digits_size(text + 2, 4) == 4))
		return 0;
	while (i < n && !char_is_digit(text[i]))
		i++;
	return i < n ? n : 0;
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
		n = digits_size(text, size);
		if (n > RANK_DIGITS)
			return -1;
		if (n)
			origin->rank = rank_number(text, n);
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
	return char_is_letter(*text)
		       ? shapes_size(hosts, text, size, 0, origin)
		       : shapes_size(numbered, text, size, 0, origin);
}
