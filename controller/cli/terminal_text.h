/* terminal_text.h - bytes of a job's output, made harmless for a terminal.
 *
 * A terminal obeys what it is shown: bytes of a log could set its title, fill
 * its input, hide lines or run into its faults. Shown as they are: printable
 * characters, newline, tab, carriage return (progress bars) and colours (ESC [
 * numbers m). Other control characters are shown as ^X, and what is no UTF-8,
 * C1 controls and characters that turn the direction of text as '?'.
 */
#ifndef CONTROLLER_CLI_TERMINAL_TEXT_H
#define CONTROLLER_CLI_TERMINAL_TEXT_H

#include "protocol/base/utf8.h"

#include <stdio.h>

#define TERMINAL_HELD_MAX 32

/* Of one stream, whose pieces may end anywhere. Starts as zeros. */
struct terminal_text {
	char held[TERMINAL_HELD_MAX]; /* the begin of a character or colour */
	size_t held_size;
	struct utf8 utf8;
};

void terminal_text_write(struct terminal_text *text, FILE *out,
			 const char *data, size_t size);

/* The stream ends here, or another one goes on: show what is held. */
void terminal_text_end(struct terminal_text *text, FILE *out);

#endif
