/* workspace_upload.c - feeds any bytes to what puts workspaces into containers:
 * all that comes out lies below the folder, and is a file, a folder or a link.
 */
#include "agent/blobs/workspace_upload.h"
#include "protocol/base/buffer.h"
#include "protocol/base/file.h"
#include "protocol/blob/incoming.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FOLDER "srv/space"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static void check_entry(struct archive_entry *entry)
{
	const char *path = archive_entry_pathname(entry);
	mode_t type = archive_entry_filetype(entry);

	must(path && !strncmp(path, FOLDER, strlen(FOLDER)));
	path += strlen(FOLDER);
	must(!*path || *path == '/');
	must(!strstr(path, "/../") &&
	     (strlen(path) < 3 || strcmp(path + strlen(path) - 3, "/..") != 0));
	must(type == AE_IFREG || type == AE_IFDIR || type == AE_IFLNK);
	must(!archive_entry_hardlink(entry));
	must(!archive_entry_xattr_count(entry) &&
	     !archive_entry_fflags_text(entry));
}

static void check(const struct buffer *tar)
{
	struct archive *in = archive_read_new();
	struct archive_entry *entry;

	must(in && archive_read_support_format_tar(in) == ARCHIVE_OK &&
	     archive_read_open_memory(in, tar->data, tar->size) == ARCHIVE_OK);
	while (archive_read_next_header(in, &entry) == ARCHIVE_OK)
		check_entry(entry);
	archive_read_free(in);
}

static void insert(struct blob_store *contents, const char *hash)
{
	owned(workspace_upload_free) struct workspace_upload *insert = NULL;
	owned(buffer_clear) struct buffer tar;
	struct error err = { 0 };
	char piece[4096];
	ssize_t got = 0;

	buffer_init(&tar, 4 << 20);
	insert = workspace_upload_new(contents, hash, "/" FOLDER, false, &err);
	while (insert && tar.size < 2 << 20 &&
	       (got = workspace_upload_read(insert, piece, sizeof(piece),
					    &err)) > 0)
		must(buffer_append(&tar, piece, (size_t)got, NULL) == 0);
	if (!insert || got < 0)
		must(err.code && err.text[0]);
	else if (!got)
		check(&tar);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char top[] = "/dev/shm/insert-fuzz-XXXXXX";
	owned(blob_store_free) struct blob_store *contents = NULL;
	char hash[CONTENT_HASH_SIZE];
	struct incoming *incoming;

	must(mkdtemp(top));
	contents = blob_store_new(top, NULL);
	must(contents);
	incoming = incoming_new(contents, NULL, size + 1, NULL);
	must(incoming && incoming_write(incoming, data, size, NULL) == 0);
	while (incoming_finish(incoming, hash, NULL) > 0)
		;
	incoming_free(incoming);
	insert(contents, hash);
	blob_store_free(take(contents));
	file_remove_tree(AT_FDCWD, top, NULL);
	return 0;
}
