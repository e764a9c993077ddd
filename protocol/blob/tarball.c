/* tarball.c - packs a folder into a tar stream that is the same everywhere.
 */
#include "protocol/blob/tarball.h"

#include "protocol/base/buffer.h"
#include "protocol/base/digest.h"
#include "protocol/base/file.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PIECE (64 << 10)
#define PENDING_MAX (1 << 20)

/* A folder that is being packed. */
struct level {
	int fd;
	struct strings names; /* sorted */
	size_t next;
	size_t path; /* length of the path up to here, with its '/' */
};

struct tarball {
	struct archive *out;
	const struct ignore *ignore;
	struct buffer pending; /* made, not yet read */
	struct level levels[TARBALL_DEPTH_MAX];
	size_t depth;
	size_t entries;
	struct buffer path; /* of the entry, below the folder */
	int file;           /* being packed, or -1 */
	uint64_t left;      /* of it */
	bool ended;         /* nothing more is made */
	uint64_t size;
	struct digest digest;
	char hash[DIGEST_HEX_SIZE];
	struct error error; /* code 0: none */
	char piece[PIECE];
};

static void level_clear(struct level *level)
{
	strings_clear(&level->names);
	close(level->fd);
	*level = (struct level){ .fd = -1 };
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Never ENOENT, which the caller would take for "no such image". */
static int file_error(struct tarball *tarball)
{
	return error_set(&tarball->error, errno == ENOMEM ? ENOMEM : EINVAL,
			 "%s: %s",
			 tarball->path.size ? tarball->path.data : ".",
			 strerror(errno));
}

static int list_names(struct tarball *tarball, struct level *level)
{
	owned_dir DIR *dir = file_open_folder(level->fd, ".");
	struct strings *names = &level->names;
	struct dirent *entry;

	if (!dir)
		return file_error(tarball);
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (++tarball->entries > TARBALL_ENTRIES_MAX)
			return error_set(&tarball->error, EINVAL,
					 "more than %d files",
					 TARBALL_ENTRIES_MAX);
		if (strings_add(names, entry->d_name, &tarball->error) < 0)
			return error_prefix(&tarball->error, "tar");
	}
	if (names->count)
		qsort(names->items, names->count, sizeof(*names->items),
		      by_bytes);
	return 0;
}

/* Takes the folder fd over. */
static int push_level(struct tarball *tarball, int fd)
{
	struct level *level;

	if (tarball->depth == TARBALL_DEPTH_MAX) {
		close(fd);
		return error_set(&tarball->error, EINVAL,
				 "%.80s: more than %d folders deep",
				 tarball->path.data, TARBALL_DEPTH_MAX);
	}
	level = &tarball->levels[tarball->depth++];
	*level = (struct level){ .fd = fd, .path = tarball->path.size };
	return list_names(tarball, level);
}

static ssize_t tarball_write(struct archive *out, void *arg, const void *data,
			     size_t size)
{
	struct tarball *tarball = arg;

	if (buffer_append(&tarball->pending, data, size, &tarball->error) < 0)
		return -1;
	return (ssize_t)size;
}

/* The error of libarchive, unless tarball_write() has set one. */
static int archive_failed(struct tarball *tarball)
{
	if (tarball->error.code)
		return -1;
	return error_set(&tarball->error, EINVAL, "%.80s: %s",
			 tarball->path.data,
			 archive_error_string(tarball->out));
}

static int write_header(struct tarball *tarball, const struct stat *st,
			const char *target)
{
	struct archive_entry *entry = archive_entry_new();
	bool executable = S_ISDIR(st->st_mode) || S_ISLNK(st->st_mode) ||
			  (st->st_mode & 0111);
	int rc;

	if (!entry)
		return error_nomem(&tarball->error, "tar");
	archive_entry_set_pathname(entry, tarball->path.data);
	archive_entry_set_filetype(entry, st->st_mode & S_IFMT);
	archive_entry_set_perm(entry, executable ? 0755 : 0644);
	archive_entry_set_mtime(entry, 0, 0);
	archive_entry_set_uid(entry, 0);
	archive_entry_set_gid(entry, 0);
	archive_entry_set_size(entry, S_ISREG(st->st_mode) ? st->st_size : 0);
	if (target)
		archive_entry_set_symlink(entry, target);
	rc = archive_write_header(tarball->out, entry);
	archive_entry_free(entry);
	return rc == ARCHIVE_OK ? 0 : archive_failed(tarball);
}

static int begin_link(struct tarball *tarball, const struct level *level,
		      const char *name, const struct stat *st)
{
	char target[PATH_MAX];
	ssize_t size = readlinkat(level->fd, name, target, sizeof(target) - 1);

	if (size < 0)
		return file_error(tarball);
	target[size] = 0;
	return write_header(tarball, st, target);
}

