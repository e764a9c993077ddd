/* workspace_upload.c - unpacks a workspace into a container.
 */
#include "agent/blobs/workspace_upload.h"

#include "protocol/base/buffer.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define PIECE (64 << 10)
#define PENDING_MAX (1 << 20)

struct workspace_upload {
	struct archive *in, *out;
	int fd;
	int64_t left; /* of the tar file's size, for the next entries */
	char folder[PATH_MAX]; /* without '/' at either end */
	bool open;
	bool begun, inside, ended;
	struct buffer pending;
	struct error error; /* of workspace_upload_write() */
	char piece[PIECE];
};

static ssize_t workspace_upload_write(struct archive *out, void *arg,
				      const void *data, size_t size)
{
	struct workspace_upload *upload = arg;

	return buffer_append(&upload->pending, data, size, &upload->error) < 0
		       ? -1
		       : (ssize_t)size;
}

static int upload_archive_fail(struct archive *archive, struct error *err)
{
	const char *why = archive_error_string(archive);

	return error_set(err, EINVAL, "workspace: %s",
			 why ? why : "not a valid tar file");
}

static int open_both(struct workspace_upload *upload, struct error *err)
{
	upload->in = archive_read_new();
	upload->out = archive_write_new();
	if (!upload->in || !upload->out)
		return error_nomem(err, "workspace");
	if (archive_read_support_format_tar(upload->in) != ARCHIVE_OK ||
	    archive_read_support_format_empty(upload->in) != ARCHIVE_OK ||
	    archive_read_open_fd(upload->in, upload->fd, PIECE) != ARCHIVE_OK)
		return upload_archive_fail(upload->in, err);
	if (archive_write_set_format_pax_restricted(upload->out) !=
		    ARCHIVE_OK ||
	    archive_write_set_bytes_per_block(upload->out, 0) != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(upload->out, 1) !=
		    ARCHIVE_OK ||
	    archive_write_set_options(upload->out, "hdrcharset=BINARY") <
		    ARCHIVE_WARN ||
	    archive_write_open(upload->out, upload, NULL,
			       workspace_upload_write, NULL) != ARCHIVE_OK)
		return upload_archive_fail(upload->out, err);
	return 0;
}

struct workspace_upload *workspace_upload_new(struct blob_store *contents,
					      const char *hash,
					      const char *folder, bool open,
					      struct error *err)
{
	owned(workspace_upload_free) struct workspace_upload *upload =
		error_calloc(sizeof(*upload), "workspace", err);
	struct stat st;
	size_t size;

	if (!upload)
		return NULL;
	buffer_init(&upload->pending, PENDING_MAX);
	upload->open = open;
	folder += strspn(folder, "/");
	size = strlen(folder);
	while (size && folder[size - 1] == '/')
		size--;
	if (!size || size >= sizeof(upload->folder)) {
		error_set(err, EINVAL,
			  "workspace: the folder does not exist in the "
			  "container");
		upload->fd = -1;
		return NULL;
	}
	memcpy(upload->folder, folder, size);
	upload->fd = blob_store_open(contents, hash, err);
	if (upload->fd < 0 || open_both(upload, err) < 0)
		return NULL;
	if (fstat(upload->fd, &st) < 0)
		return error_null(error_errno(err, "workspace"));
	upload->left = st.st_size;
	return take(upload);
}

void workspace_upload_free(struct workspace_upload *upload)
{
	if (!upload)
		return;
	archive_read_free(upload->in);
	buffer_clear(&upload->pending);
	/* archive_write_free() may still write. */
	buffer_init(&upload->pending, PENDING_MAX);
	archive_write_free(upload->out);
	buffer_clear(&upload->pending);
	if (upload->fd >= 0)
		close(upload->fd);
	free(upload);
}

static bool leads_up(const char *path)
{
	while (*path) {
		size_t size = strcspn(path, "/");

		if (size == 2 && !strncmp(path, "..", 2))
			return true;
		path += size + (path[size] == '/');
	}
	return false;
}

