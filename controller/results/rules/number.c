/* number.c - reads a number as programs print it.
 */
#include "controller/results/rules/number.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool number_digit(const char *text, size_t size, size_t at)
{
	return at < size && text[at] >= '0' && text[at] <= '9';
}

size_t digits_count(const char *text, size_t size)
{
	size_t n = 0;

	while (number_digit(text, size, n))
		n++;
	return n;
}

/* "nan", "inf", "Infinity", and tqdm's "nan.0"; the bytes, 0: none. */
static size_t word_number(const char *text, size_t size, double *number)
{
	static const struct {
		const char *word;
		double number;
	} words[] = { { "nan", NAN },
		      { "infinity", INFINITY },
		      { "inf", INFINITY } };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i].word);

		if (size < n || strncasecmp(text, words[i].word, n) != 0)
			continue;
		if (size > n + 1 && !memcmp(text + n, ".0", 2))
			n += 2;
		if (size > n && (isalnum((unsigned char)text[n]) ||
				 text[n] == '_' || text[n] & 0x80))
			continue;
		*number = words[i].number;
		return n;
	}
	return 0;
}

/* 1,216 and 10,050.25: groups of three digits. The bytes of the whole part. */
static size_t count_whole(const char *text, size_t size)
{
	size_t n = digits_count(text, size);

	if (!n || n > 3)
		return n;
	while (n < size && text[n] == ',' &&
	       digits_count(text + n + 1, size - n - 1) == 3)
		n += 4;
	return n;
}

static double convert_slowly(const char *text, size_t size, char point)
{
	char copy[NUMBER_MAX + 1];
	size_t used = 0;

	for (size_t i = 0; i < size; i++)
		if (text[i] == point)
			copy[used++] = '.';
		else if (text[i] != ',')
			copy[used++] = text[i] == 'f' ? 'e' : text[i];
	copy[used] = 0;
	return strtod(copy, NULL);
}

static inline double number_convert(const char *text, size_t size, char point)
{
	/* Powers of ten that a double holds exactly. */
	static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,
					 1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
					 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
					 1e18, 1e19, 1e20, 1e21, 1e22 };
	uint64_t digits = 0;
	size_t count = 0, at = *text == '-' || *text == '+';
	int shift = 0, power = 0; /* of ten, to the right; of the exponent */
	bool below;

	for (; at < size && text[at] != point &&
	       (number_digit(text, size, at) || text[at] == ',');
	     at++)
		if (text[at] != ',') {
			digits = digits * 10 + (uint64_t)(text[at] - '0');
			count++;
		}
	if (at < size && text[at] == point)
		for (at++; number_digit(text, size, at); at++, shift++, count++)
			digits = digits * 10 + (uint64_t)(text[at] - '0');
	if (at < size) {
		at++; /* the letter of the exponent */
		below = text[at] == '-';
		for (at += below || text[at] == '+'; at < size; at++)
			power = power < 1000 ? power * 10 + (text[at] - '0')
					     : power;
		shift += below ? power : -power;
	}
	/* Both are exact, so that the result is rounded once. */
	if (count <= 15 && shift >= -22 && shift <= 22)
		return (*text == '-' ? -1 : 1) *
		       (shift < 0 ? (double)digits * powers[-shift]
				  : (double)digits / powers[shift]);
	return convert_slowly(text, size, point);
}

/* The bytes of the exponent behind n bytes of a number: "e-05", and "f0" of a
 * fraction.
 */
static size_t exponent_size(const char *text, size_t size, size_t n, bool whole)
{
	size_t at = n + 1;
	char letter = n < size ? text[n] : 0;

	if (letter != 'e' && letter != 'E' && (letter != 'f' || whole))
		return 0;
	at += at < size && (text[at] == '-' || text[at] == '+');
	if (!number_digit(text, size, at))
		return 0;
	at += digits_count(text + at, size - at);
	return letter == 'f' && at < size && isalpha((unsigned char)text[at])
		       ? 0
		       : at - n;
}

static inline size_t read_pointed(const char *text, size_t size, char point,
				  double *number)
{
	size_t sign = size && (*text == '-' || *text == '+'), n, whole;

	n = sign < size && isalpha((unsigned char)text[sign])
		    ? word_number(text + sign, size - sign, number)
		    : 0;
	if (n) {
		*number = *text == '-' ? -*number : *number;
		return sign + n;
	}
	n = whole =
		sign + (point == ',' ? digits_count(text + sign, size - sign)
				     : count_whole(text + sign, size - sign));
	if (n < size && text[n] == point)
		n += 1 + digits_count(text + n + 1, size - n - 1);
	if (n - whole < 2 && whole == sign)
		return 0;
	n += exponent_size(text, size, n, n == whole);
	if (n > NUMBER_MAX)
		return 0;
	*number = number_convert(text, n, point);
	return n;
}

size_t number_read(const char *text, size_t size, double *number)
{
	return read_pointed(text, size, '.', number);
}

size_t number_read_comma(const char *text, size_t size, double *number)
{
	return read_pointed(text, size, ',', number);
}
