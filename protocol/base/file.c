/* file.c - files and folders: whole reads, atomic writes, file trees.
 */
#include "protocol/base/file.h"

#include "protocol/base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int file_path(char path[PATH_MAX], struct error *err, const char *fmt, ...)
{
	va_list args;
	int length;

	va_start(args, fmt);
	length = vsnprintf(path, PATH_MAX, fmt, args);
	va_end(args);
	return length >= 0 && length < PATH_MAX
		       ? 0
		       : error_set(err, EINVAL,
				   "%.80s...: the path is too long", path);
}

int file_read_fd(int fd, const char *path, struct buffer *out,
		 struct error *err)
{
	buffer_clear(out);
	for (;;) {
		/* A full buffer tries to read one byte more. That tells a
		 * file of exactly the limit from a larger one. */
		char probe;
		size_t room = out->limit - out->size;
		ssize_t n;

		if (room > 65536)
			room = 65536;
		if (buffer_reserve(out, room, err) < 0)
			return error_prefix(err, "%s", path);
		n = room ? read(fd, out->data + out->size, room)
			 : read(fd, &probe, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, "%s", path);
		if (n == 0)
			return 0;
		if (!room)
			return error_set(err, E2BIG, "%s: more than %zu bytes",
					 path, out->limit);
		out->size += (size_t)n;
		out->data[out->size] = 0;
	}
}

