/* printable.c - text from anywhere, made safe for one line of a terminal.
 */
#include "protocol/printable.h"
#include "protocol/utf8.h"

/* Bytes of the printable character at text; 0: there is none. */
static size_t character(const char *text, size_t size)
{
	uint32_t code;
	size_t length = utf8_character(text, size, &code);
	bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);

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
