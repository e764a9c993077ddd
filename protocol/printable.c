/* printable.c - text from anywhere, made safe for one line of a terminal.
 */
#include "protocol/printable.h"

/* Sequences of UTF-8 by their first byte, and the range of the second byte,
 * which keeps out overlong forms, surrogates, what is past U+10FFFF, and C1
 * controls. Source: RFC 3629, section 4.
 */
struct sequence {
	unsigned char first, last; /* of the first byte */
	unsigned char low, high;   /* of the second */
	size_t length;
};

/* clang-format off */
static const struct sequence sequences[] = {
	{ 0xc2, 0xc2, 0xa0, 0xbf, 2 },
	{ 0xc3, 0xdf, 0x80, 0xbf, 2 },
	{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
	{ 0xe1, 0xec, 0x80, 0xbf, 3 },
	{ 0xed, 0xed, 0x80, 0x9f, 3 },
	{ 0xee, 0xef, 0x80, 0xbf, 3 },
	{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
	{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
	{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
};
/* clang-format on */

/* Bytes of the printable character at text; 0: there is none. */
static size_t character(const unsigned char *text, size_t size)
{
	if (*text < 0x80)
		return *text >= 0x20 && *text != 0x7f;
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++) {
		const struct sequence *at = &sequences[i];

		if (*text < at->first || *text > at->last)
			continue;
		if (size < at->length || text[1] < at->low ||
		    text[1] > at->high)
			return 0;
		for (size_t n = 2; n < at->length; n++)
			if ((text[n] & 0xc0) != 0x80)
				return 0;
		return at->length;
	}
	return 0;
}

void printable(char *text, size_t size)
{
	for (size_t at = 0; at < size;) {
		size_t length =
			character((unsigned char *)text + at, size - at);

		if (!length)
			text[at++] = '?';
		at += length;
	}
}
