/* list_sieve.h - drops what others choose from a list of the engine's while it
 * comes.
 *
 * Whoever makes an image chooses its labels, volumes, ports and command. Lists
 * of images and of containers repeat them, and may be larger by them than all
 * that is kept of an answer. What is left of an item are its Id, names, Image,
 * ImageID, State, Size, Created and our labels; all else is null.
 */
#pragma once

#include "protocol/base/buffer.h"

#include <stdbool.h>

#define LIST_SIEVE_OURS "regatta." /* how the names of our labels begin */

struct list_sieve {
	struct buffer text; /* JSON, what is left of it */
	enum { SIEVE_ALL, SIEVE_OBJECT, SIEVE_LABELS, SIEVE_NOTHING } keeps;
	bool string, escaped;
	bool named;   /* a string came last */
	size_t begin; /* in text: of that string, or of the label */
	bool dropped; /* the label is too long */
	unsigned int depth, kept;
};

/* limit: bytes of what is left. */
void list_sieve_init(struct list_sieve *sieve, size_t limit);
void list_sieve_clear(struct list_sieve *sieve);
OWNED_VALUE(struct list_sieve, list_sieve_clear)

/* The next bytes of the answer. E2BIG, ENOMEM. */
int list_sieve_feed(struct list_sieve *sieve, const char *data, size_t size,
		    struct error *err);
