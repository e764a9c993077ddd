/* image_bundle.c - the images of a file as a list of blobs, one for each config
 * and layer.
 */
#include "protocol/blob/image_bundle.h"

#include "protocol/blob/tarball.h"
#include "protocol/registry/reference.h"

#include <archive.h>
#include <archive_entry.h>
#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#define PIECE (256 << 10)
/* Of manifest.json, at most. */
#define PENDING_MAX ((size_t)IMAGE_BUNDLE_BYTES_MAX * 4)
#define BLOB_PATH "blobs/sha256/%s"
#define BLOB_PATH_SIZE 96

/* clang-format off */
static const struct schema image_bundle_image_schema = SCHEMA(image_bundle_image,
	FIELD(image_bundle_image, config),
	FIELD_OPTIONAL(image_bundle_image, platform),
	FIELD_OPTIONAL(image_bundle_image, tags),
	FIELD_OPTIONAL(image_bundle_image, layers));

static const struct schema image_bundle_blob_schema = SCHEMA(image_bundle_blob,
	FIELD(image_bundle_blob, hash),
	FIELD(image_bundle_blob, bytes));

const struct schema image_bundle_schema = SCHEMA(image_bundle,
	FIELD_MANY(image_bundle, images, image_bundle_image_schema),
	FIELD_MANY(image_bundle, blobs, image_bundle_blob_schema));
/* clang-format on */

void image_bundle_clear(struct image_bundle *bundle)
{
	codec_clear(&image_bundle_schema, bundle);
}

void image_bundle_drop_last(struct image_bundle *bundle)
{
	codec_clear(&image_bundle_image_schema,
		    &bundle->images[--bundle->images_count]);
}

struct image_bundle_blob *image_bundle_blob(const struct image_bundle *bundle,
					    const char *hash)
{
	for (size_t i = 0; i < bundle->blobs_count; i++)
		if (!strcmp(bundle->blobs[i].hash, hash))
			return &bundle->blobs[i];
	return NULL;
}

uint64_t image_bundle_bytes(const struct image_bundle *bundle)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < bundle->blobs_count; i++)
		if (!bundle->blobs[i].spare)
			sum += bundle->blobs[i].bytes;
	return sum;
}

/* Reading. */

static int bundle_check_blobs(const struct image_bundle *bundle,
			      struct error *err)
{
	for (size_t i = 0; i < bundle->blobs_count; i++) {
		const struct image_bundle_blob *blob = &bundle->blobs[i];

		if (!blob_hash_valid(blob->hash))
			return error_set(err, EPROTO, "\"%.80s\": not a hash",
					 blob->hash);
		if (blob->bytes > BLOB_BYTES_MAX)
			return error_set(err, EPROTO, "%.12s: too large",
					 blob->hash);
		if (image_bundle_blob(bundle, blob->hash) != blob)
			return error_set(err, EPROTO, "%.12s: duplicate blob",
					 blob->hash);
	}
	return 0;
}

/* A name goes to the engine as it is: nothing but name:tag. */
static int bundle_check_tags(const struct image_bundle_image *image,
			     struct error *err)
{
	struct reference parts;

	for (size_t i = 0; i < image->tags.count; i++) {
		const char *tag = image->tags.items[i];

		if (reference_parse(tag, &parts, err) < 0)
			return error_set(err, EPROTO,
					 "\"%.120s\": not an image name", tag);
		if (!parts.name[0] || !parts.tag[0] || parts.digest[0])
			return error_set(err, EPROTO,
					 "\"%.120s\": expected name:tag", tag);
	}
	return 0;
}

static int bundle_check_image(const struct image_bundle *bundle,
			      const struct image_bundle_image *image,
			      struct error *err)
{
	const struct image_bundle_blob *config =
		image_bundle_blob(bundle, image->config);

	if (!config || config->bytes > IMAGE_BUNDLE_CONFIG_MAX)
		return error_set(err, EPROTO, "%.12s: %s", image->config,
				 config ? "the config is too large"
					: "no such config");
	for (size_t i = 0; i < image->layers.count; i++)
		if (!image_bundle_blob(bundle, image->layers.items[i]))
			return error_set(err, EPROTO, "%.12s: no such layer",
					 image->layers.items[i]);
	return bundle_check_tags(image, err);
}

int image_bundle_check_names(const struct image_bundle *bundle,
			     struct error *err)
{
	owned(strings_clear) struct strings names = { 0 };

	for (size_t i = 0; i < bundle->images_count; i++)
		for (size_t t = 0; t < bundle->images[i].tags.count; t++) {
			const char *name = bundle->images[i].tags.items[t];

			if (strings_has(&names, name))
				continue;
			if (names.count == IMAGE_BUNDLE_TAGS_MAX)
				return error_set(err, EINVAL,
						 "more than %d names of "
						 "images; use several files",
						 IMAGE_BUNDLE_TAGS_MAX);
			if (strings_add(&names, name, err) < 0)
				return -1;
		}
	return 0;
}

