/* error.h - the error type of every call that can fail: a code and a
 * sentence.
 *
 * A call that can fail returns 0 or -1 (or a pointer or NULL) and takes
 * `struct error *err` last; err may be NULL. The lowest level names the thing
 * ("rank: out of range"), each level above adds its place in front.
 * An error owns no memory and may be copied freely.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

struct error {
	int code;       /* errno value, never 0; sent on the wire unchanged */
	char text[240]; /* one line, no newline; long text ends in "..." */
};

/* Fill *err (NULL is fine) and return -1. Control characters in the text and
 * bytes that are not UTF-8 are shown as '?' (printable.h), so that hostile
 * input cannot break a log line, a terminal or a message.
 */
int error_set(struct error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int error_vset(struct error *err, int code, const char *fmt, va_list args)
	__attribute__((format(printf, 3, 0)));

/* Put "place: " in front of the text that is there and return -1. */
int error_prefix(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* NULL, for calls that return a pointer: return error_null(error_set(...)). */
static inline void *error_null(int failed)
{
	(void)failed;
	return NULL;
}

/* error_set() with ENOMEM and "what: out of memory". */
int error_nomem(struct error *err, const char *what);

/* Zeroed memory for one object; the caller frees it. NULL: error_nomem(). */
void *error_calloc(size_t size, const char *what, struct error *err);

/* error_set() with the calling errno and ": " strerror appended. */
int error_errno(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
