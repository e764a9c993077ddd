/* owned.h - release of what a variable owns when it goes out of scope.
 *
 *	owned(buffer_clear) struct buffer text = BUFFER_INIT(4096);
 *	owned_free char *name = strdup("x");
 *	return take(name);
 *
 * owned(f) calls f(&variable) for embedded objects (_clear) and f(variable)
 * for pointers (_free), through a small adapter that OWNED_POINTER makes
 * beside each _free function. Initialise every owned variable. take(p)
 * yields p and leaves NULL behind, so the release does nothing.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define owned(f) __attribute__((cleanup(f##_owned)))

/* Beside the declaration of noun_free(struct noun *): */
#define OWNED_POINTER(type, f)                                                 \
	static inline void f##_owned(type **p)                                 \
	{                                                                      \
		if (*p)                                                        \
			f(*p);                                                 \
	}

/* Beside the declaration of noun_clear(struct noun *): */
#define OWNED_VALUE(type, f)                                                   \
	static inline void f##_owned(type *p)                                  \
	{                                                                      \
		f(p);                                                          \
	}

#define take(p)                                                                \
	({                                                                     \
		__typeof__(p) take_value_ = (p);                               \
		(p) = NULL;                                                    \
		take_value_;                                                   \
	})

static inline void owned_free_release(void *p)
{
	free(*(void **)p);
}
#define owned_free __attribute__((cleanup(owned_free_release)))

static inline void owned_fd_release(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define owned_fd __attribute__((cleanup(owned_fd_release)))

static inline int take_fd(int *fd)
{
	int value = *fd;

	*fd = -1;
	return value;
}

static inline void owned_file_release(FILE **f)
{
	if (*f)
		fclose(*f);
}
#define owned_file __attribute__((cleanup(owned_file_release)))
