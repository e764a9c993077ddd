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
	int64_t left; /* of the tar file's bytes, for those of its entries */
	char folder[PATH_MAX]; /* without the '/' before and behind */
	bool open;
	bool begun, inside, ended;
	struct buffer pending;
	struct error error; /* of on_write() */
	char piece[PIECE];
};

static ssize_t on_write(struct archive *out, void *arg, const void *data,
			size_t size)
{
	struct workspace_upload *insert = arg;

	return buffer_append(&insert->pending, data, size, &insert->error) < 0
		       ? -1
		       : (ssize_t)size;
}

static int wrong(struct archive *archive, struct error *err)
{
	const char *why = archive_error_string(archive);

	return error_set(err, EINVAL, "workspace: %s",
			 why ? why : "not a valid tar file");
}

static int open_both(struct workspace_upload *insert, struct error *err)
{
	insert->in = archive_read_new();
	insert->out = archive_write_new();
	if (!insert->in || !insert->out)
		return error_nomem(err, "workspace");
	if (archive_read_support_format_tar(insert->in) != ARCHIVE_OK ||
	    archive_read_support_format_empty(insert->in) != ARCHIVE_OK ||
	    archive_read_open_fd(insert->in, insert->fd, PIECE) != ARCHIVE_OK)
		return wrong(insert->in, err);
	if (archive_write_set_format_pax_restricted(insert->out) !=
		    ARCHIVE_OK ||
	    archive_write_set_bytes_per_block(insert->out, 0) != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(insert->out, 1) !=
		    ARCHIVE_OK ||
	    archive_write_set_options(insert->out, "hdrcharset=BINARY") <
		    ARCHIVE_WARN ||
	    archive_write_open(insert->out, insert, NULL, on_write, NULL) !=
		    ARCHIVE_OK)
		return wrong(insert->out, err);
	return 0;
}

struct workspace_upload *workspace_upload_new(struct blob_store *contents,
					      const char *hash,
					      const char *folder, bool open,
					      struct error *err)
{
	owned(workspace_upload_free) struct workspace_upload *insert =
		error_calloc(sizeof(*insert), "workspace", err);
	struct stat st;
	size_t size;

	if (!insert)
		return NULL;
	buffer_init(&insert->pending, PENDING_MAX);
	insert->open = open;
	folder += strspn(folder, "/");
	size = strlen(folder);
	while (size && folder[size - 1] == '/')
		size--;
	if (!size || size >= sizeof(insert->folder)) {
		error_set(err, EINVAL,
			  "workspace: the folder does not exist in the "
			  "container");
		insert->fd = -1;
		return NULL;
	}
	memcpy(insert->folder, folder, size);
	insert->fd = blob_store_open(contents, hash, err);
	if (insert->fd < 0 || open_both(insert, err) < 0)
		return NULL;
	if (fstat(insert->fd, &st) < 0)
		return error_null(error_errno(err, "workspace"));
	insert->left = st.st_size;
	return take(insert);
}

void workspace_upload_free(struct workspace_upload *insert)
{
	if (!insert)
		return;
	archive_read_free(insert->in);
	buffer_clear(&insert->pending);
	/* What libarchive still holds goes nowhere. */
	buffer_init(&insert->pending, PENDING_MAX);
	archive_write_free(insert->out);
	buffer_clear(&insert->pending);
	if (insert->fd >= 0)
		close(insert->fd);
	free(insert);
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

/* Nothing was packed with holes, which would come out as so many bytes. */
static bool is_full(struct workspace_upload *insert,
		    struct archive_entry *entry)
{
	int64_t size = archive_entry_size(entry);

	if (size < 0 || size > insert->left)
		return false;
	insert->left -= size;
	return true;
}

static int put_entry(struct workspace_upload *insert,
		     struct archive_entry *entry, struct error *err)
{
	mode_t type = archive_entry_filetype(entry);
	const char *path = archive_entry_pathname(entry);
	owned_free char *below = NULL;
	mode_t mode = archive_entry_perm(entry) & 0111 ? 0755 : 0644;

	if (archive_entry_hardlink(entry) || !path || leads_up(path) ||
	    (type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK) ||
	    !is_full(insert, entry))
		return error_set(err, EPERM,
				 "workspace: \"%.80s\" differs from the packed "
				 "file",
				 path ? path : "");
	if (asprintf(&below, "%s/%s", insert->folder, path) < 0)
		return error_nomem(err, "workspace");
	archive_entry_set_pathname(entry, below);
	archive_entry_set_perm(entry, insert->open ? mode | 0666 : mode);
	archive_entry_set_uid(entry, 0);
	archive_entry_set_gid(entry, 0);
	archive_entry_xattr_clear(entry); /* capabilities of a file, too */
	archive_entry_acl_clear(entry);
	archive_entry_set_fflags(entry, 0, 0);
	insert->inside = type == AE_IFREG;
	return archive_write_header(insert->out, entry) == ARCHIVE_OK
		       ? 0
		       : wrong(insert->out, err);
}

/* The folder itself, which an empty workspace has, too. */
static int put_folder(struct workspace_upload *insert, struct error *err)
{
	struct archive_entry *entry = archive_entry_new();
	int rc;

	if (!entry)
		return error_nomem(err, "workspace");
	insert->begun = true;
	archive_entry_set_pathname(entry, insert->folder);
	archive_entry_set_filetype(entry, AE_IFDIR);
	archive_entry_set_perm(entry, insert->open ? 0777 : 0755);
	rc = archive_write_header(insert->out, entry);
	archive_entry_free(entry);
	return rc == ARCHIVE_OK ? 0 : wrong(insert->out, err);
}

static int put_piece(struct workspace_upload *insert, struct error *err)
{
	la_ssize_t got = archive_read_data(insert->in, insert->piece, PIECE);

	if (got < 0)
		return wrong(insert->in, err);
	insert->inside = got > 0;
	if (got &&
	    archive_write_data(insert->out, insert->piece, (size_t)got) != got)
		return wrong(insert->out, err);
	return 0;
}

static int step(struct workspace_upload *insert, struct error *err)
{
	struct archive_entry *entry;
	int rc;

	if (!insert->begun)
		return put_folder(insert, err);
	if (insert->inside)
		return put_piece(insert, err);
	rc = archive_read_next_header(insert->in, &entry);
	/* A warning is about names that are not of this locale. */
	if (rc == ARCHIVE_OK || rc == ARCHIVE_WARN)
		return put_entry(insert, entry, err);
	if (rc != ARCHIVE_EOF)
		return wrong(insert->in, err);
	insert->ended = true;
	return archive_write_close(insert->out) == ARCHIVE_OK
		       ? 0
		       : wrong(insert->out, err);
}

ssize_t workspace_upload_read(void *arg, void *buffer, size_t size,
			      struct error *err)
{
	struct workspace_upload *insert = arg;

	while (!insert->pending.size && !insert->ended)
		if (step(insert, err) < 0)
			return -1;
	if (size > insert->pending.size)
		size = insert->pending.size;
	memcpy(buffer, insert->pending.data, size);
	buffer_consume(&insert->pending, size);
	return (ssize_t)size;
}
