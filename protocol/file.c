/* file.c - files and folders: whole reads, atomic writes, trees.
 */
#include "protocol/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int read_all(int fd, const char *path, struct buffer *out,
		    struct error *err)
{
	owned(buffer_clear) struct buffer got;

	buffer_init(&got, out->limit);
	for (;;) {
		/* A full buffer still tries one byte more, to tell a file of
		 * exactly the limit from a larger one. */
		char probe;
		size_t room = got.limit - got.size;
		ssize_t n;

		if (room > 65536)
			room = 65536;
		if (buffer_reserve(&got, room, err) < 0)
			return error_prefix(err, "%s", path);
		n = room ? read(fd, got.data + got.size, room)
			 : read(fd, &probe, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, "%s", path);
		if (n == 0)
			break;
		if (!room)
			return error_set(err, E2BIG, "%s: more than %zu bytes",
					 path, got.limit);
		got.size += (size_t)n;
		got.data[got.size] = 0;
	}
	buffer_clear(out);
	*out = got;
	buffer_init(&got, out->limit);
	return 0;
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
	return read_all(fd, path, out, err);
}

int file_read_any(const char *path, struct buffer *out, struct error *err)
{
	owned_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_errno(err, "%s", path);
	return read_all(fd, path, out, err);
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		size -= (size_t)n;
	}
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
	if (fchmod(fd, mode) < 0 || write_all(fd, data, size) < 0 ||
	    (durable && fsync(fd) < 0) ||
	    renameat(dirfd, temporary, dirfd, path) < 0) {
		error_errno(err, "%s", path);
		unlinkat(dirfd, temporary, 0);
		return -1;
	}
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

int file_remove_tree(int dirfd, const char *path, struct error *err)
{
	int fd;
	DIR *dir;
	struct dirent *entry;
	int rc = 0;

	if (unlinkat(dirfd, path, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return error_errno(err, "%s", path);
	fd = openat(dirfd, path,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, "%s", path);
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return error_errno(err, "%s", path);
	}
	while (rc == 0 && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			rc = file_remove_tree(fd, entry->d_name, err);
	closedir(dir);
	if (rc < 0)
		return error_prefix(err, "%s", path);
	if (unlinkat(dirfd, path, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return error_errno(err, "%s", path);
	return 0;
}

static int64_t clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_wall_ms(void)
{
	return clock_ms(CLOCK_REALTIME);
}

int64_t clock_mono_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}
