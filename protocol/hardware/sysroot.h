/* sysroot.h - where /dev, /sys, /proc and other files are looked for.
 *
 * On a machine they are what they are. Tests make a machine out of folders,
 * whose hardware is then called simulated wherever it shows.
 */
#ifndef PROTOCOL_HARDWARE_SYSROOT_H
#define PROTOCOL_HARDWARE_SYSROOT_H

#include "protocol/base/error.h"

#include <stdbool.h>

struct sysroot {
	const char *dev;   /* what stands for /dev: "/dev", "/tmp/lab/dev" */
	const char *sys;   /* for /sys */
	const char *proc;  /* for /proc */
	const char *files; /* for /, of which profiles name mounts and files
			      with versions; NULL: itself */
	const char *bin;   /* searched for tools before PATH, or NULL */
};
extern const struct sysroot real_roots;

/* Is one of the three not the machine's own? */
bool sysroot_simulated(const struct sysroot *roots);

/* Does path lie in folder, or is it the folder itself: "/dev", "/dev/x"? */
bool path_within(const char *path, const char *folder);

/* A path from the root of the file system without "..", "." or empty parts. */
bool path_plain(const char *path);

/* The folder that path is below: dev, sys, proc, files or "". *rest: what of
 * the path is looked for there.
 */
const char *sysroot_of(const struct sysroot *roots, const char *path,
		       const char **rest);

/* The path below its root, in PATH_MAX bytes. A simulated machine without
 * `files` has none but those of the three (ENOENT). EINVAL: not plain;
 * ENAMETOOLONG.
 */
int sysroot_path(const struct sysroot *roots, const char *path, char *out,
		 struct error *err);

#endif
