/* imagelist.c - finds the images of an image file by its manifest.
 */
#include "controller/cli/imagelist.h"

#include "protocol/base/list.h"
#include "protocol/blob/unpack.h"
#include "protocol/message/json_get.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NESTED_MAX 2 /* indexes in an index */
#define LINKS_MAX 4  /* one after another */
#define LIST_NAME "manifest.json"
#define INDEX_NAME "index.json"

/* Entries. */

void image_file_entries_clear(struct image_file_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++) {
		free(entries->list[i].path);
		free(entries->list[i].link);
		free(entries->list[i].text);
	}
	free(entries->list);
	*entries = (struct image_file_entries){ 0 };
}

static const struct image_file_entry *
image_list_look(const struct image_file_entries *entries, const char *path)
{
	for (size_t i = 0; i < entries->count; i++)
		if (!strcmp(entries->list[i].path, path))
			return &entries->list[i];
	return NULL;
}

const struct image_file_entry *
image_file_entry_find(const struct image_file_entries *entries,
		      const char *path)
{
	char clean[PATH_MAX];
	const struct image_file_entry *entry =
		unpack_path(path, clean) ? image_list_look(entries, clean)
					 : NULL;

	for (int i = 0; entry && entry->link && i < LINKS_MAX; i++)
		entry = image_list_look(entries, entry->link);
	return entry && !entry->link ? entry : NULL;
}

/* Where a link of this clean path leads; NULL: out of memory. unpack_stays()
 * was asked before: ".." stands only at the beginning.
 */
static char *image_list_follow(const char *path, const char *target)
{
	const char *end = strrchr(path, '/');
	size_t size = end ? (size_t)(end - path) : 0;
	char clean[PATH_MAX], *result;

	while (!strncmp(target, "../", 3)) {
		while (size && path[size - 1] != '/')
			size--;
		size -= size > 0;
		target += 3;
	}
	if (asprintf(&result, "%.*s/%s", (int)size, path, target) < 0)
		return NULL;
	unpack_path(result + (size == 0), clean);
	free(result);
	return strdup(clean);
}

struct image_file_entry *
image_file_entry_add(struct image_file_entries *entries, const char *path,
		     const char *target, struct error *err)
{
	struct image_file_entry *entry;
	char clean[PATH_MAX];

	if (!unpack_path(path, clean) || !unpack_stays(path, target))
		return error_null(
			error_set(err, EINVAL,
				  "\"%.80s\" leads out of the file's root",
				  path));
	if (image_list_look(entries, clean))
		return error_null(error_set(err, EINVAL,
					    "\"%.80s\": duplicate path",
					    clean));
	if (entries->count == IMAGE_FILE_ENTRIES_MAX)
		return error_null(error_set(err, EINVAL,
					    "more than %d files in it",
					    IMAGE_FILE_ENTRIES_MAX));
	entry = LIST_ADD(entries->list, entries->count, err);
	if (!entry)
		return NULL;
	*entry = (struct image_file_entry){
		.path = strdup(clean),
		.link = target ? image_list_follow(clean, target) : NULL,
	};
	if (!entry->path || !entry->link != !target) {
		error_nomem(err, "image file");
		return NULL;
	}
	return entry;
}

int image_file_entry_keep(struct image_file_entries *entries,
			  struct image_file_entry *entry, const char *text,
			  size_t size, struct error *err)
{
	if (entries->text_bytes + size > IMAGE_FILE_TEXTS_MAX)
		return 0;
	entry->text = strndup(text, size);
	if (!entry->text)
		return error_nomem(err, "image file");
	entries->text_bytes += size;
	return 0;
}

/* Both lists. */

struct image_lister {
	struct image_file_entries *entries;
	struct image_bundle *bundle;
	struct error lacking; /* code 0: no image lacked a part */
	size_t parts;         /* that were named, each as often as it is */
};

