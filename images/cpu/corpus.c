/* corpus.c - the text to learn from, and which part of it is which sample. */
#include "images/cpu/corpus.h"
#include "images/cpu/random.h"

#include <errno.h>

int corpus_read(const char *path, struct corpus *corpus,
		struct failure *failure)
{
	FILE *file = fopen(path, "re");
	uint8_t *bytes = NULL;
	size_t size = 0, room = 0;

	*corpus = (struct corpus){ 0 };
	if (!file)
		return failure_errno(failure, "--corpus: %.150s", path);
	while (size <= CORPUS_MAX && !feof(file) && !ferror(file)) {
		if (size == room) {
			uint8_t *more = realloc(bytes, room + (1 << 20));

			if (!more)
				break;
			bytes = more;
			room += 1 << 20;
		}
		size += fread(bytes + size, 1, room - size, file);
	}
	if (feof(file) && size <= CORPUS_MAX) {
		*corpus = (struct corpus){ bytes, size };
		fclose(file);
		return 0;
	}
	if (ferror(file))
		failure_errno(failure, "--corpus: %.150s", path);
	else if (size > CORPUS_MAX)
		failure_set(failure, "--corpus: %.150s: more than %d MiB", path,
			    CORPUS_MAX >> 20);
	else
		failure_set(failure, "--corpus: out of memory");
	free(bytes);
	fclose(file);
	return -1;
}

void corpus_clear(struct corpus *corpus)
{
	free(corpus->bytes);
	*corpus = (struct corpus){ 0 };
}

void corpus_sample(const struct corpus *corpus, uint64_t seed, uint64_t index,
		   size_t length, uint8_t *out)
{
	uint64_t state = seed * 0x2545f4914f6cdd1d + index;
	size_t first = random_next(&state) % (corpus->size - length + 1);

	memcpy(out, corpus->bytes + first, length);
}
