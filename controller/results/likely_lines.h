/* likely_lines.h - lines of a log that look as if figures stood in them.
 *
 * For a log that no format fits: what a rule for it would have to read.
 */
#ifndef CONTROLLER_RESULTS_LIKELY_LINES_H
#define CONTROLLER_RESULTS_LIKELY_LINES_H

#include <stddef.h>

#define LIKELY_LINES 3
#define LIKELY_LINE_BYTES 120 /* longer ones are cut */

/* The lines of the text that name most of what training logs tell (a step, a
 * loss, a time, a rate, memory ...) with a number, best first; of lines that
 * differ in their numbers alone only the first one. A line has two such names
 * at least. They are printable. Returns how many.
 */
size_t likely_lines(const char *text, size_t size,
		    char lines[LIKELY_LINES][LIKELY_LINE_BYTES]);

#endif
