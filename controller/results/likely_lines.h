/* likely_lines.h - finds the lines of a log that look most like metrics.
 *
 * They show what log rules for a log in an unknown format would have to read.
 */
#pragma once

#include <stddef.h>

#define LIKELY_LINES 3
#define LIKELY_LINE_BYTES 120 /* longer ones are cut */

/* The lines with most names of metrics (step, loss, time, rate, memory ...)
 * that have a number, best first; at least two such names each. Of lines that
 * differ only in their numbers, the first one. The lines are printable. Returns
 * their number.
 */
size_t likely_lines(const char *text, size_t size,
		    char lines[LIKELY_LINES][LIKELY_LINE_BYTES]);
