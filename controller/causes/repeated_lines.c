/* repeated_lines.c - lines that a program prints again and again. */
#include "controller/causes/repeated_lines.h"

#include <stdbool.h>
#include <string.h>

/* What a line is compared by. */
struct line_kind {
	uint64_t words;
	double first;  /* of its numbers; -1: it has none */
	bool measures; /* it has a fraction or a share */
	bool listed;
};

static bool has_digit_at(const char *text, size_t size, size_t at)
{
	return at < size && text[at] >= '0' && text[at] <= '9';
}

/* The bytes of the number, date or clock that begins the text. */
static size_t number_take(const char *text, size_t size, struct line_kind *kind)
{
	size_t at = 0, dots = 0;
	double number = 0;
	bool plain = true;

	while (has_digit_at(text, size, at) ||
	       (at < size && strchr(".,:/-eET+", text[at]) &&
		has_digit_at(text, size, at + 1))) {
		if (has_digit_at(text, size, at)) {
			if (!dots && plain)
				number = number * 10 + (text[at] - '0');
		} else if (text[at] == '.') {
			dots++;
		} else if (text[at] == ':' || text[at] == '-') {
			plain = false;
		} else if (text[at] == '/') {
			break;
		}
		at++;
	}
	/* "1. Size: 2.5 GB" is in a list of what is at this moment. */
	if (at + 1 < size && kind->first < 0 &&
	    (text[at] == '.' || text[at] == ')') && text[at + 1] == ' ')
		kind->listed = true;
	if (!plain || dots > 1)
		return at;
	if (kind->first < 0)
		kind->first = number;
	kind->measures |= dots || (at < size && text[at] == '%');
	return at;
}

/* The order of words does not count: a sum is faster than a hash. */
static struct line_kind line_kind(const char *text, size_t size)
{
	struct line_kind kind = { .words = 1, .first = -1 };

	for (size_t i = 0; i < size;) {
		uint64_t c = (unsigned char)text[i];

		if (c - '0' < 10) {
			i += number_take(text + i, size - i, &kind);
			continue;
		}
		/* Blocks of bars, arrows and the like are no words. */
		if (c == 0xe2)
			i += 2;
		else if ((c | ' ') - 'a' < 26 || c >= 0x80)
			kind.words += c * c * c;
		i++;
	}
	return kind;
}

uint64_t repeated_lines_take(struct repeated_lines *repeated, uint64_t number,
			     const char *text, size_t size, uint64_t *since)
{
	struct line_kind kind = line_kind(text, size);
	struct repeated_kind *place = repeated->kinds;
	bool grown;

	if (kind.first < 0 || !kind.measures || kind.listed)
		return 0;
	for (size_t i = 0; i < REPEATED_LINES; i++) {
		struct repeated_kind *at = &repeated->kinds[i];

		if (at->words == kind.words) {
			place = at;
			break;
		}
		if (at->used < place->used)
			place = at;
	}
	grown = place->words == kind.words && kind.first > place->first;
	if (place->words != kind.words)
		*place = (struct repeated_kind){ .words = kind.words,
						 .since = number };
	place->first = kind.first;
	place->used = number;
	place->times += grown;
	*since = place->since;
	return grown ? place->times : 0;
}
