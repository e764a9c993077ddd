/* resolved_paths.h - paths of the node, each resolved once: what the policy was
 * asked about is compared later with what a container has.
 */
#pragma once

#include "protocol/base/owned.h"

#include <stddef.h>

struct resolved_path {
	char *path; /* as given */
	int fd;     /* of O_PATH; it holds the file, whatever happens to the
		       path. -1: it could not be opened */
};

/* { 0 } is empty. At most 4096 paths are held; a request has fewer. */
struct resolved_paths {
	struct resolved_path *items;
	size_t count;
};

void resolved_paths_clear(struct resolved_paths *paths);
OWNED_VALUE(struct resolved_paths, resolved_paths_clear)

/* The descriptor of the path, which belongs to *paths. It is opened at the
 * first call, with its links followed. -1: that was not possible.
 */
int resolved_paths_open(struct resolved_paths *paths, const char *path);

/* A policy_check_resolve_fn: where the opened path is. */
int resolved_paths_resolve(void *paths, const char *path, char *out);
