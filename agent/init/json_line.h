/* json_line.h - lines of JSON, written into room that is there from the start.
 */
#ifndef AGENT_INIT_JSON_LINE_H
#define AGENT_INIT_JSON_LINE_H

#include <stddef.h>

/* What does not fit is left out: whoever sizes the room makes it large enough
 * for anything that may come.
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

/* A JSON string; what is not UTF-8 shows as '?'. At most 6 bytes for each of
 * the string's, and 2.
 */
void json_line_string(struct json_line *text, const char *string);

#endif
