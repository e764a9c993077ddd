/* why.h - the sentence that says why something failed.
 *
 * The trainer stands alone: it includes nothing outside of this folder. A call
 * that fails returns -1 or NULL and fills it.
 */
#ifndef IMAGES_CPU_WHY_H
#define IMAGES_CPU_WHY_H

struct why {
	char text[240]; /* one line; long text is cut */
};

/* Fill *why and return -1. */
int start_error_set(struct why *why, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* start_error_set() with ": " and the calling errno's words appended. */
int start_error_errno(struct why *why, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
