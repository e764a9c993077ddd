/* line_clock.c - the time of day that a line, or its prefix, was printed at.
 */
#include "controller/results/meaning/line_clock.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define CLOCK_IN 64 /* first bytes of a line, where its clock stands */

static double clock_digits(const char *text, size_t count)
{
	double number = 0;

	for (size_t i = 0; i < count; i++) {
		if (!isdigit((unsigned char)text[i]))
			return NAN;
		number = number * 10 + (text[i] - '0');
	}
	return number;
}

double line_clock(const char *text, size_t size, bool *fraction)
{
	size_t end = size < CLOCK_IN ? size : CLOCK_IN;

	for (size_t i = 0; i + 8 <= end; i++) {
		double h, m, s, part, unit = 0.1;
		size_t at = i + 8;

		if (text[i + 2] != ':' || text[i + 5] != ':' ||
		    (i && isdigit((unsigned char)text[i - 1])))
			continue;
		h = clock_digits(text + i, 2);
		m = clock_digits(text + i + 3, 2);
		s = clock_digits(text + i + 6, 2);
		if (!(h < 24 && m < 60 && s < 61))
			continue;
		/* An estimate of the end, or the length of something. */
		if (i > 4 &&
		    (memmem(text, i, "eta", 3) || memmem(text, i, "ETA", 3)))
			return NAN;
		s += h * 3600 + m * 60;
		if (at + 1 < size && (text[at] == '.' || text[at] == ','))
			for (at++; at < size; at++, unit /= 10) {
				part = clock_digits(text + at, 1);
				if (isnan(part))
					break;
				*fraction = true;
				s += part * unit;
			}
		return s;
	}
	return NAN;
}
