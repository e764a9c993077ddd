/* strings.h - a growing list of texts.
 *
 * A call that fails leaves the list as it was. { 0 } is an empty list.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stddef.h>

/* The longest text that strings_printf() makes, in bytes. */
#define STRINGS_ITEM_MAX 262144

/* items and each item are owned. */
struct strings {
	char **items;
	size_t count;
};

void strings_clear(struct strings *strings); /* and it is empty again */
OWNED_VALUE(struct strings, strings_clear)

/* A copy of the text is added. ENOMEM. */
int strings_add(struct strings *strings, const char *text, struct error *err);

/* As printf(3). E2BIG: longer than STRINGS_ITEM_MAX; ENOMEM. */
int strings_printf(struct strings *strings, struct error *err, const char *fmt,
		   ...) __attribute__((format(printf, 3, 4)));

/* Characters for strspn(3). */
#define ASCII_LOWER "abcdefghijklmnopqrstuvwxyz"
#define ASCII_LETTERS ASCII_LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define ASCII_DIGITS "0123456789"

/* Is it 1 to max bytes, all of them of these characters? */
bool text_is_of(const char *text, size_t max, const char *characters);

/* Is the text in the list? */
bool strings_has(const struct strings *strings, const char *text);

/* Append to a text of this size as printf(3) does; what does not fit is cut. */
void text_append(char *text, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* `to` becomes a copy of `from`. ENOMEM. */
int strings_copy(struct strings *to, const struct strings *from,
		 struct error *err);
