/* utf8.c - reads and writes UTF-8 characters.
 */
#include "protocol/base/utf8.h"

#include <string.h>

/* By the first byte of a longer character: how many bytes follow, and the range
 * of the second byte. Source: Unicode 15, table 3-7.
 */
struct start {
	uint8_t from, to, more, low, high;
};

/* clang-format off */
static const struct start starts[] = {
	{ 0xc2, 0xdf, 1, 0x80, 0xbf }, { 0xe0, 0xe0, 2, 0xa0, 0xbf },
	{ 0xe1, 0xec, 2, 0x80, 0xbf }, { 0xed, 0xed, 2, 0x80, 0x9f },
	{ 0xee, 0xef, 2, 0x80, 0xbf }, { 0xf0, 0xf0, 3, 0x90, 0xbf },
	{ 0xf1, 0xf3, 3, 0x80, 0xbf }, { 0xf4, 0xf4, 3, 0x80, 0x8f },
};
/* clang-format on */

bool utf8_take(struct utf8 *state, uint8_t byte)
{
	if (state->more) {
		if (byte < state->low || byte > state->high)
			return false;
		state->more--;
		state->low = 0x80;
		state->high = 0xbf;
		return true;
	}
	if (byte < 0x80)
		return true;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (byte >= starts[i].from && byte <= starts[i].to) {
			state->more = starts[i].more;
			state->low = starts[i].low;
			state->high = starts[i].high;
			return true;
		}
	return false;
}

size_t utf8_character(const char *text, size_t size, uint32_t *code)
{
	struct utf8 state = { 0 };
	uint32_t found = (uint8_t)text[0];
	size_t length = 0;

	do {
		uint8_t byte = (uint8_t)text[length];

		if (!utf8_take(&state, byte))
			return 0;
		if (length++)
			found = found << 6 | (byte & 0x3f);
		else if (state.more)
			found = byte & (0x3fu >> state.more);
	} while (state.more && length < size);
	if (state.more)
		return 0;
	if (code)
		*code = found;
	return length;
}

size_t utf8_cut(const char *text, size_t size)
{
	while (size && ((uint8_t)text[size] & 0xc0) == 0x80)
		size--;
	return size;
}

static size_t character_width(uint32_t code)
{
	/* clang-format off */
	static const struct {
		uint32_t from, to;
		size_t width;
	} ranges[] = { /* all others: 1 */
		{ 0x0300, 0x036f, 0 }, { 0x200b, 0x200f, 0 },
		{ 0xfe00, 0xfe0f, 0 }, { 0x1100, 0x115f, 2 },
		{ 0x2e80, 0x303e, 2 }, { 0x3041, 0x4dbf, 2 },
		{ 0x4e00, 0xa4cf, 2 }, { 0xac00, 0xd7a3, 2 },
		{ 0xf900, 0xfaff, 2 }, { 0xfe30, 0xfe4f, 2 },
		{ 0xff00, 0xff60, 2 }, { 0xffe0, 0xffe6, 2 },
		{ 0x1f300, 0x1f6ff, 2 }, { 0x1f900, 0x1f9ff, 2 },
		{ 0x20000, 0x3fffd, 2 },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (code >= ranges[i].from && code <= ranges[i].to)
			return ranges[i].width;
	return 1;
}

size_t utf8_fit(const char *text, size_t columns)
{
	size_t left = strlen(text), at = 0;

	while (left) {
		uint32_t code = 0;
		size_t size = utf8_character(text + at, left, &code);
		size_t width = size ? character_width(code) : 1;

		if (width > columns)
			break;
		columns -= width;
		at += size ? size : 1;
		left -= size ? size : 1;
	}
	return at;
}

size_t utf8_width(const char *text)
{
	size_t left = strlen(text), width = 0;

	while (left) {
		uint32_t code = 0;
		size_t size = utf8_character(text, left, &code);

		width += size ? character_width(code) : 1;
		text += size ? size : 1;
		left -= size ? size : 1;
	}
	return width;
}

bool utf8_turns(uint32_t code)
{
	return (code >= 0x80 && code < 0xa0) || code == 0x061c ||
	       (code >= 0x200e && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

size_t utf8_encode(uint32_t code, char to[4])
{
	size_t size = code < 0x80      ? 1
		      : code < 0x800   ? 2
		      : code < 0x10000 ? 3
				       : 4;

	if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	if (size == 1) {
		to[0] = (char)code;
		return 1;
	}
	for (size_t i = size; i-- > 1; code >>= 6)
		to[i] = (char)(0x80 | (code & 0x3f));
	to[0] = (char)((0xf00 >> size) | code);
	return size;
}
