/* image_bundle.c - an image file as a list of contents, in order.
 */
#include "protocol/blob/image_bundle.h"

#include "protocol/blob/tarball.h"
#include "protocol/blob/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>

#define PIECE (256 << 10)
#define PENDING_MAX (1 << 20)

/* clang-format off */
static const struct schema image_bundle_image_schema = SCHEMA(image_bundle_image,
	FIELD(image_bundle_image, id),
	FIELD_OPTIONAL(image_bundle_image, tags));

static const struct schema image_bundle_entry_schema = SCHEMA(image_bundle_entry,
	FIELD(image_bundle_entry, path),
	FIELD_OPTIONAL(image_bundle_entry, content),
	FIELD_OPTIONAL(image_bundle_entry, bytes),
	FIELD_OPTIONAL(image_bundle_entry, link));

const struct schema image_bundle_schema = SCHEMA(image_bundle,
	FIELD_MANY(image_bundle, images, image_bundle_image_schema),
	FIELD_MANY(image_bundle, entries, image_bundle_entry_schema));
/* clang-format on */

void image_bundle_clear(struct image_bundle *bundle)
{
	codec_clear(&image_bundle_schema, bundle);
}

static int check_entry(const struct image_bundle_entry *entry,
		       struct error *err)
{
	if (!entry->content == !entry->link)
		return error_set(err, EPROTO,
				 "\"%.80s\": expected a content or a link",
				 entry->path);
	if (entry->content && !content_hash_valid(entry->content))
		return error_set(err, EPROTO, "\"%.80s\": no hash",
				 entry->path);
	if (entry->bytes > CONTENT_BYTES_MAX || !*entry->path)
		return error_set(err, EPROTO,
				 "\"%.80s\": too large, or not a valid name",
				 entry->path);
	if (!unpack_stays(entry->path, entry->link))
		return error_set(err, EPROTO,
				 "\"%.80s\": a path or link leads out of the "
				 "file",
				 entry->path);
	return 0;
}

/* An entry by its clean path. */
struct bundle_path {
	char *path;
	const struct image_bundle_entry *entry;
};

struct bundle_paths {
	struct bundle_path *list;
	size_t count;
};

static void bundle_paths_clear(struct bundle_paths *places)
{
	for (size_t i = 0; i < places->count; i++)
		free(places->list[i].path);
	free(places->list);
}
OWNED_VALUE(struct bundle_paths, bundle_paths_clear)

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct bundle_path *)a)->path,
		      ((const struct bundle_path *)b)->path);
}

static int find_places(const struct image_bundle *bundle,
		       struct bundle_paths *places, struct error *err)
{
	char path[PATH_MAX];

	places->list = calloc(bundle->entries_count, sizeof(*places->list));
	while (places->list && places->count < bundle->entries_count) {
		struct bundle_path *place = &places->list[places->count];

		place->entry = &bundle->entries[places->count];
		unpack_path(place->entry->path, path);
		place->path = strdup(path);
		if (!place->path)
			break;
		places->count++;
	}
	if (places->count < bundle->entries_count)
		return error_nomem(err, "bundle");
	qsort(places->list, places->count, sizeof(*places->list), by_path);
	return 0;
}

/* The first folder of the path that is a link; the path is cut there. NULL:
 * none.
 */
static const char *link_before(char *path, const struct bundle_paths *places)
{
	for (char *slash = path; (slash = strchr(slash, '/')); slash++) {
		struct bundle_path key = { path, NULL };
		const struct bundle_path *place;

		*slash = 0;
		place = bsearch(&key, places->list, places->count, sizeof(key),
				by_path);
		if (place && place->entry->link)
			return path;
		*slash = '/';
	}
	return NULL;
}

/* An engine uses the last of two equal paths, and follows links:
 * "d/manifest.json" is its manifest.json if d is a link to ".". So a path may
 * occur only once, and may not lead through a link.
 */
static int check_places(const struct image_bundle *bundle, struct error *err)
{
	owned(bundle_paths_clear) struct bundle_paths places = { 0 };
	char path[PATH_MAX];

	if (find_places(bundle, &places, err) < 0)
		return -1;
	for (size_t i = 0; i < places.count; i++) {
		const struct bundle_path *place = &places.list[i];
		const char *link;

		if (i && !strcmp(place[-1].path, place->path))
			return error_set(err, EPROTO,
					 "\"%.80s\": duplicate path",
					 place->path);
		memcpy(path, place->path, strlen(place->path) + 1);
		link = link_before(path, &places);
		if (link)
			return error_set(err, EPROTO,
					 "\"%.80s\": is below the link "
					 "\"%.80s\"",
					 place->entry->path, link);
	}
	return 0;
}