/* A small text may name another one very often, which does the same. */
static int image_list_count(struct image_lister *lister, struct error *err)
{
	return ++lister->parts <= IMAGE_FILE_ENTRIES_MAX
		       ? 0
		       : error_set(err, E2BIG,
				   "it names more than %d parts of images",
				   IMAGE_FILE_ENTRIES_MAX);
}

/* The member, if it is a list. */
static const cJSON *list_in(const cJSON *object, const char *name)
{
	const cJSON *item = json_get(object, name);

	return cJSON_IsArray(item) ? item : NULL;
}

static cJSON *image_list_parse(const struct image_file_entry *entry,
			       struct error *err)
{
	cJSON *json =
		entry->text ? codec_parse(entry->text, strlen(entry->text), err)
			    : NULL;

	if (!json)
		error_set(err, EINVAL, "%.80s is not JSON", entry->path);
	return json;
}

/* As its config says; NULL: not known. */
static char *image_list_platform(const cJSON *json)
{
	const char *system = json_get_text_or_empty(json, "os");
	const char *machine = json_get_text_or_empty(json, "architecture");
	char *platform;

	return *system && *machine &&
			       asprintf(&platform, "%s/%s", system, machine) >=
				       0
		       ? platform
		       : NULL;
}

/* The hash of an unpacked layer, which engines compare. The config of each
 * image that has it must tell the same.
 */
static int image_list_tell(struct image_lister *lister, const char *path,
			   const cJSON *told, struct error *err)
{
	static const char prefix[] = "sha256:";
	const char *text = cJSON_GetStringValue(told);
	const char *hash = text && !strncmp(text, prefix, strlen(prefix))
				   ? text + strlen(prefix)
				   : "";
	struct image_file_entry *entry = lister->entries->list;

	while (strcmp(entry->path, path) != 0)
		entry++;
	if (*entry->hash)
		return 0;
	if (!blob_hash_valid(hash))
		return error_set(err, EINVAL,
				 "the config of its image does not tell the "
				 "hash of layer %.80s",
				 path);
	memcpy(entry->hash, hash, sizeof(entry->hash));
	return 0;
}

/* The layers of all or none: each is named by a path, or by the digest of a
 * descriptor.
 */
static int image_list_add_layers(struct image_lister *lister,
				 struct image_bundle_image *image,
				 const cJSON *config, const cJSON *layers,
				 struct error *err)
{
	const cJSON *told = json_get(json_get(config, "rootfs"), "diff_ids");
	const cJSON *layer;
	int index = 0;

	cJSON_ArrayForEach(layer, layers) {
		const char *name = cJSON_IsObject(layer)
					   ? json_get_text(layer, "digest")
					   : cJSON_GetStringValue(layer);
		const struct image_file_entry *entry;
		char path[PATH_MAX];

		if (image_list_count(lister, err) < 0)
			return -1;
		if (name && !strncmp(name, "sha256:", 7))
			snprintf(path, sizeof(path), "blobs/sha256/%s",
				 name + 7);
		else
			snprintf(path, sizeof(path), "%s", name ? name : "");
		entry = image_file_entry_find(lister->entries, path);
		if (!entry)
			return error_set(err, EINVAL,
					 "no layer %.80s in the file",
					 name ? name : "");
		if (image_list_tell(lister, entry->path,
				    cJSON_GetArrayItem(told, index++),
				    err) < 0 ||
		    strings_add(&image->layers, entry->hash, err) < 0)
			return -1;
	}
	return 0;
}

/* A new image in the bundle, without tags. */
static struct image_bundle_image *
image_list_add(struct image_lister *lister,
	       const struct image_file_entry *config, const cJSON *layers,
	       struct error *err)
{
	struct image_bundle *bundle = lister->bundle;
	struct image_bundle_image *image =
		LIST_ADD(bundle->images, bundle->images_count, err);
	owned(cJSON_Delete) cJSON *json = image_list_parse(config, NULL);

	if (!image)
		return NULL;
	*image = (struct image_bundle_image){
		.config = strdup(config->hash),
		.platform = image_list_platform(json),
	};
	if (!image->config)
		return error_null(error_nomem(err, "image"));
	return image_list_add_layers(lister, image, json, layers, err) < 0
		       ? NULL
		       : image;
}

