/* dockerfile.c - feeds any bytes to the reader of Dockerfiles; what it finds
 * must be references.
 */
#include "protocol/registry/dockerfile.h"
#include "protocol/registry/reference.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	owned(strings_clear) struct strings bases = { 0 };
	struct error err = { 0 };
	struct reference parts;

	if (dockerfile_bases((const char *)data, size, &bases, &err) < 0) {
		if (!err.code || !err.text[0])
			abort();
		return 0;
	}
	if (bases.count > DOCKERFILE_NAMES_MAX)
		abort();
	for (size_t i = 0; i < bases.count; i++)
		if (reference_parse(bases.items[i], &parts, NULL) < 0)
			abort();
	return 0;
}
