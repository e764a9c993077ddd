/* text.c - lines of JSON, written into room that is there from the start. */
#include "agent/init/text.h"

#include "protocol/base/utf8.h"

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

void text_string(struct text *text, const char *string)
{
	text_add(text, "\"");
	while (*string) {
		unsigned char c = (unsigned char)*string;
		size_t length = utf8_character(string, 4, NULL);

		if (!length)
			text_add(text, "?");
		else if (c == '"' || c == '\\')
			text_add(text, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			text_add(text, "\\u%04x", c);
		else
			text_add(text, "%.*s", (int)length, string);
		string += length ? length : 1;
	}
	text_add(text, "\"");
}
