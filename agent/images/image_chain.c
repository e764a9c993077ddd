/* image_chain.c - the layers of an image that comes in a file, and which of
 * them an engine has.
 */
#include "agent/images/image_chain.h"

#include "protocol/blob/image_bundle.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <string.h>

void image_chain_clear(struct image_chain *chain)
{
	strings_clear(&chain->diff_ids);
}

int image_chain_read(struct blob_store *blobs, const char *config,
		     size_t layers, struct image_chain *chain,
		     struct error *err)
{
	owned(buffer_clear) struct buffer text =
		BUFFER_INIT(IMAGE_BUNDLE_CONFIG_MAX);
	owned(cJSON_Delete) cJSON *tree = NULL;
	const cJSON *list, *item;

	if (blob_store_text(blobs, config, &text, err) < 0)
		return -1;
	tree = codec_parse(text.data, text.size, err);
	list = json_get(json_get(tree, "rootfs"), "diff_ids");
	cJSON_ArrayForEach(item, list) {
		if (!cJSON_IsString(item))
			return error_set(err, EPROTO,
					 "config %.12s: a layer without a hash",
					 config);
		if (strings_add(&chain->diff_ids, item->valuestring, err) < 0)
			return -1;
	}
	if (!tree || chain->diff_ids.count != layers)
		return error_set(err, EPROTO,
				 "%.12s is not the config of an image of %zu "
				 "layers",
				 config, layers);
	image_content(json_get(tree, "config"), list, chain->content);
	return 0;
}

/* How many layers are the same, from the lowest? */
static size_t chain_common(const struct image_chain *chain, const cJSON *layers)
{
	const cJSON *layer = layers ? layers->child : NULL;
	size_t same = 0;

	while (layer && same < chain->diff_ids.count && cJSON_IsString(layer) &&
	       !strcmp(layer->valuestring, chain->diff_ids.items[same])) {
		same++;
		layer = layer->next;
	}
	return same;
}

bool image_chain_compare(struct image_chain *chain, const cJSON *answer)
{
	size_t same = chain_common(chain, json_get(json_get(answer, "RootFS"),
						   "Layers"));
	char content[IMAGE_CONTENT_SIZE];

	image_inspect_content(answer, content);
	if (same > chain->there)
		chain->there = same;
	return !strcmp(content, chain->content);
}
