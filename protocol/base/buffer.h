/* buffer.h - a byte buffer that grows up to a limit.
 *
 * data[size] is always 0, so text in a buffer is a C string. An empty buffer
 * owns nothing and data is "" (never NULL).
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stddef.h>

struct buffer {
	char *data;
	size_t size;
	size_t capacity; /* 0: nothing owned */
	size_t limit;    /* size never exceeds it */
};

extern char buffer_empty[1];

/* struct buffer text = BUFFER_INIT(4096); */
#define BUFFER_INIT(max)                                                       \
	{                                                                      \
		.data = buffer_empty, .limit = (max)                           \
	}
void buffer_init(struct buffer *buffer, size_t limit);
void buffer_clear(struct buffer *buffer); /* empty again, limit kept */
OWNED_VALUE(struct buffer, buffer_clear)

/* Append. E2BIG past the limit, ENOMEM; the buffer is then unchanged. */
int buffer_append(struct buffer *buffer, const void *data, size_t size,
		  struct error *err);
int buffer_text(struct buffer *buffer, const char *text, struct error *err);
int buffer_printf(struct buffer *buffer, struct error *err, const char *fmt,
		  ...) __attribute__((format(printf, 3, 4)));

/* Make room for `extra` more bytes behind size (and the 0): write there, then
 * add to size yourself.
 */
int buffer_reserve(struct buffer *buffer, size_t extra, struct error *err);

/* Drop the first `size` bytes (at most all). */
void buffer_consume(struct buffer *buffer, size_t size);

/* The bytes as a heap string that the caller frees; the buffer is empty
 * afterwards. NULL when memory runs out.
 */
char *buffer_take(struct buffer *buffer);
