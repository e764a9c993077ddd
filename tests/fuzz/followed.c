/* followed.c - feeds any bytes to the reader of the index of followed files;
 * what it takes must be a stream that the node may use.
 */
#include "protocol/followed.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static void check(void *arg, const char *line, size_t size)
{
	struct followed file = { 0 };
	struct error err = { 0 };

	must(size <= FOLLOWED_LINE_MAX && !memchr(line, '\n', size));
	if (followed_parse(line, size, 3, &file, &err) < 0) {
		must(err.code && err.text[0] && !file.stream && !file.path);
		return;
	}
	must(file.stream && (file.path ? followed_belongs(3, file.stream) &&
						 !followed_is_index(file.stream)
				       : !strncmp(file.stream, "rank-", 5)));
	followed_clear(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t done = followed_lines((const char *)data, size, check, NULL);

	must(done <= size && !memchr(data + done, '\n', size - done));
	return 0;
}
