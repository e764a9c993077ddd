/* line_clock.h - the time of day that a line, or its prefix, was printed at.
 */
#ifndef CONTROLLER_RESULTS_MEANING_LINE_CLOCK_H
#define CONTROLLER_RESULTS_MEANING_LINE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>

/* The first clock of the text, "... 09:12:16,111 ...", in seconds of the day;
 * NaN: none. *fraction becomes true if it has fractions of a second.
 */
double line_clock(const char *text, size_t size, bool *fraction);

#endif
