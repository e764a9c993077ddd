/* printable.c - makes untrusted text safe for one line of a terminal.
 */
#include "protocol/base/printable.h"
#include "protocol/base/utf8.h"

#include <stdio.h>
#include <string.h>

/* Bytes of the printable character at text; 0: there is none. */
static size_t character(const char *text, size_t size)
{
	uint32_t code = 0;
	size_t length = utf8_character(text, size, &code);
	bool control = code < 0x20 || code == 0x7f || utf8_turns(code);

	return length && !control ? length : 0;
}

void printable(char *text, size_t size)
{
	for (size_t at = 0; at < size;) {
		size_t length = character(text + at, size - at);

		if (!length)
			text[at++] = '?';
		at += length;
	}
}

/* Bytes of the sequence at text; 0: there is none. */
static size_t colour(const char *text)
{
	size_t size = 2;

	if (text[0] != '\033' || text[1] != '[')
		return 0;
	size += strspn(text + size, "0123456789;");
	return text[size] == 'm' ? size + 1 : 0;
}

void uncolour(char *text)
{
	char *to = text;

	while (*text) {
		size_t skip = colour(text);

		text += skip;
		if (!skip)
			*to++ = *text++;
	}
	*to = 0;
}

void copy_end(char *to, size_t size, const char *text)
{
	size_t length = strlen(text);
	const char *end = text + length;

	if (length < size) {
		memcpy(to, text, length + 1);
		return;
	}
	end -= size - 4;
	while ((*end & 0xc0) == 0x80)
		end++;
	snprintf(to, size, "...%s", end);
}
