/* digit_text.h - texts of digits that are no number.
 */
#pragma once

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>

static inline bool is_digit_at(const char *text, size_t size, size_t at)
{
	return at < size && text[at] >= '0' && text[at] <= '9';
}

static inline bool is_letter_at(const char *text, size_t size, size_t at)
{
	return at < size && isalpha((unsigned char)text[at]);
}

/* The bytes of a date, a clock, a version, an address, or a duration such as
 * "1s194ms", that begins the text; 0: it is a plain number, or a ratio.
 */
size_t compound_size(const char *text, size_t size);
