/* sysroot.h - maps /dev, /sys, /proc and other paths to the folders that
 * replace them.
 *
 * Normally each path is itself. Tests give other folders; the hardware found
 * there is then reported as simulated.
 */
#ifndef PROTOCOL_HARDWARE_SYSROOT_H
#define PROTOCOL_HARDWARE_SYSROOT_H

#include "protocol/base/error.h"

#include <stdbool.h>

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

/* The root that applies to a path: dev, sys, proc, files or "". *rest: the path
 * relative to it.
 */
const char *sysroot_of(const struct sysroot *roots, const char *path,
		       const char **rest);

/* The path below its root, in PATH_MAX bytes. ENOENT: the roots are simulated,
 * have no `files`, and the path is outside dev, sys and proc. EINVAL: the path
 * is not plain. ENAMETOOLONG.
 */
int sysroot_path(const struct sysroot *roots, const char *path, char *out,
		 struct error *err);

#endif
