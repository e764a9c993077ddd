/* python_literals.c - any bytes as a Python file: read, or refused in words.
 */
#include "controller/sweep/flagperf/python_literals.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every value can be walked; deeper than brackets nest none can be. */
static size_t walk(const struct python_value *value, unsigned depth)
{
	size_t bytes = value->text ? strlen(value->text) : 0;

	if (depth > 8)
		return bytes;
	for (size_t i = 0; i < value->count && i < 100; i++) {
		bytes += walk(value->items[i], depth + 1);
		if (value->kind == PYTHON_DICT)
			bytes += walk(value->keys[i], depth + 1);
	}
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = { 0 };
	owned(python_free) struct python *python =
		python_read((const char *)data, size, "fuzz", &err);
	const char *name;
	unsigned line;

	if (!python) {
		/* A refusal has a sentence. */
		if (!err.code || !*err.text)
			abort();
		return 0;
	}
	for (size_t i = 0; (name = python_name(python, i, &line)); i++) {
		const struct python_value *value =
			python_get(python, name, &err);

		if (value)
			walk(value, 0);
		else if (!*err.text)
			abort();
	}
	return 0;
}