static int begin_file(struct tarball *tarball, const struct level *level,
		      const char *name)
{
	/* O_NONBLOCK: do not wait if a FIFO has replaced the file. */
	owned_fd int fd =
		openat(level->fd, name,
		       O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return file_error(tarball);
	if (!S_ISREG(st.st_mode))
		return error_set(&tarball->error, EIO,
				 "%.80s: changed while being packed",
				 tarball->path.data);
	if (write_header(tarball, &st, NULL) < 0)
		return -1;
	tarball->left = (uint64_t)st.st_size;
	if (tarball->left)
		tarball->file = take_fd(&fd);
	return 0;
}

static int tarball_begin_folder(struct tarball *tarball,
				const struct level *level, const char *name,
				const struct stat *st, bool left_out)
{
	int fd = openat(level->fd, name,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return file_error(tarball);
	if (buffer_text(&tarball->path, "/", &tarball->error) < 0 ||
	    (!left_out && write_header(tarball, st, NULL) < 0)) {
		close(fd);
		return -1;
	}
	return push_level(tarball, fd);
}

static int tarball_begin_entry(struct tarball *tarball, struct level *level)
{
	const char *name = level->names.items[level->next++];
	struct stat st;
	bool left_out;

	if (tarball->path.size > level->path) {
		tarball->path.size = level->path;
		tarball->path.data[level->path] = 0;
	}
	if (buffer_text(&tarball->path, name, &tarball->error) < 0)
		return -1;
	if (fstatat(level->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return file_error(tarball);
	left_out = tarball->ignore &&
		   ignore_match(tarball->ignore, tarball->path.data,
				S_ISDIR(st.st_mode));
	if (left_out &&
	    !(S_ISDIR(st.st_mode) && ignore_inside(tarball->ignore)))
		return 0;
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return begin_file(tarball, level, name);
	case S_IFDIR:
		return tarball_begin_folder(tarball, level, name, &st,
					    left_out);
	case S_IFLNK:
		return begin_link(tarball, level, name, &st);
	}
	return error_set(&tarball->error, EINVAL,
			 "%.80s: not a file, folder or link",
			 tarball->path.data);
}

/* 64 KiB more of the file. */
static int pack_piece(struct tarball *tarball)
{
	size_t want = tarball->left < PIECE ? (size_t)tarball->left : PIECE;
	ssize_t got = read(tarball->file, tarball->piece, want);

	if (got < 0)
		return file_error(tarball);
	if (!got)
		return error_set(&tarball->error, EIO,
				 "%.80s: changed while being packed",
				 tarball->path.data);
	if (archive_write_data(tarball->out, tarball->piece, (size_t)got) !=
	    got)
		return archive_failed(tarball);
	tarball->left -= (uint64_t)got;
	if (!tarball->left) {
		close(tarball->file);
		tarball->file = -1;
	}
	return 0;
}

static int pack_step(struct tarball *tarball)
{
	struct level *level;

	if (tarball->file >= 0)
		return pack_piece(tarball);
	while (tarball->depth) {
		level = &tarball->levels[tarball->depth - 1];
		if (level->next < level->names.count)
			return tarball_begin_entry(tarball, level);
		level_clear(level);
		tarball->depth--;
	}
	if (archive_write_close(tarball->out) != ARCHIVE_OK)
		return archive_failed(tarball);
	tarball->ended = true;
	return 0;
}

ssize_t tarball_read(void *arg, void *buffer, size_t size, struct error *err)
{
	struct tarball *tarball = arg;

	while (!tarball->pending.size && !tarball->ended)
		if (tarball->error.code || pack_step(tarball) < 0)
			return error_set(err, tarball->error.code, "%s",
					 tarball->error.text);
	if (size > tarball->pending.size)
		size = tarball->pending.size;
	memcpy(buffer, tarball->pending.data, size);
	buffer_consume(&tarball->pending, size);
	digest_add(&tarball->digest, buffer, size);
	tarball->size += size;
	if (!size && !tarball->hash[0])
		digest_hex(&tarball->digest, tarball->hash);
	return (ssize_t)size;
}

uint64_t tarball_size(const struct tarball *tarball)
{
	return tarball->size;
}

const char *tarball_hash(const struct tarball *tarball)
{
	return tarball->hash;
}

struct archive *tar_writer_new(archive_write_callback *put, void *arg,
			       bool any_names, struct error *err)
{
	struct archive *out = archive_write_new();

	if (!out)
		return error_null(error_nomem(err, "tar"));
	/* The plain old format, with pax headers only where it is too small;
	 * blocks only as long as what is in them.
	 */
	if (archive_write_set_format_pax_restricted(out) == ARCHIVE_OK &&
	    archive_write_set_bytes_per_block(out, 0) == ARCHIVE_OK &&
	    archive_write_set_bytes_in_last_block(out, 1) == ARCHIVE_OK &&
	    (!any_names ||
	     archive_write_set_options(out, "hdrcharset=BINARY") >=
		     ARCHIVE_WARN) &&
	    archive_write_open(out, arg, NULL, put, NULL) == ARCHIVE_OK)
		return out;
	error_set(err, EINVAL, "tar: %s", archive_error_string(out));
	archive_write_free(out);
	return NULL;
}

struct tarball *tarball_new(const char *folder, const struct ignore *ignore,
			    struct error *err)
{
	owned(tarball_free) struct tarball *tarball =
		calloc(1, sizeof(*tarball));
	int fd;

	if (!tarball)
		return error_null(error_nomem(err, "tar"));
	tarball->file = -1;
	tarball->ignore = ignore;
	buffer_init(&tarball->pending, PENDING_MAX);
	buffer_init(&tarball->path, PATH_MAX);
	digest_init(&tarball->digest);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_null(error_set(err, EINVAL, "folder %s: %s",
					    folder, strerror(errno)));
	if (push_level(tarball, fd) < 0)
		return error_null(error_set(err, tarball->error.code,
					    "folder %s: %s", folder,
					    tarball->error.text));
	tarball->out = tar_writer_new(tarball_write, tarball, true, err);
	return tarball->out ? take(tarball) : NULL;
}

void tarball_free(struct tarball *tarball)
{
	if (!tarball)
		return;
	while (tarball->depth)
		level_clear(&tarball->levels[--tarball->depth]);
	if (tarball->file >= 0)
		close(tarball->file);
	archive_write_free(tarball->out); /* this may still write to pending */
	buffer_clear(&tarball->pending);
	buffer_clear(&tarball->path);
	free(tarball);
}
