/* manifest.c - what registries say: manifests and indexes.
 */
#include "agent/registry/registry.h"

#include "protocol/message/codec.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define BYTES_LIMIT 9007199254740992.0 /* 2^53 */

static const char *text_of(const cJSON *object, const char *name)
{
	const char *text = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(object, name));

	return text ? text : "";
}

bool registry_is_digest(const char *text)
{
	return !strncmp(text, "sha256:", 7) && strlen(text) == 71 &&
	       strspn(text + 7, "0123456789abcdef") == 64;
}

static int read_layer(const cJSON *item, struct registry_image *image,
		      struct error *err)
{
	const char *digest = text_of(item, "digest");
	const cJSON *size = cJSON_GetObjectItemCaseSensitive(item, "size");
	struct registry_layer *layer;

	if (!registry_is_digest(digest) || !cJSON_IsNumber(size) ||
	    !(size->valuedouble >= 0 && size->valuedouble <= BYTES_LIMIT))
		return error_set(err, EPROTO,
				 "manifest: a layer without digest or size");
	if (image->count == REGISTRY_LAYERS_MAX)
		return error_set(err, E2BIG,
				 "manifest: more than %d layers found",
				 REGISTRY_LAYERS_MAX);
	layer = &image->layers[image->count++];
	memcpy(layer->digest, digest, 72);
	layer->bytes = (uint64_t)size->valuedouble;
	image->bytes += layer->bytes;
	return 0;
}

static int choose(const cJSON *list, const char *machine, char *variant,
		  struct error *err)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		const cJSON *platform =
			cJSON_GetObjectItemCaseSensitive(item, "platform");
		const char *digest = text_of(item, "digest");

		if (strcmp(text_of(platform, "architecture"), machine) != 0 ||
		    strcmp(text_of(platform, "os"), "linux") != 0 ||
		    !registry_is_digest(digest))
			continue;
		memcpy(variant, digest, 72);
		return 0;
	}
	return error_set(err, ENOENT, "no variant for linux/%s", machine);
}

static int read_tree(const cJSON *tree, const char *machine,
		     struct registry_image *image, char *variant,
		     struct error *err)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(tree, "manifests");
	const cJSON *item;

	if (cJSON_IsArray(list))
		return choose(list, machine, variant, err);
	list = cJSON_GetObjectItemCaseSensitive(tree, "layers");
	if (!cJSON_IsArray(list))
		return error_set(err, EPROTO,
				 "manifest: neither layers nor manifests");
	image->count = 0;
	image->bytes = 0;
	cJSON_ArrayForEach(item, list)
	{
		if (read_layer(item, image, err) < 0)
			return -1;
	}
	variant[0] = 0;
	return 0;
}

int registry_parse(const char *text, size_t size, const char *machine,
		   struct registry_image *image, char *variant,
		   struct error *err)
{
	cJSON *tree = codec_parse(text, size, err);
	int rc;

	if (!tree)
		return error_prefix(err, "manifest");
	rc = read_tree(tree, machine, image, variant, err);
	cJSON_Delete(tree);
	return rc;
}
