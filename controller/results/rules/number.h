/* number.h - reads a number as programs print it: "-2.31", "1.5e-04", "1,216",
 * ".5", "3.", "2.5f0", "nan", "Infinity".
 */
#pragma once

#include <stddef.h>

#define NUMBER_MAX 63 /* bytes of a number */

/* The number at text[0..size), rounded as strtod() rounds it, and the bytes
 * that it takes; 0: none. Blanks before it, hexadecimal numbers, and commas
 * that do not separate thousands are no part of it.
 */
size_t number_read(const char *text, size_t size, double *number);

/* The same of a number with a decimal comma: "0,531". */
size_t number_read_comma(const char *text, size_t size, double *number);

/* The digits at the start of the text. */
size_t digits_count(const char *text, size_t size);