/* A digest is no name that an engine could give. */
static int image_list_add_tag(struct image_bundle_image *image,
			      const char *name, struct error *err)
{
	char listed[REFERENCE_LISTED_SIZE];
	struct reference parts;

	if (reference_parse(name, &parts, err) < 0)
		return -1;
	if (!parts.name[0] || parts.digest[0])
		return 0;
	reference_listed(&parts, listed);
	return strings_add(&image->tags, listed, err);
}

/* The manifest.json of docker save. */

static int image_list_take_item(struct image_lister *lister, const cJSON *item,
				struct error *err)
{
	const char *path = json_get_text_or_empty(item, "Config");
	const struct image_file_entry *config =
		image_file_entry_find(lister->entries, path);
	struct image_bundle_image *image;
	const cJSON *tag;

	if (!config || !*config->hash)
		return error_set(err, EINVAL, "no config %.80s in the file",
				 path);
	image = image_list_add(lister, config, list_in(item, "Layers"), err);
	if (!image)
		return -1;
	cJSON_ArrayForEach(tag, list_in(item, "RepoTags"))
		if (cJSON_IsString(tag) &&
		    image_list_add_tag(image, tag->valuestring, err) < 0)
			return -1;
	return 0;
}

static int image_list_take(struct image_lister *lister,
			   const struct image_file_entry *entry,
			   struct error *err)
{
	owned(cJSON_Delete) cJSON *list = image_list_parse(entry, err);
	const cJSON *item;

	if (!list)
		return -1;
	cJSON_ArrayForEach(item, list)
		if (image_list_take_item(lister, item, err) < 0)
			return -1;
	return 0;
}

/* An OCI layout. */

