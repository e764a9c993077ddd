/* sysroot.c - where /dev, /sys, /proc and other files are looked for.
 */
#include "protocol/hardware/sysroot.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

const struct sysroot real_roots = { .dev = "/dev",
				    .sys = "/sys",
				    .proc = "/proc" };

bool sysroot_simulated(const struct sysroot *roots)
{
	return strcmp(roots->dev, real_roots.dev) != 0 ||
	       strcmp(roots->sys, real_roots.sys) != 0 ||
	       strcmp(roots->proc, real_roots.proc) != 0;
}

bool path_within(const char *path, const char *folder)
{
	size_t size = strlen(folder);

	return !strncmp(path, folder, size) &&
	       (!path[size] || path[size] == '/');
}

bool path_plain(const char *path)
{
	while (*path == '/') {
		size_t size = strcspn(++path, "/");

		if (!size || (size == 1 && *path == '.') ||
		    (size == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += size;
		if (!*path)
			return true;
	}
	return false;
}

const char *sysroot_of(const struct sysroot *roots, const char *path,
		       const char **rest)
{
	/* clang-format off */
	const struct {
		const char *folder;
		const char *root;
	} places[] = {
		{ "/dev", roots->dev },
		{ "/sys", roots->sys },
		{ "/proc", roots->proc },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (path_within(path, places[i].folder)) {
			*rest = path + strlen(places[i].folder);
			return places[i].root;
		}
	*rest = path;
	return roots->files ? roots->files : "";
}

int sysroot_path(const struct sysroot *roots, const char *path, char *out,
		 struct error *err)
{
	const char *rest, *root = sysroot_of(roots, path, &rest);
	int length;

	if (!path_plain(path))
		return error_set(err, EINVAL,
				 "%.100s: the path is not valid here; expected "
				 "an absolute path without ..",
				 path);
	if (!*root && sysroot_simulated(roots))
		return error_set(err, ENOENT,
				 "%.100s: a simulated machine has only /dev, "
				 "/sys and /proc",
				 path);
	length = snprintf(out, PATH_MAX, "%s%s", root, rest);
	if (length >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, "%.100s: too long", path);
	return 0;
}