static int image_bundle_check(const struct image_bundle *bundle,
			      struct error *err)
{
	if (!bundle->images_count || !bundle->entries_count ||
	    bundle->entries_count > IMAGE_BUNDLE_ENTRIES_MAX)
		return error_set(err, EPROTO,
				 "%zu images, %zu files; expected 1 to %d "
				 "files",
				 bundle->images_count, bundle->entries_count,
				 IMAGE_BUNDLE_ENTRIES_MAX);
	for (size_t i = 0; i < bundle->images_count; i++)
		if (strncmp(bundle->images[i].id, "sha256:", 7) != 0 ||
		    !content_hash_valid(bundle->images[i].id + 7))
			return error_set(err, EPROTO,
					 "\"%.80s\": not an image id",
					 bundle->images[i].id);
	for (size_t i = 0; i < bundle->entries_count; i++)
		if (check_entry(&bundle->entries[i], err) < 0)
			return -1;
	return check_places(bundle, err);
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

size_t image_bundle_drop(struct image_bundle *bundle,
			 image_bundle_entry_fn *which, const void *arg)
{
	size_t kept = 0, count = bundle->entries_count;

	for (size_t i = 0; i < count; i++) {
		struct image_bundle_entry entry = bundle->entries[i];

		if (!which(&entry, arg)) {
			bundle->entries[kept++] = entry;
			continue;
		}
		free(entry.path);
		free(entry.content);
		free(entry.link);
	}
	bundle->entries_count = kept;
	return count - kept;
}

bool image_bundle_repeats(const struct image_bundle *bundle, size_t entry)
{
	const char *content = bundle->entries[entry].content;

	for (size_t i = 0; content && i < entry; i++)
		if (bundle->entries[i].content &&
		    !strcmp(bundle->entries[i].content, content))
			return true;
	return false;
}

uint64_t image_bundle_bytes(const struct image_bundle *bundle)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < bundle->entries_count; i++)
		if (bundle->entries[i].content &&
		    !image_bundle_repeats(bundle, i))
			sum += bundle->entries[i].bytes;
	return sum;
}

/* The file again. */

struct assembly {
	struct blob_store *contents;
	const struct image_bundle *bundle;
	struct archive *out;
	size_t here; /* entries whose contents are there */
	size_t next;
	int fd; /* of the content that is being written, or -1 */
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

struct assembly *assembly_new(struct blob_store *contents,
			      const struct image_bundle *bundle,
			      struct error *err)
{
	owned(assembly_free) struct assembly *assembly =
		calloc(1, sizeof(*assembly));

	if (!assembly)
		return error_null(error_nomem(err, "image file"));
	assembly->contents = contents;
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

static int assembly_put_header(struct assembly *assembly, struct error *err)
{
	const struct image_bundle_entry *from =
		&assembly->bundle->entries[assembly->next++];
	struct archive_entry *entry = archive_entry_new();
	int rc;

	if (!entry)
		return error_nomem(err, "image file");
	archive_entry_set_pathname(entry, from->path);
	archive_entry_set_filetype(entry, from->link ? AE_IFLNK : AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, from->link ? 0 : (int64_t)from->bytes);
	if (from->link)
		archive_entry_set_symlink(entry, from->link);
	rc = archive_write_header(assembly->out, entry);
	archive_entry_free(entry);
	if (rc != ARCHIVE_OK)
		return assembly_fail(assembly, err);
	if (from->link || !from->bytes)
		return 0;
	assembly->left = from->bytes;
	assembly->fd = blob_store_open(assembly->contents, from->content, err);
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

static int assembly_step(struct assembly *assembly, struct error *err)
{
	if (assembly->fd >= 0)
		return assembly_put_piece(assembly, err);
	if (assembly->next < assembly->bundle->entries_count)
		return assembly->next < assembly->here
			       ? assembly_put_header(assembly, err)
			       : error_set(err, EAGAIN,
					   "image file: the next part has not "
					   "been received yet");
	assembly->ended = true;
	return archive_write_close(assembly->out) == ARCHIVE_OK
		       ? 0
		       : assembly_fail(assembly, err);
}

void assembly_let(struct assembly *assembly, size_t entries)
{
	assembly->here = entries;
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
