/* imagefile.c - finds the blobs of an image file and sends them.
 */
#include "controller/cli/imagefile.h"

#include "controller/cli/imagelist.h"
#include "protocol/base/digest.h"
#include "protocol/blob/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (256 << 10)
#define BLOBS "blobs/sha256/"
#define TAR_HEADER 512
#define TAR_MAGIC 257 /* in the header */

struct image_file {
	const char *path;
	uint64_t size;  /* of the file itself */
	uint64_t bytes; /* that came out of it in the first reading */
	struct image_file_entries entries;
	struct image_bundle bundle;
	image_file_progress_fn *progress;
	void *arg;
	/* The second reading. */
	struct archive *in;
	size_t at;                            /* headers read; the bytes of the
						 last one follow */
	const struct image_file_entry *entry; /* that is being sent */
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
	owned_fd int fd = open(file->path, O_RDONLY | O_CLOEXEC);
	char head[UNPACK_HEAD_SIZE];
	ssize_t got;

	archive_read_free(file->in);
	file->at = 0;
	file->in = archive_read_new();
	if (!file->in)
		return error_nomem(err, "image file");
	if (fd >= 0 && (got = read(fd, head, sizeof(head))) > 0)
		unpack_filter(file->in, head, (size_t)got);
	if (archive_read_support_format_tar(file->in) != ARCHIVE_OK ||
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

/* The hash that is its name; NULL: it has another. */
static const char *entry_name_hash(const struct image_file_entry *entry)
{
	const char *name = strstr(entry->path, BLOBS);

	return name && blob_hash_valid(name + strlen(BLOBS))
		       ? name + strlen(BLOBS)
		       : NULL;
}

/* Refuse a damaged one. */
static int entry_check_name(const struct image_file *file,
			    const struct image_file_entry *entry,
			    struct error *err)
{
	const char *name = entry_name_hash(entry);

	if (!name || !strcmp(name, entry->hash))
		return 0;
	return error_set(err, EINVAL,
			 "%s: the bytes of \"%.90s\" do not match its "
			 "name; the file is damaged",
			 file->path, entry->path);
}

/* After its first bytes: does the file tell the hash of the entry? */
static bool entry_is_told(const struct image_file *file,
			  struct image_file_entry *entry, size_t got)
{
	static const char tar[] = "ustar";
	const char *name = entry_name_hash(entry);

	snprintf(entry->hash, sizeof(entry->hash), "%s", name ? name : "");
	return name || (got >= TAR_HEADER &&
			!memcmp(file->piece + TAR_MAGIC, tar, strlen(tar)));
}

/* Hash the entry's bytes, unless its hash is told; keep small JSON, which may
 * be a manifest. Of a file that is not compressed, the rest of an entry need
 * not be read.
 */
static int image_file_read_entry(struct image_file *file,
				 struct image_file_entry *entry, uint64_t bytes,
				 struct error *err)
{
	struct digest digest;
	owned(buffer_clear) struct buffer text =
		BUFFER_INIT(IMAGE_FILE_TEXT_MAX);
	bool small = true, told = false;
	la_ssize_t got;

	digest_init(&digest);
	while ((got = archive_read_data(file->in, file->piece, PIECE)) > 0) {
		entry->bytes += (uint64_t)got;
		file->bytes += (uint64_t)got;
		if (unpack_check(file->in, &unpack_tar_bounds, file->bytes,
				 err) < 0)
			return error_prefix(err, "%s", file->path);
		if (entry->bytes == (uint64_t)got) {
			small = *file->piece == '{' || *file->piece == '[';
			told = !small && bytes > entry->bytes &&
			       entry_is_told(file, entry, (size_t)got);
		}
		small = small && buffer_append(&text, file->piece, (size_t)got,
					       NULL) == 0;
		if (!told)
			digest_add(&digest, file->piece, (size_t)got);
		else if (archive_filter_code(file->in, 0) ==
			 ARCHIVE_FILTER_NONE)
			break;
		if (file->progress)
			file->progress(file->arg,
				       (uint64_t)archive_filter_bytes(file->in,
								      -1),
				       file->size);
	}
	if (got < 0)
		return image_file_fail(file, err);
	entry->bytes = bytes;
	if (told)
		return 0;
	digest_hex(&digest, entry->hash);
	if (entry_check_name(file, entry, err) < 0)
		return -1;
	return small && entry->bytes
		       ? image_file_entry_keep(&file->entries, entry, text.data,
					       text.size, err)
		       : 0;
}

static int image_file_take_entry(struct image_file *file,
				 struct archive_entry *from, size_t place,
				 struct error *err)
{
	const char *path = archive_entry_pathname(from);
	const char *target = archive_entry_symlink(from);
	struct image_file_entry *entry;

	if (archive_entry_filetype(from) == AE_IFDIR || !path)
		return 0;
	if (archive_entry_hardlink(from) ||
	    (archive_entry_filetype(from) != AE_IFREG && !target))
		return error_set(err, EINVAL,
				 "%s: \"%.80s\" is not valid here; expected a "
				 "file, a folder or a symbolic link",
				 file->path, path);
	entry = image_file_entry_add(&file->entries, path, target, err);
	if (!entry)
		return error_prefix(err, "%s", file->path);
	entry->place = place;
	return target ? 0
		      : image_file_read_entry(file, entry,
					      (uint64_t)archive_entry_size(
						      from),
					      err);
}

static int image_file_read_all(struct image_file *file, struct error *err)
{
	struct archive_entry *entry;
	size_t place = 0;
	int rc;

	while ((rc = next_header(file, &entry, err)) > 0)
		if (image_file_take_entry(file, entry, place++, err) < 0)
			return -1;
	return rc;
}

struct image_file *image_file_open(const char *path,
				   image_file_progress_fn *progress, void *arg,
				   struct error *err)
{
	owned(image_file_free) struct image_file *file =
		calloc(1, sizeof(*file));
	struct stat st;

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
	return image_list(&file->entries, &file->bundle, err) < 0
		       ? error_null(error_prefix(err, "%s", path))
		       : take(file);
}

void image_file_free(struct image_file *file)
{
	if (!file)
		return;
	archive_read_free(file->in);
	image_file_entries_clear(&file->entries);
	image_bundle_clear(&file->bundle);
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
	size_t place = file->entry->place;
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

/* Some file with these bytes. */
static const struct image_file_entry *
image_file_entry_of(const struct image_file *file, const char *hash)
{
	const struct image_file_entry *entry = file->entries.list;

	while (entry->link || strcmp(entry->hash, hash) != 0)
		entry++;
	return entry;
}

static int image_file_send_blob(struct image_file *file, struct client *client,
				const struct image_bundle_blob *blob,
				struct error *err)
{
	const struct image_file_entry *entry =
		image_file_entry_of(file, blob->hash);
	struct blob_transfer transfer = {
		.hash = blob->hash,
		.bytes = blob->bytes,
		.data = entry->text && strlen(entry->text) == blob->bytes
				? entry->text
				: NULL,
		.begin = image_file_begin_entry,
		.read = read_data,
		.progress = on_sent,
		.arg = file,
	};

	file->entry = entry;
	return blob_transfer_put(client, &transfer, err) < 0
		       ? error_prefix(err, "%.80s", entry->path)
		       : 0;
}

int image_file_send_bundle(const struct image_file *file, struct client *client,
			   char hash[BLOB_HASH_SIZE], struct error *err)
{
	owned(buffer_clear) struct buffer text =
		BUFFER_INIT(IMAGE_BUNDLE_BYTES_MAX);
	struct digest digest;

	if (codec_encode(&image_bundle_schema, &file->bundle, &text, err) < 0)
		return -1;
	digest_init(&digest);
	digest_add(&digest, text.data, text.size);
	digest_hex(&digest, hash);
	return blob_transfer_put(client,
				 &(struct blob_transfer){ .hash = hash,
							  .bytes = text.size,
							  .data = text.data },
				 err);
}

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
	for (size_t i = 0; i < file->bundle.blobs_count; i++) {
		const struct image_bundle_blob *blob = &file->bundle.blobs[i];

		if (image_file_send_blob(file, client, blob, err) < 0)
			return -1;
		file->sent += blob->bytes;
		on_sent(file, 0, 0);
	}
	return 0;
}
