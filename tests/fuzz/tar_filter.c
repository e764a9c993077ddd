/* tar_filter.c - feeds any bytes to the sifting of tar streams: whatever passes
 * is no more than what came, and a tail of zeros.
 */
#include "agent/blobs/tar_filter.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count(void *arg, const void *data, size_t size, struct error *err)
{
	*(size_t *)arg += size;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece = size ? data[0] * 8 + 1 : 1, passed = 0;
	owned(tar_filter_free) struct tar_filter *filter =
		tar_filter_new("**/*.json", UINT64_MAX, count, &passed, NULL);
	struct error err;

	for (size_t at = 0; at < size; at += piece) {
		size_t some = piece < size - at ? piece : size - at;

		if (tar_filter_feed(filter, data + at, some, &err) < 0)
			return 0;
	}
	if (tar_filter_end(filter, &err) < 0)
		return 0;
	if (passed > size + 1024)
		abort();
	return 0;
}
