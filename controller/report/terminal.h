/* terminal.h - escapes texts and writes colours for a terminal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Copy text to `to` (cut to size, never inside an escape): control characters,
 * C1 and bidirectional controls and bytes that are not UTF-8 become \xNN.
 * Returns to.
 */
char *escape(const char *text, char *to, size_t size);

/* Print a text, escaped, from column `begin` on: in as many lines of at most
 * `width` columns as its words need. width 0: in one line. A longer word has a
 * line of its own. next() gives the size of the first word of a text; NULL: up
 * to a blank.
 */
void fold_words(FILE *out, const char *text, size_t begin, size_t width,
		size_t (*next)(const char *text));

enum colour { PLAIN, GREEN, RED, YELLOW, CYAN, FAINT, BOLD };
const char *colour_begin(enum colour colour, bool on); /* "" when not on */
const char *colour_end(enum colour colour, bool on);
