/* label_sieve.h - drops the labels of others from a list of the engine's while
 * it comes.
 *
 * A list has the labels of each image and container. Whoever makes an image
 * chooses them, for its containers, too, and they may be larger than all that
 * is kept of an answer. Ours are short, and few.
 */
#pragma once

#include "protocol/base/buffer.h"

#include <stdbool.h>

#define LABEL_SIEVE_OURS "regatta." /* how the names of ours begin */

struct label_sieve {
	struct buffer text; /* JSON, what is left of it */
	bool string, escaped;
	size_t begin; /* in text: of the string, or of the label */
	bool named;   /* "Labels" came last */
	bool inside;  /* an object of that name */
	bool dropped; /* the label is too long */
	unsigned int depth, kept;
};

/* limit: bytes of what is left. */
void label_sieve_init(struct label_sieve *sieve, size_t limit);
void label_sieve_clear(struct label_sieve *sieve);
OWNED_VALUE(struct label_sieve, label_sieve_clear)

/* The next bytes of the answer. E2BIG, ENOMEM. */
int label_sieve_feed(struct label_sieve *sieve, const char *data, size_t size,
		     struct error *err);
