/* workspace.h - the folders that the cells of a sweep take with them.
 */
#ifndef CONTROLLER_CELL_WORKSPACE_H
#define CONTROLLER_CELL_WORKSPACE_H

#include "controller/cell/cells.h"
#include "protocol/blob/ignore.h"

/* A cell takes the folder at path with it, without what `ignore` (a list of
 * patterns, or NULL) names; `where` stands in errors. *out is a copy of its
 * content's hash, or of the path as long as that is not known. One path with
 * two ignores is an error.
 */
int workspace_use(struct cells *cells, const char *path,
		  const struct value *ignore, const struct value *where,
		  char **out, struct error *err);

/* The folder at that path, or NULL: no cell takes it. */
struct workspace *workspace_find(const struct cells *cells, const char *path);

/* Add the patterns of `workspace.ignore`. */
int workspace_patterns(const struct value *list, struct ignore *ignore,
		       struct error *err);

void workspaces_clear(struct cells *cells);

#endif
