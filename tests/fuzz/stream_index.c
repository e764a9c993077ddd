/* stream_index.c - feeds any bytes to the reader of the index of followed
 * files; what it takes must be a stream that the node may use.
 */
#include "protocol/message/stream_index.h"

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
	struct stream_index file = { 0 };
	struct error err = { 0 };

	must(size <= STREAM_INDEX_LINE_MAX && !memchr(line, '\n', size));
	if (stream_index_parse(line, size, 3, &file, &err) < 0) {
		must(err.code && err.text[0] && !file.stream && !file.path);
		return;
	}
	must(file.stream &&
	     (file.path ? stream_index_belongs(3, file.stream) &&
				  !stream_index_is_index(file.stream)
			: !strncmp(file.stream, "rank-", 5)));
	stream_index_clear(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t done = stream_index_lines((const char *)data, size, check, NULL);

	must(done <= size && !memchr(data + done, '\n', size - done));
	return 0;
}
