/* imagelist.c - finds the images of an image file by its manifest.
 */
#include "controller/cli/imagelist.h"

#include "protocol/message/json_get.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NESTED_MAX 2 /* indexes in an index */
#define LIST_NAME "manifest.json"

/* The member, if it is a list. */
static const cJSON *list_in(const cJSON *object, const char *name)
{
	const cJSON *item = json_get(object, name);

	return cJSON_IsArray(item) ? item : NULL;
}

void texts_clear(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		free(texts->list[i].path);
		free(texts->list[i].data);
	}
	free(texts->list);
	memset(texts, 0, sizeof(*texts));
}

int texts_add(struct texts *texts, const char *path, const char *data,
	      size_t size, struct error *err)
{
	struct text *list, *text;

	if (texts->bytes + size > TEXTS_MAX)
		return 0;
	list = reallocarray(texts->list, texts->count + 1, sizeof(*list));
	if (!list)
		return error_nomem(err, "image file");
	texts->list = list;
	text = &list[texts->count];
	text->path = strdup(path);
	text->data = malloc(size + 1);
	text->size = size;
	if (!text->path || !text->data) {
		free(text->path);
		free(text->data);
		return error_nomem(err, "image file");
	}
	memcpy(text->data, data, size);
	text->data[size] = 0;
	texts->count++;
	texts->bytes += size;
	return 0;
}

/* "./a" is "a". */
static const char *plain(const char *path)
{
	return strncmp(path, "./", 2) ? path : path + 2;
}

const struct text *texts_find(const struct texts *texts, const char *path)
{
	for (size_t i = 0; i < texts->count; i++)
		if (!strcmp(plain(texts->list[i].path), plain(path)))
			return &texts->list[i];
	return NULL;
}

static cJSON *image_list_parse(const struct texts *texts, const char *path,
			       struct error *err)
{
	const struct text *text = texts_find(texts, path);
	cJSON *json = text ? codec_parse(text->data, text->size, err) : NULL;

	if (!text)
		error_set(err, EINVAL, "no %.80s in the file", path);
	else if (!json)
		error_set(err, EINVAL, "%.80s is not JSON", path);
	return json;
}

static const struct image_bundle_entry *
find_entry(const struct image_bundle *bundle, const char *path)
{
	for (size_t i = 0; i < bundle->entries_count; i++)
		if (!strcmp(plain(bundle->entries[i].path), plain(path)))
			return &bundle->entries[i];
	return NULL;
}

static struct image_bundle_image *
add_image(struct image_bundle *bundle, const char *config, struct error *err)
{
	struct image_bundle_image *images =
		reallocarray(bundle->images, bundle->images_count + 1,
			     sizeof(*images));
	struct image_bundle_image *image;

	if (!images) {
		error_nomem(err, "image file");
		return NULL;
	}
	bundle->images = images;
	image = &images[bundle->images_count];
	memset(image, 0, sizeof(*image));
	if (asprintf(&image->id, "sha256:%s", config) < 0) {
		image->id = NULL;
		error_nomem(err, "image file");
		return NULL;
	}
	bundle->images_count++;
	return image;
}

/* The manifest.json of docker save. */

static int layers_check(const struct image_bundle *bundle, const cJSON *layers,
			struct error *err)
{
	const cJSON *layer;

	cJSON_ArrayForEach(layer, layers)
	{
		const char *path = cJSON_GetStringValue(layer);

		if (!path || !find_entry(bundle, path))
			return error_set(err, EINVAL,
					 "no layer %.80s in the file",
					 path ? path : "");
	}
	return 0;
}

static int take_listed(struct image_bundle *bundle, const cJSON *item,
		       struct error *err)
{
	const char *config = json_get_text_or_empty(item, "Config");
	const struct image_bundle_entry *entry = find_entry(bundle, config);
	struct image_bundle_image *image;
	const cJSON *tag;

	if (!entry || !entry->content)
		return error_set(err, EINVAL, "no config %.80s in the file",
				 config);
	if (layers_check(bundle, list_in(item, "Layers"), err) < 0)
		return -1;
	image = add_image(bundle, entry->content, err);
	if (!image)
		return -1;
	cJSON_ArrayForEach(tag, list_in(item, "RepoTags"))
	{
		if (cJSON_IsString(tag) &&
		    strings_add(&image->tags, tag->valuestring, err) < 0)
			return -1;
	}
	return 0;
}

static int image_list_take(const struct texts *texts,
			   struct image_bundle *bundle, struct error *err)
{
	owned(cJSON_Delete) cJSON *list =
		image_list_parse(texts, LIST_NAME, err);
	const cJSON *item;

	if (!list)
		return -1;
	cJSON_ArrayForEach(item, list)
	{
		if (take_listed(bundle, item, err) < 0)
			return -1;
	}
	return bundle->images_count
		       ? 0
		       : error_set(err, EINVAL,
				   LIST_NAME
				   " lists no image; expected at least one");
}

