/* terminal.h - escapes texts and writes colours for a terminal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Copy text to `to` (cut to size, never inside an escape): control characters,
 * C1 and bidirectional controls and bytes that are not UTF-8 become \xNN.
 * Returns to.
 */
char *escape(const char *text, char *to, size_t size);

enum colour { PLAIN, GREEN, RED, YELLOW, CYAN, FAINT, BOLD };
const char *colour_begin(enum colour colour, bool on); /* "" when not on */
const char *colour_end(enum colour colour, bool on);
