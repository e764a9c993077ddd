/* sysroot.h - finds, reads and lists files of /dev, /sys, /proc and other
 * folders, or of the folders that replace them.
 *
 * Normally each path is itself. Tests give other folders; the hardware found
 * there is then reported as simulated. Links are followed, but their target
 * must be below the same root: a simulated /dev cannot give out a real device
 * node. Folders are not trusted: they are read up to a limit.
 */
#pragma once

#include "protocol/base/buffer.h"
#include "protocol/base/strings.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#define SYSROOT_ENTRIES_MAX 65536 /* of one folder */
#define SYSROOT_FOUND_MAX 4096    /* paths that match one pattern */

struct sysroot {
	const char *dev;   /* in place of /dev: "/dev", "/tmp/lab/dev" */
	const char *sys;   /* in place of /sys */
	const char *proc;  /* in place of /proc */
	const char *files; /* in place of /, for mounts and version files of
			      profiles; NULL: / itself */
	const char *bin;   /* searched for tools before PATH, or NULL */
};
extern const struct sysroot real_roots;

/* Is dev, sys or proc replaced? */
bool sysroot_simulated(const struct sysroot *roots);

/* Does path lie in folder, or is it the folder itself: "/dev", "/dev/x"? */
bool path_within(const char *path, const char *folder);

/* Is the path absolute, without "..", "." and empty parts? */
bool path_plain(const char *path);

/* The path below its root, in PATH_MAX bytes. ENOENT: the roots are simulated,
 * have no `files`, and the path is outside dev, sys and proc. EINVAL: the path
 * is not plain. ENAMETOOLONG.
 */
int sysroot_path(const struct sysroot *roots, const char *path, char *out,
		 struct error *err);

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

/* The names in a folder, sorted, without hidden ones. E2BIG. */
int sysroot_list(const struct sysroot *roots, const char *folder,
		 struct strings *names, struct error *err);

/* The existing paths (written without the root, in natural order) that match a
 * pattern with '*' in at most one of its components; without '*' the path
 * itself, if it exists. No match is success. digits: '*' matches only decimal
 * digits.
 */
int sysroot_glob(const struct sysroot *roots, const char *pattern, bool digits,
		 struct strings *paths, struct error *err);
