/* imagefile.c - splits an image file into contents and sends them.
 */
#include "controller/cli/imagefile.h"

#include "controller/cli/imagelist.h"
#include "protocol/base/digest.h"
#include "protocol/blob/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define PIECE (256 << 10)
#define BLOBS "blobs/sha256/"

struct image_file {
	const char *path;
	uint64_t size; /* of the file itself */
	struct image_bundle bundle;
	struct texts texts; /* of the small files in it */
	size_t *places;     /* the number of each entry in the file */
	image_file_progress_fn *progress;
	void *arg;
	/* The second reading. */
	struct archive *in;
	size_t at;    /* headers read; the bytes of the last one follow */
	size_t entry; /* index of the entry that is being sent */
	uint64_t sent;
	uint64_t total;
	blob_transfer_progress_fn *sending;
	char piece[PIECE];
};

static int image_file_fail(struct image_file *file, struct error *err)
{
	const char *why = file->in ? archive_error_string(file->in) : NULL;

	return error_set(err, EINVAL,
			 "%s: %s; expected an archive of docker save, or an "
			 "OCI image layout as a tar file",
			 file->path, why ? why : "cannot be read");
}

static int open_reader(struct image_file *file, struct error *err)
{
	archive_read_free(file->in);
	file->at = 0;
	file->in = archive_read_new();
	if (!file->in)
		return error_nomem(err, "image file");
	if (archive_read_support_format_tar(file->in) != ARCHIVE_OK ||
	    archive_read_support_filter_all(file->in) < ARCHIVE_WARN ||
	    archive_read_open_filename(file->in, file->path, PIECE) !=
		    ARCHIVE_OK)
		return image_file_fail(file, err);
	return 0;
}

/* 1: there is another entry; 0: the end. */
static int next_header(struct image_file *file, struct archive_entry **entry,
		       struct error *err)
{
	int rc = archive_read_next_header(file->in, entry);

	if (rc == ARCHIVE_OK || rc == ARCHIVE_WARN)
		return 1;
	return rc == ARCHIVE_EOF ? 0 : image_file_fail(file, err);
}

/* The first reading. */

static struct image_bundle_entry *add_entry(struct image_file *file,
					    const char *path, size_t place,
					    struct error *err)
{
	struct image_bundle *bundle = &file->bundle;
	struct image_bundle_entry *entries =
		reallocarray(bundle->entries, bundle->entries_count + 1,
			     sizeof(*entries));
	size_t *places;

	if (entries)
		bundle->entries = entries;
	places = reallocarray(file->places, bundle->entries_count + 1,
			      sizeof(*places));
	if (places)
		file->places = places;
	if (!entries || !places) {
		error_nomem(err, "image file");
		return NULL;
	}
	places[bundle->entries_count] = place;
	entries += bundle->entries_count;
	memset(entries, 0, sizeof(*entries));
	entries->path = strdup(path);
	if (!entries->path) {
		error_nomem(err, "image file");
		return NULL;
	}
	bundle->entries_count++;
	return entries;
}

static char *hex_of(struct digest *digest)
{
	char hex[CONTENT_HASH_SIZE];

	digest_hex(digest, hex);
	return strdup(hex);
}

/* A blob's name is its hash: refuse a damaged one. */
static int entry_check_name(const struct image_file *file,
			    const struct image_bundle_entry *entry,
			    struct error *err)
{
	const char *name = strstr(entry->path, BLOBS);

	if (!name || !content_hash_valid(name + strlen(BLOBS)) ||
	    !strcmp(name + strlen(BLOBS), entry->content))
		return 0;
	return error_set(err, EINVAL,
			 "%s: the bytes of \"%.90s\" do not match its "
			 "name; the file is damaged",
			 file->path, entry->path);
}

/* Hash the entry's bytes; keep small JSON, which may be a manifest. */
static int image_file_read_entry(struct image_file *file,
				 struct image_bundle_entry *entry,
				 struct error *err)
{
	struct digest digest;
	owned(buffer_clear) struct buffer text;
	bool small = true;
	la_ssize_t got;