/* An OCI layout. */

/* "sha256:<hex>" to blobs/sha256/<hex>. */
static bool blob_path(const char *digest, char path[96])
{
	if (strncmp(digest, "sha256:", 7) != 0 ||
	    !content_hash_valid(digest + 7))
		return false;
	snprintf(path, 96, "blobs/sha256/%s", digest + 7);
	return true;
}

/* The name of the image; NULL: an engine would not accept it. A tag alone,
 * without '/' or ':', is no name.
 */
static const char *image_name(const cJSON *descriptor)
{
	const cJSON *notes = json_get(descriptor, "annotations");
	const char *name =
		json_get_text_or_empty(notes, "io.containerd.image.name");

	if (!*name)
		name = json_get_text_or_empty(notes, "org.opencontainers.image."
						     "ref.name");
	return strpbrk(name, "/:") ? name : NULL;
}

static int add_blob(cJSON *list, const struct image_bundle *bundle,
		    const cJSON *descriptor, struct error *err)
{
	char path[96];

	if (!blob_path(json_get_text_or_empty(descriptor, "digest"), path) ||
	    !find_entry(bundle, path))
		return error_set(err, EINVAL, "no blob %.80s in the file",
				 json_get_text_or_empty(descriptor, "digest"));
	cJSON_AddItemToArray(list, cJSON_CreateString(path));
	return 0;
}

static int take_manifest(const struct image_bundle *bundle,
			 const cJSON *manifest, const char *name, cJSON *list,
			 struct error *err)
{
	const cJSON *config = json_get(manifest, "config");
	cJSON *item = cJSON_CreateObject();
	cJSON *layers, *tags;
	char path[96];
	const cJSON *layer;

	cJSON_AddItemToArray(list, item);
	if (!blob_path(json_get_text_or_empty(config, "digest"), path))
		return error_set(err, EINVAL,
				 "a manifest has no valid config digest; the "
				 "file is damaged or not an image");
	cJSON_AddStringToObject(item, "Config", path);
	tags = cJSON_AddArrayToObject(item, "RepoTags");
	if (name)
		cJSON_AddItemToArray(tags, cJSON_CreateString(name));
	layers = cJSON_AddArrayToObject(item, "Layers");
	cJSON_ArrayForEach(layer, list_in(manifest, "layers"))
	{
		if (add_blob(layers, bundle, layer, err) < 0)
			return -1;
	}
	return 0;
}

/* Is it the manifest of an image? Signatures and the like have another config.
 */
static bool is_image(const cJSON *manifest)
{
	const char *type = json_get_text_or_empty(json_get(manifest, "config"),
						  "mediaType");

	return strstr(type, "image.config") || strstr(type, "container.image");
}

static int take_index(const struct texts *texts,
		      const struct image_bundle *bundle, const cJSON *index,
		      const char *name, int depth, cJSON *list,
		      struct error *err)
{
	const cJSON *descriptor;

	cJSON_ArrayForEach(descriptor, list_in(index, "manifests"))
	{
		const char *named = image_name(descriptor);
		owned(cJSON_Delete) cJSON *blob = NULL;
		char path[96];
		int rc = 0;

		if (!blob_path(json_get_text_or_empty(descriptor, "digest"),
			       path) ||
		    !texts_find(texts, path))
			continue;
		blob = image_list_parse(texts, path, err);
		if (!blob)
			return -1;
		named = named ? named : name;
		if (list_in(blob, "manifests") && depth < NESTED_MAX)
			rc = take_index(texts, bundle, blob, named, depth + 1,
					list, err);
		else if (is_image(blob))
			rc = take_manifest(bundle, blob, named, list, err);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static int make_list(struct texts *texts, const struct image_bundle *bundle,
		     struct error *err)
{
	owned(cJSON_Delete) cJSON *index =
		image_list_parse(texts, "index.json", err);
	owned(cJSON_Delete) cJSON *list = cJSON_CreateArray();
	char *text;
	int rc;

	if (!index || take_index(texts, bundle, index, NULL, 0, list, err) < 0)
		return -1;
	text = cJSON_PrintUnformatted(list);
	if (!text)
		return error_nomem(err, "image file");
	rc = texts_add(texts, LIST_NAME, text, strlen(text), err);
	cJSON_free(text);
	return rc;
}

int image_list(struct texts *texts, struct image_bundle *bundle,
	       struct error *err)
{
	bool listed = texts_find(texts, LIST_NAME) != NULL;

	if (!listed && !texts_find(texts, "index.json"))
		return error_set(err, EINVAL,
				 "not an image file: neither manifest.json "
				 "(docker save) nor index.json (an OCI "
				 "layout)");
	if (!listed && make_list(texts, bundle, err) < 0)
		return -1;
	return image_list_take(texts, bundle, err) < 0 ? -1 : !listed;
}
