/* json_line.h - lines of JSON in a buffer of fixed size.
 */
#ifndef AGENT_INIT_JSON_LINE_H
#define AGENT_INIT_JSON_LINE_H

#include <stddef.h>

/* Text that does not fit is left out, so the buffer must be large enough for
 * every possible line.
 */
struct json_line {
	char *bytes; /* borrowed; always ends in NUL */
	size_t room;
	size_t size;
};

/* room: more than 0. */
void json_line_init(struct json_line *text, char *bytes, size_t room);
void json_line_add(struct json_line *text, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Append a JSON string; bytes that are not UTF-8 become '?'. It takes at most 6
 * bytes per byte of the string, and 2.
 */
void json_line_string(struct json_line *text, const char *string);

#endif