	buffer_init(&text, TEXTS_SMALL);
	digest_init(&digest);
	while ((got = archive_read_data(file->in, file->piece, PIECE)) > 0) {
		digest_add(&digest, file->piece, (size_t)got);
		entry->bytes += (uint64_t)got;
		if (entry->bytes == (uint64_t)got)
			small = *file->piece == '{' || *file->piece == '[';
		small = small && buffer_append(&text, file->piece, (size_t)got,
					       NULL) == 0;
		if (file->progress)
			file->progress(file->arg,
				       (uint64_t)archive_filter_bytes(file->in,
								      -1),
				       file->size);
	}
	if (got < 0)
		return image_file_fail(file, err);
	entry->content = hex_of(&digest);
	if (!entry->content)
		return error_nomem(err, "image file");
	if (entry_check_name(file, entry, err) < 0)
		return -1;
	return small && entry->bytes ? texts_add(&file->texts, entry->path,
						 text.data, text.size, err)
				     : 0;
}

static int image_file_take_entry(struct image_file *file,
				 struct archive_entry *from, size_t place,
				 struct error *err)
{
	const char *path = archive_entry_pathname(from);
	const char *target = archive_entry_symlink(from);
	struct image_bundle_entry *entry;

	if (archive_entry_filetype(from) == AE_IFDIR || !path)
		return 0;
	if (archive_entry_hardlink(from) ||
	    (archive_entry_filetype(from) != AE_IFREG && !target))
		return error_set(err, EINVAL,
				 "%s: \"%.80s\" is not valid here; expected a "
				 "file, a folder or a symbolic link",
				 file->path, path);
	if (!unpack_stays(path, target))
		return error_set(err, EINVAL,
				 "%s: \"%.80s\" leads out of the file's root",
				 file->path, path);
	entry = add_entry(file, path, place, err);
	if (!entry)
		return -1;
	if (!target)
		return image_file_read_entry(file, entry, err);
	entry->link = strdup(target);
	return entry->link ? 0 : error_nomem(err, "image file");
}

static int image_file_read_all(struct image_file *file, struct error *err)
{
	struct archive_entry *entry;
	size_t place = 0;
	int rc;

	while ((rc = next_header(file, &entry, err)) > 0) {
		if (file->bundle.entries_count >= IMAGE_BUNDLE_ENTRIES_MAX)
			return error_set(err, EINVAL,
					 "%s: more than %d files in it",
					 file->path, IMAGE_BUNDLE_ENTRIES_MAX);
		if (image_file_take_entry(file, entry, place++, err) < 0)
			return -1;
	}
	return rc;
}

/* Add a manifest.json to an OCI layout, for engines that read nothing else. */
static int image_file_add_list(struct image_file *file, struct error *err)
{
	const struct text *text = &file->texts.list[file->texts.count - 1];
	struct image_bundle_entry *entry =
		add_entry(file, text->path, SIZE_MAX, err);
	struct digest digest;

	if (!entry)
		return -1;
	digest_init(&digest);
	digest_add(&digest, text->data, text->size);
	entry->bytes = text->size;
	entry->content = hex_of(&digest);
	return entry->content ? 0 : error_nomem(err, "image file");
}

struct image_file *image_file_open(const char *path,
				   image_file_progress_fn *progress, void *arg,
				   struct error *err)
{
	owned(image_file_free) struct image_file *file =
		calloc(1, sizeof(*file));
	struct stat st;
	int rc;

	if (!file) {
		error_nomem(err, "image file");
		return NULL;
	}
	file->path = path;
	file->progress = progress;
	file->arg = arg;
	if (!strcmp(path, "-")) {
		error_set(err, EINVAL,
			  "standard input is not valid here; expected a file, "
			  "because it is read twice: docker save -o FILE "
			  "IMAGE");
		return NULL;
	}
	if (stat(path, &st) < 0) {
		error_set(err, EINVAL, "%s: %s", path, strerror(errno));
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		error_set(err, EINVAL,
			  "%s is not a regular file; expected a regular file, "
			  "because it is read twice",
			  path);
		return NULL;
	}
	file->size = (uint64_t)st.st_size;
	if (open_reader(file, err) < 0 || image_file_read_all(file, err) < 0)
		return NULL;
	rc = image_list(&file->texts, &file->bundle, err);
	if (rc < 0) {
		error_prefix(err, "%s", path);
		return NULL;
	}
	return rc && image_file_add_list(file, err) < 0 ? NULL : take(file);
}

void image_file_free(struct image_file *file)
{
	if (!file)
		return;
	archive_read_free(file->in);
	texts_clear(&file->texts);
	image_bundle_clear(&file->bundle);
	free(file->places);
	free(file);
}

const struct image_bundle *image_file_bundle(const struct image_file *file)
{
	return &file->bundle;
}

/* The second reading. */

