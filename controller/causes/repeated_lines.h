/* repeated_lines.h - lines that a program prints again and again, with larger
 * numbers: "it 10 0.52 s", "it 20 0.51 s". They tell that it goes on, in
 * whatever words.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define REPEATED_LINES 16 /* kinds of lines that are remembered */

struct repeated_lines {
	struct repeated_kind {
		uint64_t words; /* a sum of all but the numbers; 0: free */
		double first;   /* the first number of the last one */
		uint64_t since; /* the line that began it */
		uint64_t times; /* that it grew */
		uint64_t used;  /* its last line */
	} kinds[REPEATED_LINES];
};

/* Take the line of this number, from 1. How often its kind has come with a
 * larger first number, and in *since the line that began it; 0: this one does
 * not. Only lines with a fraction or a share count.
 */
uint64_t repeated_lines_take(struct repeated_lines *repeated, uint64_t number,
			     const char *text, size_t size, uint64_t *since);
