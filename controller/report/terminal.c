/* terminal.c - escapes texts and writes colours for a terminal.
 */
#include "controller/report/terminal.h"

#include "protocol/base/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool is_control(uint32_t code)
{
	return code < 0x20 || code == 0x7f || utf8_turns(code);
}

char *escape(const char *text, char *to, size_t size)
{
	size_t used = 0;

	while (*text) {
		uint32_t code;
		size_t length = utf8_character(text, 4, &code);
		bool plain = length && !is_control(code);
		size_t needed = plain ? length : 4 * (length ? length : 1);

		if (used + needed >= size)
			break;
		if (plain)
			memcpy(to + used, text, length);
		else
			for (size_t i = 0; i < needed / 4; i++)
				snprintf(to + used + 4 * i, 5, "\\x%02x",
					 (unsigned char)text[i]);
		used += needed;
		text += length ? length : 1;
	}
	if (size)
		to[used] = 0;
	return to;
}

static const char *const sequences[] = {
	[PLAIN] = "",          [GREEN] = "\033[32m", [RED] = "\033[31m",
	[YELLOW] = "\033[33m", [CYAN] = "\033[36m",  [FAINT] = "\033[2m",
	[BOLD] = "\033[1m",
};

void fold_words(FILE *out, const char *text, size_t begin, size_t width,
		size_t (*next)(const char *text))
{
	size_t used = begin, columns, size;
	char word[1000], clean[2000];
	const char *gap = "";

	for (; *text; text += size + strspn(text + size, " ")) {
		size = next ? next(text) : strcspn(text, " ");
		snprintf(word, sizeof(word), "%.*s", (int)size, text);
		columns = utf8_width(escape(word, clean, sizeof(clean)));
		if (width && *gap && used + 1 + columns > width) {
			fprintf(out, "\n%*s", (int)begin, "");
			used = begin;
			gap = "";
		}
		fprintf(out, "%s%s", gap, clean);
		used += strlen(gap) + columns;
		gap = " ";
	}
}

const char *colour_begin(enum colour colour, bool on)
{
	return on ? sequences[colour] : "";
}

const char *colour_end(enum colour colour, bool on)
{
	return on && colour != PLAIN ? "\033[0m" : "";
}
