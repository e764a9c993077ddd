/* python_text.h - the characters of a Python file: blanks, names, numbers,
 * strings, logical lines.
 *
 * Source: The Python Language Reference 3.11, 2 (Lexical analysis).
 */
#ifndef CONTROLLER_SWEEP_FLAGPERF_PYTHON_TEXT_H
#define CONTROLLER_SWEEP_FLAGPERF_PYTHON_TEXT_H

#include "protocol/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* A place in a text that ends in NUL; plain data, may be copied. */
struct python_text {
	const char *at;
	unsigned line;     /* from 1 */
	unsigned brackets; /* open ones: line ends are blanks then */
	bool indented;     /* the logical line at hand begins with a blank */
};

void python_text_init(struct python_text *text, const char *start);

/* Go to the next statement; false: there is none. */
bool python_text_next(struct python_text *text);

/* Go over blanks, joined lines and, inside brackets, line ends and comments. */
void python_text_blank(struct python_text *text);

/* Does a statement end here, whatever comment comes behind? */
bool python_text_ends(const struct python_text *text);

/* Go over the next word, string, bracket or sign of the statement. 1: done; 0:
 * it ends here; EINVAL: a string or bracket is open.
 */
int python_text_step(struct python_text *text, struct error *err);

/* Bytes of the name here; 0: there is none. */
size_t python_text_name(const struct python_text *text);

/* Is the name here given a value, NAME = or NAME +=? first: it begins a
 * statement, so that it may also be changed by NAME[...], NAME.x, NAME: or
 * NAME, ...
 */
bool python_text_changes(const struct python_text *text, bool first);

/* Bytes of what stands here up to the end of the line, at most `most`, never
 * cut inside a UTF-8 sequence.
 */
size_t python_text_word(const struct python_text *text, size_t most);

struct python_number {
	bool integer;
	double value;
	char text[40]; /* as str() shows it */
};
void python_number_show(struct python_number *number);

/* Read a number, also with a sign; false: it is something else, and the place
 * has not moved.
 */
bool python_text_number(struct python_text *text, struct python_number *number);

/* Is a string literal here, whatever its prefix? */
bool python_text_is_string(const struct python_text *text);

/* Append what the string stands for. OPAQUE: bytes, a formatted string, or an
 * escape for what is no text: the place has not moved; BAD: nothing closes it.
 */
enum python_string {
	PYTHON_STRING_GOOD,
	PYTHON_STRING_OPAQUE,
	PYTHON_STRING_BAD,
};
enum python_string python_text_string(struct python_text *text,
				      struct buffer *out, struct error *err);

#endif
