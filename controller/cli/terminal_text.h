/* terminal_text.h - escapes a job's output for a terminal.
 *
 * Escape sequences in a log could set the terminal's title, fill its input,
 * hide lines or exploit its faults. Printed unchanged are printable characters,
 * newline, tab, carriage return (progress bars) and colours (ESC [ numbers m).
 * Other control characters become ^X; invalid UTF-8, C1 controls and characters
 * that change the text direction become '?'.
 */
#pragma once

#include "protocol/base/utf8.h"

#include <stdio.h>

#define TERMINAL_HELD_MAX 32

/* The state of one stream; pieces may end anywhere. Initially zeroed. */
struct terminal_text {
	char held[TERMINAL_HELD_MAX]; /* an incomplete character or colour */
	size_t held_size;
	struct utf8 utf8;
};

void terminal_text_write(struct terminal_text *text, FILE *out,
			 const char *data, size_t size);

/* Print the held bytes: the stream ends, or another one continues. */
void terminal_text_end(struct terminal_text *text, FILE *out);
