/* sysroot.c - finds, reads and lists files below the roots.
 */
#include "protocol/hardware/sysroot.h"
#include "protocol/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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

/* The root that applies to a path: dev, sys, proc, files or "". *rest: the path
 * relative to it.
 */
static const char *root_of(const struct sysroot *roots, const char *path,
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
	const char *rest, *root = root_of(roots, path, &rest);
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

int sysroot_find(const struct sysroot *roots, const char *path, char *out,
		 struct stat *st, struct error *err)
{
	char below[PATH_MAX], root[PATH_MAX] = "", found[PATH_MAX];
	const char *rest, *top = root_of(roots, path, &rest);

	if (sysroot_path(roots, path, below, err) < 0)
		return -1;
	if (!realpath(below, found) || (*top && !realpath(top, root)) ||
	    stat(found, st) < 0)
		return error_errno(err, "%s", below);
	if (*root && !path_within(found, root))
		return error_set(err, EINVAL, "%s: leads to %s, outside of %s",
				 below, found, root);
	memcpy(out, found, strlen(found) + 1);
	return 0;
}

int sysroot_find_node(const struct sysroot *roots, const char *path, char *out,
		      struct stat *st, struct error *err)
{
	if (sysroot_find(roots, path, out, st, err) < 0)
		return -1;
	if (!S_ISCHR(st->st_mode))
		return error_set(err, EINVAL, "%s: not a device node", out);
	return 0;
}

int sysroot_read(const struct sysroot *roots, const char *path,
		 struct buffer *out, struct error *err)
{
	char found[PATH_MAX];
	struct stat st;

	if (sysroot_find(roots, path, found, &st, err) < 0 ||
	    file_read(AT_FDCWD, found, out, err) < 0)
		return -1;
	while (out->size && out->data[out->size - 1] == '\n')
		out->data[--out->size] = 0;
	return 0;
}

int sysroot_list(const struct sysroot *roots, const char *folder,
		 struct strings *names, struct error *err)
{
	char found[PATH_MAX];
	struct stat st;

	if (sysroot_find(roots, folder, found, &st, err) < 0)
		return -1;
	return file_list(found, SYSROOT_ENTRIES_MAX, names, err);
}

/* Patterns. */

/* A pattern cut at its '*': folder/before*after rest. */
struct pattern {
	char folder[PATH_MAX];
	char before[NAME_MAX + 1];
	char after[NAME_MAX + 1];
	const char *rest; /* "" or "/..." */
};

static int pattern_cut(const char *text, const char *star,
		       struct pattern *pattern, struct error *err)
{
	const char *slash = star;
	size_t before, after = strcspn(star + 1, "/");

	while (slash > text && slash[-1] != '/')
		slash--;
	before = (size_t)(star - slash);
	if (slash == text || (size_t)(slash - text) > sizeof(pattern->folder) ||
	    before > NAME_MAX || after > NAME_MAX || strchr(star + 1, '*'))
		return error_set(err, EINVAL,
				 "%s: expected at most one '*', in a path",
				 text);
	snprintf(pattern->folder, sizeof(pattern->folder), "%.*s",
		 (int)(slash - 1 - text), text);
	snprintf(pattern->before, sizeof(pattern->before), "%.*s", (int)before,
		 slash);
	snprintf(pattern->after, sizeof(pattern->after), "%.*s", (int)after,
		 star + 1);
	pattern->rest = star + 1 + after;
	return 0;
}

static bool pattern_fits(const struct pattern *pattern, const char *name,
			 bool digits)
{
	size_t before = strlen(pattern->before), after = strlen(pattern->after);
	size_t size = strlen(name), middle;

	if (size < before + after || strncmp(name, pattern->before, before) ||
	    strcmp(name + size - after, pattern->after) != 0)
		return false;
	middle = size - before - after;
	return !digits || (middle && middle <= 9 &&
			   strspn(name + before, "0123456789") >= middle);
}

static int sysroot_compare_versions(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

static bool there(const struct sysroot *roots, const char *path)
{
	char found[PATH_MAX];
	struct stat st;

	return sysroot_find(roots, path, found, &st, NULL) == 0;
}

int sysroot_glob(const struct sysroot *roots, const char *text, bool digits,
		 struct strings *paths, struct error *err)
{
	owned(strings_clear) struct strings names = { 0 };
	owned(strings_clear) struct strings got = { 0 };
	const char *star = strchr(text, '*');
	struct pattern pattern = { 0 };

	if (star && pattern_cut(text, star, &pattern, err) < 0)
		return -1;
	if (star && there(roots, pattern.folder) &&
	    sysroot_list(roots, pattern.folder, &names, err) < 0)
		return -1;
	if (!star && there(roots, text) && strings_add(&got, text, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		owned_free char *path = NULL;

		if (!pattern_fits(&pattern, names.items[i], digits))
			continue;
		if (got.count >= SYSROOT_FOUND_MAX)
			return error_set(err, E2BIG,
					 "%s: more than %d paths match", text,
					 SYSROOT_FOUND_MAX);
		if (asprintf(&path, "%s/%s%s", pattern.folder, names.items[i],
			     pattern.rest) < 0)
			return error_nomem(err, text);
		if (there(roots, path) && strings_add(&got, path, err) < 0)
			return -1;
	}
	if (got.count)
		qsort(got.items, got.count, sizeof(*got.items),
		      sysroot_compare_versions);
	strings_clear(paths);
	*paths = got;
	got = (struct strings){ 0 };
	return 0;
}