/* An entry with holes could be larger than the whole tar file. */
static bool is_full(struct workspace_upload *upload,
		    struct archive_entry *entry)
{
	int64_t size = archive_entry_size(entry);

	if (size < 0 || size > upload->left)
		return false;
	upload->left -= size;
	return true;
}

static int upload_put_entry(struct workspace_upload *upload,
			    struct archive_entry *entry, struct error *err)
{
	mode_t type = archive_entry_filetype(entry);
	const char *path = archive_entry_pathname(entry);
	owned_free char *below = NULL;
	mode_t mode = archive_entry_perm(entry) & 0111 ? 0755 : 0644;

	if (archive_entry_hardlink(entry) || !path || leads_up(path) ||
	    (type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK) ||
	    !is_full(upload, entry))
		return error_set(err, EPERM,
				 "workspace: \"%.80s\" differs from the packed "
				 "file",
				 path ? path : "");
	if (asprintf(&below, "%s/%s", upload->folder, path) < 0)
		return error_nomem(err, "workspace");
	archive_entry_set_pathname(entry, below);
	archive_entry_set_perm(entry, upload->open ? mode | 0666 : mode);
	archive_entry_set_uid(entry, 0);
	archive_entry_set_gid(entry, 0);
	archive_entry_xattr_clear(entry); /* also file capabilities */
	archive_entry_acl_clear(entry);
	archive_entry_set_fflags(entry, 0, 0);
	upload->inside = type == AE_IFREG;
	return archive_write_header(upload->out, entry) == ARCHIVE_OK
		       ? 0
		       : upload_archive_fail(upload->out, err);
}

/* The folder itself: an empty workspace has it as well. */
static int upload_put_folder(struct workspace_upload *upload, struct error *err)
{
	struct archive_entry *entry = archive_entry_new();
	int rc;

	if (!entry)
		return error_nomem(err, "workspace");
	upload->begun = true;
	archive_entry_set_pathname(entry, upload->folder);
	archive_entry_set_filetype(entry, AE_IFDIR);
	archive_entry_set_perm(entry, upload->open ? 0777 : 0755);
	rc = archive_write_header(upload->out, entry);
	archive_entry_free(entry);
	return rc == ARCHIVE_OK ? 0 : upload_archive_fail(upload->out, err);
}

static int upload_put_piece(struct workspace_upload *upload, struct error *err)
{
	la_ssize_t got = archive_read_data(upload->in, upload->piece, PIECE);

	if (got < 0)
		return upload_archive_fail(upload->in, err);
	upload->inside = got > 0;
	if (got &&
	    archive_write_data(upload->out, upload->piece, (size_t)got) != got)
		return upload_archive_fail(upload->out, err);
	return 0;
}

static int upload_step(struct workspace_upload *upload, struct error *err)
{
	struct archive_entry *entry;
	int rc;

	if (!upload->begun)
		return upload_put_folder(upload, err);
	if (upload->inside)
		return upload_put_piece(upload, err);
	rc = archive_read_next_header(upload->in, &entry);
	/* ARCHIVE_WARN: a name has letters that the locale lacks. */
	if (rc == ARCHIVE_OK || rc == ARCHIVE_WARN)
		return upload_put_entry(upload, entry, err);
	if (rc != ARCHIVE_EOF)
		return upload_archive_fail(upload->in, err);
	upload->ended = true;
	return archive_write_close(upload->out) == ARCHIVE_OK
		       ? 0
		       : upload_archive_fail(upload->out, err);
}

ssize_t workspace_upload_read(void *arg, void *buffer, size_t size,
			      struct error *err)
{
	struct workspace_upload *upload = arg;

	while (!upload->pending.size && !upload->ended)
		if (upload_step(upload, err) < 0)
			return -1;
	if (size > upload->pending.size)
		size = upload->pending.size;
	memcpy(buffer, upload->pending.data, size);
	buffer_consume(&upload->pending, size);
	return (ssize_t)size;
}
