/* corpus.h - the text to learn from, and which part of it is which sample.
 */
#pragma once

#include "images/cpu/failure.h"

#include <stddef.h>
#include <stdint.h>

#define CORPUS_MAX (64 << 20) /* bytes */

struct corpus {
	uint8_t *bytes;
	size_t size;
};

/* Read a file of at most CORPUS_MAX bytes. */
int corpus_read(const char *path, struct corpus *corpus,
		struct failure *failure);
void corpus_clear(struct corpus *corpus);

/* Copy sample `index` of `length` bytes (at most the corpus's size) to out. It
 * depends on seed and index alone: whoever takes it, sample 17 is the same.
 */
void corpus_sample(const struct corpus *corpus, uint64_t seed, uint64_t index,
		   size_t length, uint8_t *out);
