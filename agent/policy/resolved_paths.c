/* resolved_paths.c - paths of the node, each resolved once.
 */
#include "agent/policy/resolved_paths.h"

#include "protocol/base/list.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATHS_MAX 4096

void resolved_paths_clear(struct resolved_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++) {
		free(paths->items[i].path);
		if (paths->items[i].fd >= 0)
			close(paths->items[i].fd);
	}
	free(paths->items);
	*paths = (struct resolved_paths){ 0 };
}

int resolved_paths_open(struct resolved_paths *paths, const char *path)
{
	struct resolved_path *grown;
	char *copy;

	for (size_t i = 0; i < paths->count; i++)
		if (!strcmp(paths->items[i].path, path))
			return paths->items[i].fd;
	if (paths->count >= PATHS_MAX)
		return -1;
	copy = strdup(path);
	grown = copy ? LIST_ADD(paths->items, paths->count, NULL) : NULL;
	if (!grown) {
		free(copy);
		return -1;
	}
	grown->path = copy;
	/* A folder that autofs mounts is mounted only if a folder is wanted. */
	grown->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (grown->fd < 0 && errno == ENOTDIR)
		grown->fd = open(path, O_PATH | O_CLOEXEC);
	return grown->fd;
}

int resolved_paths_resolve(void *paths, const char *path, char *out)
{
	int fd = resolved_paths_open(paths, path);
	char name[40];
	ssize_t size;

	if (fd < 0)
		return -1;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	size = readlink(name, out, PATH_MAX);
	if (size <= 0 || size == PATH_MAX)
		return -1;
	out[size] = 0;
	return 0;
}
