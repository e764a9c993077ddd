/* python_files.c - any bytes as python3's answer: decoded, or refused in words.
 */
#include "controller/sweep/flagperf/conf.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char a[] = "a.py", b[] = "b.py", *names[] = { a, b };
	const struct strings paths = { .items = names, .count = 2 };
	struct error err = { 0 };
	owned(python_files_free) struct python_files *files =
		python_files_decode((const char *)data, size, &paths, &err);

	if (!files) {
		/* A refusal has a sentence. */
		if (!err.code || !*err.text)
			abort();
		return 0;
	}
	for (size_t i = 0; i < paths.count; i++) {
		owned(conf_clear) struct conf conf;
		struct conf_hint hints[CONF_HINTS];

		conf_init(&conf);
		err = (struct error){ 0 };
		if (conf_read_python(&conf, files, i, &err) < 0 && !*err.text)
			abort();
		conf_hints(files, i, hints);
	}
	return 0;
}
