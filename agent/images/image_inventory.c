/* image_inventory.c - all images of the engine, with what is known of each. */
#include "agent/images/image_inventory.h"
#include "agent/docker/image_inspect.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IMAGES_MAX 8192 /* images are compared pairwise */

void image_inventory_clear(struct image_inventory *inventory)
{
	for (size_t i = 0; i < inventory->count; i++)
		codec_clear(&image_info_schema, &inventory->images[i]);
	free(inventory->images);
	free(inventory->root);
	*inventory = (struct image_inventory){ 0 };
}

/* The list. */

static uint64_t image_inventory_read_number(const cJSON *object,
					    const char *name)
{
	const cJSON *item = json_get(object, name);

	return cJSON_IsNumber(item) && item->valuedouble > 0 &&
			       item->valuedouble < 9e15
		       ? (uint64_t)item->valuedouble
		       : 0;
}

/* Names of a kind: tags have ':', digests '@', and containerd's store lists
 * both as tags. Not the "<none>:<none>" of an image without any.
 */
static int image_inventory_read_names(const cJSON *list, bool digests,
				      struct strings *names, struct error *err)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
		if (cJSON_IsString(item) &&
		    !strchr(item->valuestring, '@') == !digests &&
		    strncmp(item->valuestring, "<none>", 6) != 0 &&
		    strings_add(names, item->valuestring, err) < 0)
			return -1;
	return 0;
}

static int image_inventory_read_image(const cJSON *item,
				      struct image_info *image,
				      struct error *err)
{
	const cJSON *labels = json_get(item, "Labels");
	const char *id = json_get_text(item, "Id");
	const char *origin =
		json_get_text(labels, CONTEXT_LABEL) ? "built" : NULL;

	if (!id)
		return error_set(err, EPROTO, "images: an image has no id");
	*image = (struct image_info){
		.id = strdup(id),
		.origin = origin ? strdup(origin) : NULL,
		.bytes = image_inventory_read_number(item, "Size"),
		.created_ms =
			image_inventory_read_number(item, "Created") * 1000,
	};
	if (!image->id || (origin && !image->origin))
		return error_nomem(err, "images");
	if (image_inventory_read_names(json_get(item, "RepoTags"), false,
				       &image->tags, err) < 0)
		return -1;
	return image_inventory_read_names(json_get(item, "RepoDigests"), true,
					  &image->digests, err);
}

int image_inventory_read(const cJSON *list, struct image_inventory *inventory,
			 struct error *err)
{
	owned(image_inventory_clear) struct image_inventory found = { 0 };
	int count = cJSON_GetArraySize(list);
	const cJSON *item;

	if (!cJSON_IsArray(list))
		return error_set(err, EPROTO,
				 "images: the answer of the engine is not a "
				 "list");
	if (count > IMAGES_MAX)
		return error_set(err, E2BIG,
				 "images: %d images; expected at most %d",
				 count, IMAGES_MAX);
	found.images = calloc((size_t)count + 1, sizeof(*found.images));
	if (!found.images)
		return error_nomem(err, "images");
	cJSON_ArrayForEach(item, list)
		if (image_inventory_read_image(item,
					       &found.images[found.count++],
					       err) < 0)
			return -1;
	inventory->images = take(found.images);
	inventory->count = found.count;
	found.count = 0;
	return 0;
}

static void info_clear(struct image_info *info)
{
	codec_clear(&image_info_schema, info);
}
OWNED_VALUE(struct image_info, info_clear)

bool image_is_ours(struct image_usage *usage, const cJSON *inspected, bool used)
{
	owned(info_clear) struct image_info image = { 0 };

	if (image_inventory_read_image(inspected, &image, NULL) < 0)
		return false;
	image_usage_tell(usage, &image);
	return image.origin || (used && image.used_ms);
}

void image_inventory_count(struct image_inventory *inventory,
			   struct image_usage *usage, const cJSON *containers)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, containers) {
		const char *id = json_get_text(item, "ImageID");

		for (size_t i = 0; id && i < inventory->count; i++)
			if (!strcmp(inventory->images[i].id, id))
				inventory->images[i].containers++;
	}
	for (size_t i = 0; i < inventory->count; i++)
		image_usage_tell(usage, &inventory->images[i]);
	image_usage_keep_only(usage, inventory->images, inventory->count);
}
