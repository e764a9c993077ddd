/* text.h - lines of JSON, written into room that is there from the start.
 */
#ifndef AGENT_INIT_TEXT_H
#define AGENT_INIT_TEXT_H

#include <stddef.h>

/* What does not fit is left out: whoever sizes the room makes it large enough
 * for anything that may come.
 */
struct text {
	char *bytes; /* borrowed; always ends in NUL */
	size_t room;
	size_t size;
};

/* room: more than 0. */
void text_init(struct text *text, char *bytes, size_t room);
void text_add(struct text *text, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A JSON string; what is not UTF-8 shows as '?'. At most 6 bytes for each of
 * the string's, and 2.
 */
void text_string(struct text *text, const char *string);

#endif
