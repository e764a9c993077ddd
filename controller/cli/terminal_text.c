/* terminal_text.c - escapes a job's output for a terminal.
 */
#include "controller/cli/terminal_text.h"

#include <string.h>

#define ESC 0x1b

static void put_control(FILE *out, unsigned char c)
{
	fputc('^', out);
	fputc(c == 0x7f ? '?' : c + 0x40, out);
}

void terminal_text_end(struct terminal_text *text, FILE *out)
{
	if (text->held_size && text->held[0] == ESC) {
		put_control(out, ESC);
		fwrite(text->held + 1, 1, text->held_size - 1, out);
	} else {
		for (size_t i = 0; i < text->held_size; i++)
			fputc('?', out);
	}
	memset(text, 0, sizeof(*text));
}

static void terminal_text_hold(struct terminal_text *text, unsigned char c)
{
	text->held[text->held_size++] = (char)c;
}

/* Take a byte of a colour sequence. False: it is no such sequence, and the byte
 * must still be printed.
 */
static bool take_colour(struct terminal_text *text, FILE *out, unsigned char c)
{
	bool goes_on = text->held_size == 1
			       ? c == '['
			       : c == ';' || (c >= '0' && c <= '9');

	if (goes_on && text->held_size + 1 < TERMINAL_HELD_MAX) {
		terminal_text_hold(text, c);
		return true;
	}
	if (c != 'm' || text->held_size < 2) {
		terminal_text_end(text, out);
		return false;
	}
	terminal_text_hold(text, c);
	fwrite(text->held, 1, text->held_size, out);
	text->held_size = 0;
	return true;
}

/* The same for a character of several bytes. */
static bool take_character(struct terminal_text *text, FILE *out,
			   unsigned char c)
{
	bool first = !text->held_size;
	uint32_t code = 0;

	if (!utf8_take(&text->utf8, c)) {
		terminal_text_end(text, out);
		if (first)
			fputc('?', out);
		return first;
	}
	terminal_text_hold(text, c);
	if (text->utf8.more)
		return true;
	utf8_character(text->held, text->held_size, &code);
	if (utf8_turns(code))
		fputc('?', out);
	else
		fwrite(text->held, 1, text->held_size, out);
	text->held_size = 0;
	return true;
}

static void take_byte(struct terminal_text *text, FILE *out, unsigned char c)
{
	if (text->held_size && text->held[0] == ESC) {
		if (take_colour(text, out, c))
			return;
	} else if (text->held_size) {
		if (take_character(text, out, c))
			return;
	}
	if (c == ESC)
		terminal_text_hold(text, c);
	else if (c >= 0x80)
		take_character(text, out, c);
	else if (c == 0x7f || (c < 0x20 && !strchr("\n\t\r", c)) || !c)
		put_control(out, c);
	else
		fputc(c, out);
}

void terminal_text_write(struct terminal_text *text, FILE *out,
			 const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		take_byte(text, out, (unsigned char)data[i]);
}
