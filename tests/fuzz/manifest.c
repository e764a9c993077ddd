/* manifest.c - fuzz what registries say: manifests, indexes, challenges, and
 * how long to wait.
 *
 * A manifest that is taken has layers with digests, and not too many.
 */
#include "agent/registry/registry.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct registry_image image;
	char variant[72] = "", value[64];
	char *text = malloc(size + 1);
	struct http_answer answer = { .headers = text };

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	memset(&image, 0, sizeof(image));
	if (registry_parse(text, size, "amd64", &image, variant, NULL) == 0 &&
	    (image.count > REGISTRY_LAYERS_MAX ||
	     (*variant && strlen(variant) != 71) ||
	     (image.count && strlen(image.layers[0].digest) != 71)))
		abort();
	if (repository_challenge(text, "realm", value, sizeof(value)) &&
	    (!*value || strlen(value) >= sizeof(value)))
		abort();
	if (http_wait_s(&answer, 1795282710) > HTTP_WAIT_MAX_S)
		abort();
	free(text);
	return 0;
}