int file_read(int dirfd, const char *path, struct buffer *out,
	      struct error *err)
{
	owned_fd int fd =
		openat(dirfd, path,
		       O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno(err, "%s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "%s: not a regular file", path);
	return file_read_fd(fd, path, out, err);
}

int file_read_any(const char *path, struct buffer *out, struct error *err)
{
	owned_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_errno(err, "%s", path);
	return file_read_fd(fd, path, out, err);
}

int file_write_all(int fd, const char *name, const void *data, size_t size,
		   struct error *err)
{
	const char *at = data;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, "%s", name);
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int file_write_at(int fd, const void *data, size_t size, uint64_t offset)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = pwrite(fd, (const char *)data + done, size - done,
				   (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		done += (size_t)n;
	}
	return 0;
}

/* Make the file's name durable: fsync(2) of the file does not sync its folder.
 */
static int sync_folder_of(int dirfd, const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	owned_free char *folder =
		slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	owned_fd int fd = -1;

	if (!folder)
		return error_nomem(err, path);
	fd = openat(dirfd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* EINVAL: this file system cannot sync folders. */
	if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
		return error_errno(err, "%s", folder);
	return 0;
}

int file_write(int dirfd, const char *path, const void *data, size_t size,
	       mode_t mode, int durable, struct error *err)
{
	char temporary[4096];
	owned_fd int fd = -1;

	if (snprintf(temporary, sizeof(temporary), "%s.new", path) >=
	    (int)sizeof(temporary))
		return error_set(err, ENAMETOOLONG, "%s: name too long", path);
	if (unlinkat(dirfd, temporary, 0) < 0 && errno != ENOENT)
		return error_errno(err, "%s", temporary);
	fd = openat(dirfd, temporary,
		    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return error_errno(err, "%s", temporary);
	if (fchmod(fd, mode) < 0 ||
	    file_write_all(fd, path, data, size, NULL) < 0 ||
	    (durable && fsync(fd) < 0) ||
	    renameat(dirfd, temporary, dirfd, path) < 0) {
		error_errno(err, "%s", path);
		unlinkat(dirfd, temporary, 0);
		return -1;
	}
	return durable ? sync_folder_of(dirfd, path, err) : 0;
}

int file_write_any(const char *path, const void *data, size_t size,
		   struct error *err)
{
	owned_fd int fd = -1;

	if (file_check_replaced(path, NULL) == 0)
		return file_write(AT_FDCWD, path, data, size, 0644, 0, err);
	fd = open(path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, "%s", path);
	return file_write_all(fd, path, data, size, err);
}

int file_check_replaced(const char *path, struct error *err)
{
	struct stat st;

	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return error_set(err, EINVAL,
				 "%s is a %s; expected the name of a file",
				 path,
				 S_ISDIR(st.st_mode)   ? "folder"
				 : S_ISLNK(st.st_mode) ? "link"
						       : "device or pipe");
	return 0;
}

int file_make_folders(const char *path, mode_t mode, struct error *err)
{
	char part[4096];
	size_t length = strlen(path);

	if (length >= sizeof(part))
		return error_set(err, ENAMETOOLONG, "%s: name too long", path);
	for (size_t i = 1; i <= length; i++) {
		if (path[i] != '/' && path[i] != 0)
			continue;
		memcpy(part, path, i);
		part[i] = 0;
		if (mkdir(part, mode) < 0 && errno != EEXIST)
			return error_errno(err, "%s", part);
	}
	return 0;
}

/* Root runs in a folder of whoever called it by sudo, too. */
static bool owner_is_trusted(uid_t owner)
{
	const char *caller = geteuid() ? NULL : getenv("SUDO_UID");

	return !owner || owner == geteuid() ||
	       (caller && owner == strtoul(caller, NULL, 10));
}

static int own_refuse(const char *path, const char *what, uid_t owner,
		      struct error *err)
{
	return error_set(err, EPERM,
			 "%.120s: %s of user %u, who could replace what is in "
			 "it; name a folder of your own",
			 path, what, owner);
}

/* Who owns a folder above could put another one in the place of this one, or a
 * link, also after it was looked at. Only root has to be that careful: others
 * can lose what is theirs alone.
 */
static int check_above(const char *path, struct error *err)
{
	char part[PATH_MAX];

	if (geteuid())
		return 0;
	for (const char *at = strchr(path + 1, '/'); at;
	     at = strchr(at + 1, '/')) {
		struct stat st, link;

		snprintf(part, sizeof(part), "%.*s", (int)(at - path), path);
		if (lstat(part, &link) < 0 || stat(part, &st) < 0)
			return error_errno(err, "%.120s", part);
		if (!owner_is_trusted(link.st_uid) ||
		    !owner_is_trusted(st.st_uid))
			return own_refuse(part, "a folder", st.st_uid, err);
		if ((st.st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH)
			return error_set(err, EPERM,
					 "%.120s: everybody may write in this "
					 "folder, and replace what is in it",
					 part);
	}
	return 0;
}

int file_open_own(const char *path, struct error *err)
{
	struct stat st = { 0 };
	owned_fd int fd = -1;
	bool linked = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);

	if (linked && st.st_uid && st.st_uid != geteuid())
		return own_refuse(path, "a link", st.st_uid, err);
	if (check_above(path, err) < 0)
		return -1;
	/* A link that was no link a moment ago is somebody else's. */
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC |
				(linked ? 0 : O_NOFOLLOW));
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno(err, "%.120s", path);
	if (st.st_uid != geteuid())
		return own_refuse(path, "a folder", st.st_uid, err);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return error_set(err, EPERM,
				 "%.120s: others may write in this folder; run "
				 "chmod go-w for it, if you trust what is in "
				 "it",
				 path);
	return take_fd(&fd);
}

int file_make_own(const char *path, mode_t mode, struct error *err)
{
	char above[PATH_MAX];
	char *slash;

	if (file_path(above, err, "%s", path) < 0)
		return -1;
	while ((slash = strrchr(above, '/')) && slash > above && !slash[1])
		*slash = 0;
	if (slash && slash > above) {
		*slash = 0;
		if (file_make_folders(above, 0755, err) < 0)
			return -1;
	}
	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return error_errno(err, "%s", path);
	return file_open_own(path, err);
}

DIR *file_open_folder(int dirfd, const char *path)
{
	int fd = openat(dirfd, path,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int file_list(const char *folder, size_t max, struct strings *names,
	      struct error *err)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_visible, alphasort), rc = 0;

	if (count < 0)
		return errno == ENOENT ? 0 : error_errno(err, "%s", folder);
	if ((size_t)count > max)
		rc = error_set(err, E2BIG,
			       "%s: %d files and folders; expected at most %zu",
			       folder, count, max);
	for (int i = 0; i < count; i++) {
		if (rc == 0)
			rc = strings_add(names, entries[i]->d_name, err);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

/* Removing a tree takes passes over the folder at its root. Each pass empties
 * the subfolders: it removes files and empty folders, and moves other folders
 * up into the root. So the depth costs neither descriptors nor stack, and no
 * path grows too long.
 */
struct removal {
	int root;
	uint64_t moved; /* counts names */
	uint64_t left;  /* entries that this call may still handle */
	bool progress;  /* in this pass */
};

/* 1: `left` is used up. */
typedef int entry_fn(struct removal *removal, int folder, const char *name,
		     struct error *err);

/* Call fn for each entry of the folder `name`. */
static int each_entry(struct removal *removal, int folder, const char *name,
		      entry_fn *fn, struct error *err)
{
	owned_dir DIR *dir = file_open_folder(folder, name);
	struct dirent *entry;
	int rc = 0;

	if (!dir)
		return error_errno(err, "folder");
	while (rc == 0 && (errno = 0, entry = readdir(dir)))
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		else if (!removal->left--)
			rc = 1;
		else
			rc = fn(removal, dirfd(dir), entry->d_name, err);
	return rc == 0 && errno ? error_errno(err, "folder") : rc;
}

/* Remove a file, a link or an empty folder; nothing there is success.
 * -1 with ENOTEMPTY in errno: a folder with something in it.
 */
static int remove_entry(int folder, const char *name)
{
	int code;

	if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	code = errno;
	if (unlinkat(folder, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if (errno == EEXIST)
		errno = ENOTEMPTY;
	else if (errno == ENOTDIR)
		errno = code;
	return -1;
}

static int move_up(struct removal *removal, int folder, const char *name,
		   struct error *err)
{
	char to[32];

	for (;;) {
		snprintf(to, sizeof(to), ".removing-%" PRIu64,
			 removal->moved++);
		if (renameat(folder, name, removal->root, to) == 0 ||
		    errno == ENOENT)
			return 0;
		/* The name is taken: try the next one. */
		if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
			return error_errno(err, "%s", name);
	}
}

/* An entry of a subfolder of the root. */
static int remove_or_move(struct removal *removal, int folder, const char *name,
			  struct error *err)
{
	if (remove_entry(folder, name) < 0) {
		if (errno != ENOTEMPTY)
			return error_errno(err, "%s", name);
		if (move_up(removal, folder, name, err) < 0)
			return -1;
	}
	removal->progress = true;
	return 0;
}

/* An entry of the root. */
static int remove_from_root(struct removal *removal, int folder,
			    const char *name, struct error *err)
{
	int rc;

	if (remove_entry(folder, name) == 0) {
		removal->progress = true;
		return 0;
	}
	if (errno != ENOTEMPTY)
		return error_errno(err, "%s", name);
	rc = each_entry(removal, folder, name, remove_or_move, err);
	if (rc)
		return rc < 0 ? error_prefix(err, "%s", name) : rc;
	/* When it is not empty after all, the next pass sees it. */
	remove_entry(folder, name);
	return 0;
}

/* A pass may or may not see what it has moved up. So the root counts as empty
 * only when it can be removed.
 */
static int remove_folder(struct removal *removal, int dirfd, const char *path,
			 struct error *err)
{
	do {
		int rc;

		removal->progress = false;
		rc = each_entry(removal, removal->root, ".", remove_from_root,
				err);
		if (rc)
			return rc;
		if (remove_entry(dirfd, path) == 0)
			return 0;
	} while (errno == ENOTEMPTY && removal->progress);
	return error_errno(err, "folder");
}

int file_remove_some(int dirfd, const char *path, uint64_t entries,
		     struct error *err)
{
	/* Starting at the time avoids the names of an earlier call. */
	struct removal removal = { .left = entries,
				   .moved = (uint64_t)clock_mono_ms() << 16 };
	owned_fd int root = -1;
	int rc;

	if (remove_entry(dirfd, path) == 0)
		return 0;
	if (errno != ENOTEMPTY)
		return error_errno(err, "%s", path);
	root = openat(dirfd, path,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (root < 0)
		return error_errno(err, "%s", path);
	removal.root = root;
	rc = remove_folder(&removal, dirfd, path, err);
	return rc < 0 ? error_prefix(err, "%s", path) : rc;
}

int file_remove_tree(int dirfd, const char *path, struct error *err)
{
	return file_remove_some(dirfd, path, UINT64_MAX, err);
}
