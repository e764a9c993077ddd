/* buffer.c - a byte buffer that grows up to a limit.
 */
#include "protocol/base/buffer.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char buffer_empty[1];

void buffer_init(struct buffer *buffer, size_t limit)
{
	*buffer = (struct buffer)BUFFER_INIT(limit);
}

void buffer_clear(struct buffer *buffer)
{
	if (buffer->capacity)
		free(buffer->data);
	buffer_init(buffer, buffer->limit);
}

int buffer_reserve(struct buffer *buffer, size_t extra, struct error *err)
{
	size_t need, capacity;
	char *data;

	/* The second condition: with a limit of SIZE_MAX there is no room
	 * for the 0 at the end. */
	if (extra > buffer->limit - buffer->size ||
	    extra >= SIZE_MAX - buffer->size)
		return error_set(err, E2BIG, "more than %zu bytes",
				 buffer->limit);
	need = buffer->size + extra + 1;
	if (need <= buffer->capacity)
		return 0;
	capacity = buffer->capacity ? buffer->capacity * 2 : 256;
	if (capacity < need)
		capacity = need;
	if (capacity - 1 > buffer->limit)
		capacity = buffer->limit + 1;
	data = realloc(buffer->capacity ? buffer->data : NULL, capacity);
	if (!data)
		return error_nomem(err, "buffer");
	data[buffer->size] = 0;
	buffer->data = data;
	buffer->capacity = capacity;
	return 0;
}

int buffer_append(struct buffer *buffer, const void *data, size_t size,
		  struct error *err)
{
	if (!size)
		return 0;
	if (buffer_reserve(buffer, size, err) < 0)
		return -1;
	memcpy(buffer->data + buffer->size, data, size);
	buffer->size += size;
	buffer->data[buffer->size] = 0;
	return 0;
}

int buffer_text(struct buffer *buffer, const char *text, struct error *err)
{
	return buffer_append(buffer, text, strlen(text), err);
}

int buffer_printf(struct buffer *buffer, struct error *err, const char *fmt,
		  ...)
{
	va_list args;
	int need;

	va_start(args, fmt);
	need = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (need < 0)
		return error_set(err, EINVAL, "buffer: cannot format");
	if (!need)
		return 0;
	if (buffer_reserve(buffer, (size_t)need, err) < 0)
		return -1;
	va_start(args, fmt);
	vsnprintf(buffer->data + buffer->size, (size_t)need + 1, fmt, args);
	va_end(args);
	buffer->size += (size_t)need;
	return 0;
}

void buffer_consume(struct buffer *buffer, size_t size)
{
	if (!size)
		return;
	if (size >= buffer->size) {
		buffer->size = 0;
	} else {
		buffer->size -= size;
		memmove(buffer->data, buffer->data + size, buffer->size);
	}
	buffer->data[buffer->size] = 0;
}

char *buffer_take(struct buffer *buffer)
{
	char *data = buffer->capacity ? buffer->data : strdup("");

	buffer_init(buffer, buffer->limit);
	return data;
}
