/* file.h - files and folders: whole reads, atomic writes, file trees.
 */
#pragma once

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"
#include "protocol/base/strings.h"

#include <dirent.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Write a path as printf(3) does. EINVAL: it is too long. */
int file_path(char path[PATH_MAX], struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Read the regular file at path (relative to the folder dirfd, or AT_FDCWD)
 * into *out, whose limit bounds it (E2BIG). On failure *out may hold a part. A
 * final symbolic link, a FIFO or a device is refused (EINVAL, ELOOP): safe in
 * folders that others write.
 */
int file_read(int dirfd, const char *path, struct buffer *out,
	      struct error *err);

/* As file_read(), following links and reading pipes: for what a user names. */
int file_read_any(const char *path, struct buffer *out, struct error *err);

/* Read the open file fd from where it stands; path: its name in errors. */
int file_read_fd(int fd, const char *path, struct buffer *out,
		 struct error *err);

/* Write all bytes at the offset. -1 with errno. */
int file_write_at(int fd, const void *data, size_t size, uint64_t offset);

/* Replace path as a whole: a reader sees the old bytes or the new, never a
 * part. When `durable`, they survive a crash of the machine (fsync of the file
 * and of its folder; if only the latter fails, the new bytes are in place).
 */
int file_write(int dirfd, const char *path, const void *data, size_t size,
	       mode_t mode, int durable, struct error *err);

/* As file_write(), not durable, for what a user names: what stands there and
 * is no regular file (a link, a pipe, a device) is written to, not replaced.
 */
int file_write_any(const char *path, const void *data, size_t size,
		   struct error *err);

/* 0: nothing stands at the path, or a regular file, which may be replaced. */
int file_check_replaced(const char *path, struct error *err);

/* Write all bytes to fd. name: in the error. On failure some are written. */
int file_write_all(int fd, const char *name, const void *data, size_t size,
		   struct error *err);

/* Make a folder and those above it; one that is there is success. */
int file_make_folders(const char *path, mode_t mode, struct error *err);

/* Open a folder that only this user (and root) can write, or make it and those
 * above it: `mode` is its own, 0755 theirs. EPERM: it belongs to another user,
 * others may write in it, or a link of another user leads to it; for root,
 * also: a folder above is of another user than the one who called sudo. Returns
 * the descriptor.
 */
int file_open_own(const char *path, struct error *err);
int file_make_own(const char *path, mode_t mode, struct error *err);

/* Open a folder, also ".", for readdir(3); a link is refused. NULL with errno.
 */
DIR *file_open_folder(int dirfd, const char *path);
static inline void owned_dir_release(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}
#define owned_dir __attribute__((cleanup(owned_dir_release)))

/* Add the names in a folder that do not begin with a dot, sorted. A folder that
 * does not exist is empty. E2BIG: more than max. On failure some may be added.
 */
int file_list(const char *folder, size_t max, struct strings *names,
	      struct error *err);

/* Remove a file or a whole tree, never following a link out of it. A
 * missing path is success. The tree may be untrusted: its depth costs no memory
 * and a handful of descriptors. EBUSY: another file system is mounted in it,
 * and left alone. The time grows with the size of the tree.
 */
int file_remove_tree(int dirfd, const char *path, struct error *err);

/* The same for at most so many entries (2 ..). 1: more is left; call again. */
int file_remove_some(int dirfd, const char *path, uint64_t entries,
		     struct error *err);