/* transfer.begin: go to the bytes of file->entry. */
static int image_file_begin_entry(void *arg, struct error *err)
{
	struct image_file *file = arg;
	size_t place = file->places[file->entry];
	struct archive_entry *entry;
	int rc = 1;

	if (file->at > place && open_reader(file, err) < 0)
		return -1;
	while (rc > 0 && file->at <= place) {
		rc = next_header(file, &entry, err);
		file->at++;
	}
	return rc > 0 ? 0
		      : error_set(err, EINVAL, "%s changed while it was read",
				  file->path);
}

static ssize_t read_data(void *arg, void *buffer, size_t size,
			 struct error *err)
{
	struct image_file *file = arg;
	la_ssize_t got = archive_read_data(file->in, buffer, size);

	return got < 0 ? image_file_fail(file, err) : (ssize_t)got;
}

static void on_sent(void *arg, uint64_t bytes, uint64_t total)
{
	struct image_file *file = arg;

	if (file->sending)
		file->sending(file->arg, file->sent + bytes, file->total);
}

/* Bytes that are in memory. */
struct memory {
	const char *data;
	size_t size;
	size_t at;
};

static int begin_memory(void *arg, struct error *err)
{
	((struct memory *)arg)->at = 0;
	return 0;
}

static ssize_t read_memory(void *arg, void *buffer, size_t size,
			   struct error *err)
{
	struct memory *memory = arg;
	size_t left = memory->size - memory->at;

	if (size > left)
		size = left;
	memcpy(buffer, memory->data + memory->at, size);
	memory->at += size;
	return (ssize_t)size;
}

static int send_memory(struct client *client, const char *data, size_t size,
		       const char *hash, struct error *err)
{
	struct memory memory = { data, size, 0 };
	struct blob_transfer transfer = {
		.hash = hash,
		.bytes = size,
		.begin = begin_memory,
		.read = read_memory,
		.arg = &memory,
	};

	return blob_transfer_put(client, &transfer, err);
}

static int image_file_send_entry(struct image_file *file, struct client *client,
				 size_t index, struct error *err)
{
	const struct image_bundle_entry *entry = &file->bundle.entries[index];
	const struct text *text = texts_find(&file->texts, entry->path);
	struct blob_transfer transfer = {
		.hash = entry->content,
		.bytes = entry->bytes,
		.begin = image_file_begin_entry,
		.read = read_data,
		.progress = on_sent,
		.arg = file,
	};

	file->entry = index;
	if (text)
		return send_memory(client, text->data, text->size,
				   entry->content, err);
	return blob_transfer_put(client, &transfer, err) < 0
		       ? error_prefix(err, "%.80s", entry->path)
		       : 0;
}

int image_file_send_bundle(const struct image_file *file, struct client *client,
			   char hash[CONTENT_HASH_SIZE], struct error *err)
{
	owned(buffer_clear) struct buffer text;
	struct digest digest;

	buffer_init(&text, IMAGE_BUNDLE_BYTES_MAX);
	if (codec_encode(&image_bundle_schema, &file->bundle, &text, err) < 0)
		return -1;
	digest_init(&digest);
	digest_add(&digest, text.data, text.size);
	digest_hex(&digest, hash);
	return send_memory(client, text.data, text.size, hash, err);
}

/* texts: send the entries that are in memory; else, all others. */
static int send_entries(struct image_file *file, struct client *client,
			bool texts, struct error *err)
{
	for (size_t i = 0; i < file->bundle.entries_count; i++) {
		const struct image_bundle_entry *entry =
			&file->bundle.entries[i];
		bool is_text = texts_find(&file->texts, entry->path);

		if (!entry->content || is_text != texts ||
		    image_bundle_repeats(&file->bundle, i))
			continue;
		if (image_file_send_entry(file, client, i, err) < 0)
			return -1;
		file->sent += entry->bytes;
		on_sent(file, 0, 0);
	}
	return 0;
}

/* Send the small entries first: they tell nodes what else they need. */
int image_file_send(struct image_file *file, struct client *client,
		    blob_transfer_progress_fn *progress, void *arg,
		    struct error *err)
{
	file->sending = progress;
	file->arg = arg;
	file->sent = 0;
	file->total = image_bundle_bytes(&file->bundle);
	if (open_reader(file, err) < 0)
		return -1;
	return send_entries(file, client, true, err) < 0 ||
			       send_entries(file, client, false, err) < 0
		       ? -1
		       : 0;
}
