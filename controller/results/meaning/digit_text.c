/* digit_text.c - texts of digits that are no number.
 */
#include "controller/results/meaning/digit_text.h"

#include "controller/results/rules/number.h"

#include <string.h>

/* Is it "04/14 11:48:20", of a month and a day? */
static bool is_day_with_clock(const char *text, size_t size)
{
	return size >= 11 && digits_count(text, size) == 2 && text[2] == '/' &&
	       digits_count(text + 3, size - 3) == 2 && text[5] == ' ' &&
	       digits_count(text + 6, size - 6) == 2 && text[8] == ':' &&
	       (*text == '0' || (*text == '1' && text[1] <= '2')) &&
	       text[3] <= '3';
}

/* The bytes of "1s194ms" or "2h05m"; 0: it is none. */
static size_t duration_size(const char *text, size_t size)
{
	size_t at = 0, groups = 0;

	while (is_digit_at(text, size, at)) {
		at += digits_count(text + at, size - at);
		if (at >= size || !strchr("dDhms", text[at]))
			return 0;
		at += 1 +
		      (at + 1 < size && text[at] == 'm' && text[at + 1] == 's');
		groups++;
	}
	return groups > 1 && !is_letter_at(text, size, at) ? at : 0;
}

size_t compound_size(const char *text, size_t size)
{
	size_t at = digits_count(text, size), dots = 0, slashes = 0, marks = 0;

	if (at && at + 1 < size && strchr("dDhms", text[at]) &&
	    is_digit_at(text, size, at + 1))
		return duration_size(text, size);

	while (at + 1 < size && is_digit_at(text, size, at + 1)) {
		char mark = text[at];

		if (mark == '.')
			dots++;
		else if (mark == '/')
			slashes++;
		else if (mark == ':' || mark == '-' || mark == 'T')
			marks++;
		else if (mark != ',' || !marks)
			break;
		at += 1 + digits_count(text + at + 1, size - at - 1);
	}
	/* "-1.5" is a number, too. */
	if (!is_digit_at(text, size, 0) ||
	    (!marks && slashes < 2 && dots <= slashes + 1 &&
	     !is_day_with_clock(text, size)))
		return 0;
	/* "Z" behind a time. */
	while (is_letter_at(text, size, at))
		at++;
	return at;
}