static int image_bundle_check(const struct image_bundle *bundle,
			      struct error *err)
{
	struct error why;

	if (!bundle->images_count || !bundle->blobs_count ||
	    bundle->blobs_count > IMAGE_BUNDLE_BLOBS_MAX)
		return error_set(err, EPROTO,
				 "%zu images, %zu blobs; expected 1 to %d "
				 "blobs",
				 bundle->images_count, bundle->blobs_count,
				 IMAGE_BUNDLE_BLOBS_MAX);
	if (image_bundle_check_names(bundle, &why) < 0)
		return error_set(err, EPROTO, "%s", why.text);
	if (bundle_check_blobs(bundle, err) < 0)
		return -1;
	for (size_t i = 0; i < bundle->images_count; i++)
		if (bundle_check_image(bundle, &bundle->images[i], err) < 0)
			return -1;
	return 0;
}

int image_bundle_parse(const char *text, size_t size,
		       struct image_bundle *bundle, struct error *err)
{
	if (size > IMAGE_BUNDLE_BYTES_MAX)
		return error_set(err, EPROTO,
				 "bundle of %zu bytes; expected at most %d",
				 size, IMAGE_BUNDLE_BYTES_MAX);
	if (codec_decode(&image_bundle_schema, text, size, bundle, err) < 0)
		return error_prefix(err, "bundle");
	if (image_bundle_check(bundle, err) < 0) {
		image_bundle_clear(bundle);
		return error_prefix(err, "bundle");
	}
	return 0;
}

/* Platforms. */

static bool bundle_suits(const struct image_bundle_image *image,
			 const char *platform)
{
	return !image->platform || !strcmp(image->platform, platform);
}

/* Has an image of this platform all names of this one? */
static bool bundle_replaces(const struct image_bundle *bundle,
			    const struct image_bundle_image *other,
			    const char *platform)
{
	bool found = false;

	for (size_t i = 0; !found && i < bundle->images_count; i++) {
		const struct image_bundle_image *image = &bundle->images[i];

		found = bundle_suits(image, platform);
		for (size_t t = 0; found && t < other->tags.count; t++)
			found = strings_has(&image->tags, other->tags.items[t]);
	}
	return found;
}

int image_bundle_choose(struct image_bundle *bundle, const char *platform,
			struct error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < bundle->images_count; i++) {
		const struct image_bundle_image *image = &bundle->images[i];

		if (!bundle_suits(image, platform) &&
		    !bundle_replaces(bundle, image, platform))
			return error_set(err, EINVAL,
					 "%.120s is for %.40s; expected an "
					 "image for %s, as this node is",
					 image->tags.count
						 ? image->tags.items[0]
						 : image->config,
					 image->platform, platform);
	}
	for (size_t i = 0; i < bundle->images_count; i++) {
		struct image_bundle_image image = bundle->images[i];

		if (bundle_suits(&image, platform))
			bundle->images[kept++] = image;
		else
			codec_clear(&image_bundle_image_schema, &image);
	}
	bundle->images_count = kept;
	return 0;
}

/* The archive. */

struct assembly {
	struct blob_store *blobs;
	const struct image_bundle *bundle;
	struct archive *out;
	bool listed; /* manifest.json was written */
	size_t next, here;
	int fd; /* of the blob that is being written, or -1 */
	uint64_t left;
	bool ended;
	struct buffer pending;
	char piece[PIECE];
};

static ssize_t assembly_write(struct archive *out, void *arg, const void *data,
			      size_t size)
{
	struct assembly *assembly = arg;

	return buffer_append(&assembly->pending, data, size, NULL) < 0
		       ? -1
		       : (ssize_t)size;
}

static int assembly_fail(struct assembly *assembly, struct error *err)
{
	const char *why = archive_error_string(assembly->out);

	return error_set(err, EIO, "image file: %s",
			 why ? why : "cannot be written");
}

struct assembly *assembly_new(struct blob_store *blobs,
			      const struct image_bundle *bundle,
			      struct error *err)
{
	owned(assembly_free) struct assembly *assembly =
		calloc(1, sizeof(*assembly));

	if (!assembly)
		return error_null(error_nomem(err, "image file"));
	assembly->blobs = blobs;
	assembly->bundle = bundle;
	assembly->fd = -1;
	buffer_init(&assembly->pending, PENDING_MAX);
	assembly->out = tar_writer_new(assembly_write, assembly, false, err);
	return assembly->out ? take(assembly) : NULL;
}

