/* strings.c - a growing list of texts.
 */
#include "protocol/base/strings.h"
#include "protocol/base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strings_clear(struct strings *strings)
{
	for (size_t i = 0; i < strings->count; i++)
		free(strings->items[i]);
	free(strings->items);
	*strings = (struct strings){ 0 };
}

int strings_add(struct strings *strings, const char *text, struct error *err)
{
	owned_free char *copy = strdup(text);
	char **items;

	if (!copy)
		return error_nomem(err, "list");
	/* The room is always a power of two, so it is not stored. */
	if (!(strings->count & (strings->count - 1))) {
		size_t room = strings->count ? strings->count * 2 : 1;

		items = realloc(strings->items, room * sizeof(*items));
		if (!items)
			return error_nomem(err, "list");
		strings->items = items;
	}
	strings->items[strings->count++] = take(copy);
	return 0;
}

bool text_is_of(const char *text, size_t max, const char *characters)
{
	size_t size = strlen(text);

	return size && size <= max && strspn(text, characters) == size;
}

bool strings_has(const struct strings *strings, const char *text)
{
	for (size_t i = 0; i < strings->count; i++)
		if (!strcmp(strings->items[i], text))
			return true;
	return false;
}

int strings_printf(struct strings *strings, struct error *err, const char *fmt,
		   ...)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(STRINGS_ITEM_MAX);
	va_list args;
	int need;

	va_start(args, fmt);
	need = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (need < 0 || buffer_reserve(&text, (size_t)need, err) < 0)
		return error_prefix(err, "list");
	va_start(args, fmt);
	vsnprintf(text.data, (size_t)need + 1, fmt, args);
	va_end(args);
	return strings_add(strings, text.data, err);
}

int strings_copy(struct strings *to, const struct strings *from,
		 struct error *err)
{
	owned(strings_clear) struct strings copy = { 0 };

	for (size_t i = 0; i < from->count; i++)
		if (strings_add(&copy, from->items[i], err) < 0)
			return -1;
	strings_clear(to);
	*to = copy;
	copy = (struct strings){ 0 };
	return 0;
}

void text_append(char *text, size_t size, const char *fmt, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + used, size - used, fmt, args);
	va_end(args);
}
