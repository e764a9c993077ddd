/* utf8.h - reads and writes UTF-8 characters.
 *
 * Well-formed is what RFC 3629, section 4, allows: no overlong forms, no
 * surrogates, nothing past U+10FFFF. NUL is a character as any other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A character that comes byte by byte. Starts as zeros. */
struct utf8 {
	unsigned more; /* bytes still to come */
	uint8_t low, high;
};

/* false: the byte cannot stand here; the state is of no use any more. */
bool utf8_take(struct utf8 *state, uint8_t byte);

/* Bytes of the character at text[0..size), 0: there is none that is whole and
 * well-formed. size is at least 1. code may be NULL.
 */
size_t utf8_character(const char *text, size_t size, uint32_t *code);

/* At most size, and not inside a character: where to cut a text that goes on
 * there.
 */
size_t utf8_cut(const char *text, size_t size);

/* Columns that a text takes on a terminal: 2 for the wide characters of East
 * Asian scripts and for pictures (Unicode Standard Annex 11, by blocks), none
 * for marks over others, and 1 for a byte of a broken one.
 */
size_t utf8_width(const char *text);

/* Bytes of the text that fit in so many columns. */
size_t utf8_fit(const char *text, size_t columns);

/* Is it a control character beyond ASCII (C1), or does it end a line or turn
 * the direction of writing, so that a text reads as another one?
 */
bool utf8_turns(uint32_t code);

/* Bytes written, 0: there is no such character. */
size_t utf8_encode(uint32_t code, char to[4]);