void assembly_free(struct assembly *assembly)
{
	if (!assembly)
		return;
	if (assembly->fd >= 0)
		close(assembly->fd);
	archive_write_free(assembly->out); /* this may still write to pending */
	buffer_clear(&assembly->pending);
	free(assembly);
}

static int assembly_put_header(struct assembly *assembly, const char *path,
			       uint64_t bytes, struct error *err)
{
	struct archive_entry *entry = archive_entry_new();
	int rc;

	if (!entry)
		return error_nomem(err, "image file");
	archive_entry_set_pathname(entry, path);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, (int64_t)bytes);
	rc = archive_write_header(assembly->out, entry);
	archive_entry_free(entry);
	return rc == ARCHIVE_OK ? 0 : assembly_fail(assembly, err);
}

static void list_add_image(cJSON *list, const struct image_bundle_image *image)
{
	cJSON *item = cJSON_CreateObject();
	cJSON *tags, *layers;
	char path[BLOB_PATH_SIZE];

	cJSON_AddItemToArray(list, item);
	snprintf(path, sizeof(path), BLOB_PATH, image->config);
	cJSON_AddStringToObject(item, "Config", path);
	tags = cJSON_AddArrayToObject(item, "RepoTags");
	for (size_t i = 0; i < image->tags.count; i++)
		cJSON_AddItemToArray(tags,
				     cJSON_CreateString(image->tags.items[i]));
	layers = cJSON_AddArrayToObject(item, "Layers");
	for (size_t i = 0; i < image->layers.count; i++) {
		snprintf(path, sizeof(path), BLOB_PATH, image->layers.items[i]);
		cJSON_AddItemToArray(layers, cJSON_CreateString(path));
	}
}

static int assembly_put_list(struct assembly *assembly, struct error *err)
{
	const struct image_bundle *bundle = assembly->bundle;
	owned(cJSON_Delete) cJSON *list = cJSON_CreateArray();
	size_t size;
	char *text;
	int rc;

	for (size_t i = 0; i < bundle->images_count; i++)
		list_add_image(list, &bundle->images[i]);
	text = cJSON_PrintUnformatted(list);
	if (!text)
		return error_nomem(err, "image file");
	size = strlen(text);
	rc = assembly_put_header(assembly, "manifest.json", size, err);
	if (rc == 0 &&
	    archive_write_data(assembly->out, text, size) != (ssize_t)size)
		rc = assembly_fail(assembly, err);
	cJSON_free(text);
	assembly->listed = true;
	return rc;
}

static int assembly_put_blob(struct assembly *assembly, struct error *err)
{
	const struct image_bundle_blob *blob =
		&assembly->bundle->blobs[assembly->next++];
	char path[BLOB_PATH_SIZE];

	if (blob->spare)
		return 0;
	snprintf(path, sizeof(path), BLOB_PATH, blob->hash);
	if (assembly_put_header(assembly, path, blob->bytes, err) < 0)
		return -1;
	if (!blob->bytes)
		return 0;
	assembly->left = blob->bytes;
	assembly->fd = blob_store_open(assembly->blobs, blob->hash, err);
	return assembly->fd < 0 ? -1 : 0;
}

static int assembly_put_piece(struct assembly *assembly, struct error *err)
{
	size_t size = assembly->left < PIECE ? (size_t)assembly->left : PIECE;
	ssize_t got = read(assembly->fd, assembly->piece, size);

	if (got <= 0)
		return error_set(err, EIO, "image file: a part is too short");
	if (archive_write_data(assembly->out, assembly->piece, (size_t)got) !=
	    got)
		return assembly_fail(assembly, err);
	assembly->left -= (uint64_t)got;
	if (!assembly->left)
		close(take_fd(&assembly->fd));
	return 0;
}

void assembly_grow(struct assembly *assembly, size_t blobs)
{
	assembly->here = blobs;
}

static int assembly_step(struct assembly *assembly, struct error *err)
{
	if (!assembly->listed)
		return assembly_put_list(assembly, err);
	if (assembly->fd >= 0)
		return assembly_put_piece(assembly, err);
	if (assembly->next < assembly->here)
		return assembly_put_blob(assembly, err);
	if (assembly->next < assembly->bundle->blobs_count)
		return error_set(err, EAGAIN, "image file: a part is missing");
	assembly->ended = true;
	return archive_write_close(assembly->out) == ARCHIVE_OK
		       ? 0
		       : assembly_fail(assembly, err);
}

ssize_t assembly_read(void *arg, void *buffer, size_t size, struct error *err)
{
	struct assembly *assembly = arg;

	while (!assembly->pending.size && !assembly->ended)
		if (assembly_step(assembly, err) < 0)
			return -1;
	if (size > assembly->pending.size)
		size = assembly->pending.size;
	memcpy(buffer, assembly->pending.data, size);
	buffer_consume(&assembly->pending, size);
	return (ssize_t)size;
}
