/* json_line.c - lines of JSON, written into room that is there from the start.
 */
#include "agent/init/json_line.h"

#include "protocol/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>

void json_line_init(struct json_line *text, char *bytes, size_t room)
{
	*text = (struct json_line){ .bytes = bytes, .room = room };
	*bytes = 0;
}

void json_line_add(struct json_line *text, const char *fmt, ...)
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

void json_line_string(struct json_line *text, const char *string)
{
	json_line_add(text, "\"");
	while (*string) {
		unsigned char c = (unsigned char)*string;
		size_t length = utf8_character(string, 4, NULL);

		if (!length)
			json_line_add(text, "?");
		else if (c == '"' || c == '\\')
			json_line_add(text, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			json_line_add(text, "\\u%04x", c);
		else
			json_line_add(text, "%.*s", (int)length, string);
		string += length ? length : 1;
	}
	json_line_add(text, "\"");
}
