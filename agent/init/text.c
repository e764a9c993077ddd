/* text.c - lines of JSON, written into room that is there from the start. */
#include "agent/init/text.h"

#include <stdarg.h>
#include <stdio.h>

void text_init(struct text *text, char *bytes, size_t room)
{
	*text = (struct text){ .bytes = bytes, .room = room };
	*bytes = 0;
}

void text_add(struct text *text, const char *fmt, ...)
{
	size_t room = text->room - text->size;
	va_list args;
	int used;

	va_start(args, fmt);
	used = vsnprintf(text->bytes + text->size, room, fmt, args);
	va_end(args);
	if (used > 0)
		text->size += (size_t)used < room ? (size_t)used : room - 1;
}

/* Length of the UTF-8 sequence at p, or 0: not one. Overlong forms,
 * surrogates and what lies above U+10FFFF are none (RFC 3629, section 4).
 */
static size_t utf8_length(const unsigned char *p)
{
	size_t length = *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	unsigned char low = *p == 0xe0 ? 0xa0 : *p == 0xf0 ? 0x90 : 0x80;
	unsigned char high = *p == 0xed ? 0x9f : *p == 0xf4 ? 0x8f : 0xbf;

	if (*p < 0x80)
		return 1;
	if (!length || *p > 0xf4 || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	return length;
}

void text_string(struct text *text, const char *string)
{
	const unsigned char *p = (const unsigned char *)string;

	text_add(text, "\"");
	while (*p) {
		size_t length = utf8_length(p);

		if (!length)
			text_add(text, "?");
		else if (*p == '"' || *p == '\\')
			text_add(text, "\\%c", *p);
		else if (*p < 0x20 || *p == 0x7f)
			text_add(text, "\\u%04x", *p);
		else
			text_add(text, "%.*s", (int)length, (const char *)p);
		p += length ? length : 1;
	}
	text_add(text, "\"");
}
