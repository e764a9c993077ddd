/* sysroot_path.h - paths of /dev, /sys, /proc and others, below their roots.
 *
 * Links are followed, but what they lead to must lie below the same root: a
 * simulated /dev cannot hand out a node of the real one. What a folder holds is
 * taken to be hostile: it is read up to a limit.
 */
#ifndef PROTOCOL_HARDWARE_SYSROOT_PATH_H
#define PROTOCOL_HARDWARE_SYSROOT_PATH_H

#include "protocol/hardware/profile.h"

#include <limits.h>
#include <sys/stat.h>

#define SYSROOT_ENTRIES_MAX 65536 /* of one folder */
#define SYSROOT_FOUND_MAX 4096    /* paths that one pattern gives */

/* Where path is, without links (in PATH_MAX bytes), and what. ENOENT and other
 * errors of realpath(3); EINVAL: it leads out of its root.
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

/* The paths (as below /dev, /sys, /proc, sorted by numbers and names) that fit
 * a pattern with '*' in at most one of its components, and are there; without
 * '*' the path itself, if it is there. Nothing is success. digits: '*' stands
 * for a decimal number only.
 */
int sysroot_glob(const struct sysroot *roots, const char *pattern, bool digits,
		 struct strings *paths, struct error *err);

#endif