/* The blob that a descriptor means; NULL: it is not in the file. */
static const struct image_file_entry *
image_list_blob(const struct image_lister *lister, const cJSON *descriptor)
{
	const char *digest = json_get_text_or_empty(descriptor, "digest");
	char path[96];

	if (strncmp(digest, "sha256:", 7) != 0 || !blob_hash_valid(digest + 7))
		return NULL;
	snprintf(path, sizeof(path), "blobs/sha256/%s", digest + 7);
	return image_file_entry_find(lister->entries, path);
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

/* Signatures and the like have another config than images. */
static bool image_list_is_image(const cJSON *descriptor, const cJSON *manifest)
{
	const char *type = json_get_text_or_empty(json_get(manifest, "config"),
						  "mediaType");
	const char *system =
		json_get_text_or_empty(json_get(descriptor, "platform"), "os");

	return (strstr(type, "image.config") ||
		strstr(type, "container.image")) &&
	       strcmp(system, "unknown") != 0 &&
	       !json_get(json_get(descriptor, "annotations"),
			 "vnd.docker.reference.type");
}

static int image_list_take_manifest(struct image_lister *lister,
				    const cJSON *manifest, const char *name,
				    struct error *err)
{
	const struct image_file_entry *config =
		image_list_blob(lister, json_get(manifest, "config"));
	struct image_bundle_image *image;

	if (!config)
		return error_set(err, EINVAL,
				 "a manifest has no valid config digest; the "
				 "file is damaged or not an image");
	image = image_list_add(lister, config, list_in(manifest, "layers"),
			       err);
	if (!image)
		return -1;
	return name ? image_list_add_tag(image, name, err) : 0;
}

/* An index may list images of platforms whose parts are not in the file. So one
 * that lacks a part fails only a file without another.
 */
static int image_list_try_manifest(struct image_lister *lister,
				   const cJSON *manifest, const char *name,
				   struct error *err)
{
	struct image_bundle *bundle = lister->bundle;
	size_t count = bundle->images_count;

	if (image_list_take_manifest(lister, manifest, name,
				     &lister->lacking) == 0)
		return 0;
	if (lister->lacking.code != EINVAL) {
		*err = lister->lacking;
		return -1;
	}
	if (bundle->images_count > count)
		image_bundle_drop_last(bundle);
	return 0;
}

static int image_list_take_index(struct image_lister *lister,
				 const struct image_file_entry *entry,
				 const char *name, int depth, struct error *err)
{
	owned(cJSON_Delete) cJSON *index = image_list_parse(entry, err);
	const cJSON *descriptor;

	if (!index)
		return -1;
	cJSON_ArrayForEach(descriptor, list_in(index, "manifests")) {
		const struct image_file_entry *blob =
			image_list_blob(lister, descriptor);
		const char *named = image_name(descriptor);
		owned(cJSON_Delete) cJSON *json = NULL;
		int rc = 0;

		if (image_list_count(lister, err) < 0)
			return -1;
		if (!blob || !blob->text)
			continue;
		json = image_list_parse(blob, err);
		if (!json)
			return -1;
		named = named ? named : name;
		if (list_in(json, "manifests") && depth < NESTED_MAX)
			rc = image_list_take_index(lister, blob, named,
						   depth + 1, err);
		else if (image_list_is_image(descriptor, json))
			rc = image_list_try_manifest(lister, json, named, err);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* The blobs. */

static int image_list_add_blob(struct image_bundle *bundle,
			       const struct image_file_entry *entry,
			       struct error *err)
{
	struct image_bundle_blob *blob;

	if (image_bundle_blob(bundle, entry->hash))
		return 0;
	if (bundle->blobs_count == IMAGE_BUNDLE_BLOBS_MAX)
		return error_set(err, EINVAL, "more than %d layers",
				 IMAGE_BUNDLE_BLOBS_MAX);
	blob = LIST_ADD(bundle->blobs, bundle->blobs_count, err);
	if (!blob)
		return -1;
	blob->bytes = entry->bytes;
	return string_set(&blob->hash, entry->hash, err);
}

/* Is it the config, or a layer, of an image? */
static bool image_list_uses(const struct image_bundle *bundle, const char *hash,
			    bool config)
{
	for (size_t i = 0; i < bundle->images_count; i++) {
		const struct image_bundle_image *image = &bundle->images[i];

		if (config ? !strcmp(image->config, hash)
			   : strings_has(&image->layers, hash))
			return true;
	}
	return false;
}

static int image_list_add_blobs(struct image_lister *lister, bool configs,
				struct error *err)
{
	for (size_t i = 0; i < lister->entries->count; i++) {
		const struct image_file_entry *entry =
			&lister->entries->list[i];

		if (!entry->link &&
		    image_list_uses(lister->bundle, entry->hash, configs) &&
		    image_list_add_blob(lister->bundle, entry, err) < 0)
			return -1;
	}
	return 0;
}

int image_list(struct image_file_entries *entries, struct image_bundle *bundle,
	       struct error *err)
{
	const struct image_file_entry *list =
		image_file_entry_find(entries, LIST_NAME);
	const struct image_file_entry *index =
		image_file_entry_find(entries, INDEX_NAME);
	struct image_lister lister = { .entries = entries, .bundle = bundle };

	if (!list && !index)
		return error_set(err, EINVAL,
				 "not an image file: neither " LIST_NAME
				 " (docker save) nor " INDEX_NAME
				 " (an OCI layout)");
	if ((list ? image_list_take(&lister, list, err)
		  : image_list_take_index(&lister, index, NULL, 0, err)) < 0)
		return -1;
	if (!bundle->images_count && lister.lacking.code)
		return error_set(err, EINVAL, "%s", lister.lacking.text);
	if (!bundle->images_count)
		return error_set(err, EINVAL,
				 "%s lists no image; expected at least one",
				 list ? LIST_NAME : INDEX_NAME);
	if (image_bundle_check_names(bundle, err) < 0)
		return -1;
	return image_list_add_blobs(&lister, true, err) < 0
		       ? -1
		       : image_list_add_blobs(&lister, false, err);
}
