/* sysroot_path.h - finds, reads and lists files below the roots of sysroot.h.
 *
 * Links are followed, but their target must be below the same root: a simulated
 * /dev cannot give out a real device node. Folders are not trusted: they are
 * read up to a limit.
 */
#ifndef PROTOCOL_HARDWARE_SYSROOT_PATH_H
#define PROTOCOL_HARDWARE_SYSROOT_PATH_H

#include "protocol/hardware/profile.h"

#include <limits.h>
#include <sys/stat.h>

#define SYSROOT_ENTRIES_MAX 65536 /* of one folder */
#define SYSROOT_FOUND_MAX 4096    /* paths that match one pattern */

/* Resolve a path (out has PATH_MAX bytes) and stat it. Errors of realpath(3);
 * EINVAL: it leads out of its root.
 */
int sysroot_find(const struct sysroot *roots, const char *path, char *out,
		 struct stat *st, struct error *err);

/* The same for a device node: EINVAL when it is no character device. */
int sysroot_find_node(const struct sysroot *roots, const char *path, char *out,
		      struct stat *st, struct error *err);

/* A regular file's bytes, without the newlines at its end; E2BIG past the
 * buffer's limit.
 */
int sysroot_read(const struct sysroot *roots, const char *path,
		 struct buffer *out, struct error *err);

/* The names in a folder, without hidden ones, in no order. E2BIG. */
int sysroot_list(const struct sysroot *roots, const char *folder,
		 struct strings *names, struct error *err);

/* The existing paths (written without the root, in natural order) that match a
 * pattern with '*' in at most one of its components; without '*' the path
 * itself, if it exists. No match is success. digits: '*' matches only decimal
 * digits.
 */
int sysroot_glob(const struct sysroot *roots, const char *pattern, bool digits,
		 struct strings *paths, struct error *err);

#endif
