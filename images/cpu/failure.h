/* failure.h - the sentence that says why something failed.
 *
 * The trainer stands alone: it includes nothing outside of this folder. A call
 * that fails returns -1 or NULL and fills it.
 */
#pragma once

struct failure {
	char text[240]; /* one line; long text is cut */
};

/* Fill *failure and return -1. */
int failure_set(struct failure *failure, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* failure_set() with ": " and the calling errno's words appended. */
int failure_errno(struct failure *failure, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
