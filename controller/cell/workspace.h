/* workspace.h - the workspaces of the cells of a sweep. */
#pragma once

#include "controller/cell/cells.h"
#include "protocol/blob/ignore.h"

/* A cell uses the folder at path as its workspace, without the files that
 * `ignore` (a list of patterns, or NULL) names; `where` is the position for
 * errors. *out is a copy of the content's hash, or of the path while the hash
 * is unknown. Two values of `ignore` for one path are an error.
 */
int workspace_use(struct cells *cells, const char *path,
		  const struct value *ignore, const struct value *where,
		  char **out, struct error *err);

/* The workspace at that path; NULL: no cell uses it. */
struct workspace *workspace_find(const struct cells *cells, const char *path);

/* Add the patterns of `workspace.ignore`. */
int workspace_patterns(const struct value *list, struct ignore *ignore,
		       struct error *err);

void workspaces_clear(struct cells *cells);
