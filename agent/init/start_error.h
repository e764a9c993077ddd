/* start_error.h - the sentence that says why something failed.
 *
 * regatta-init stands alone (it includes nothing of the other rooms), so it
 * has its own small error type: a call that fails returns -1 and fills it.
 */
#ifndef AGENT_INIT_START_ERROR_H
#define AGENT_INIT_START_ERROR_H

struct start_error {
	char text[240]; /* "": nothing failed; long text is cut */
};

/* Fill *why and return -1. The text may have any bytes: record_write() makes it
 * safe for JSON.
 */
int start_error_set(struct start_error *why, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* start_error_set() with ": " and the calling errno's words appended. */
int start_error_errno(struct start_error *why, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
