/* cause_line.h - a line of a program's output, without its prefixes. */
#pragma once

#include "controller/causes/failure_patterns.h"

struct cause_line {
	const char *text;
	size_t size;
	uint64_t number;  /* from 1 */
	int64_t rank;     /* that its prefix tells, or -1 */
	const char *host; /* the same; NULL: unknown */
	size_t host_size;
	struct line_pairs pairs; /* of its text */
};

/* Remove colours, other terminal escapes, and blanks at the end, in place: the
 * size that is left.
 */
size_t cause_line_plain(char *text, size_t size);

bool cause_line_has(const struct cause_line *line, const char *text);

/* Is it indented, or behind the bar of a group of exceptions? */
bool cause_line_indented(const struct cause_line *line);

/* A sum of all but the numbers, which tells lines of a kind. */
uint64_t cause_line_shape(const struct cause_line *line);

/* A copy for quotes, valid UTF-8, of at most CAUSE_LINE_MAX bytes; NULL: no
 * memory.
 */
#define CAUSE_LINE_MAX 1024
char *cause_line_quoted(const char *text, size_t size);

static inline bool byte_digit(char c)
{
	return c >= '0' && c <= '9';
}
