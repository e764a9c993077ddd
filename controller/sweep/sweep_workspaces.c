/* sweep_workspaces.c - the workspaces of a sweep, and the hashes of their
 * content.
 */
#include "controller/cell/workspace.h"
#include "controller/sweep/sweep_internal.h"
#include "protocol/blob/blob_store.h"

#include <errno.h>

size_t sweep_workspaces(const struct sweep *sweep)
{
	return sweep->cells.workspace_count;
}

const char *sweep_workspace(const struct sweep *sweep, size_t index)
{
	return sweep->cells.workspaces[index].path;
}

int sweep_workspace_ignore(const struct sweep *sweep, size_t index,
			   struct ignore *ignore, struct error *err)
{
	const struct value *list = sweep->cells.workspaces[index].ignore;

	return list ? workspace_patterns(list, ignore, err) : 0;
}

int sweep_bind(struct sweep *sweep, const char *path, const char *content,
	       struct error *err)
{
	struct workspace *workspace = workspace_find(&sweep->cells, path);

	if (!blob_hash_valid(content))
		return error_set(err, EPROTO,
				 "workspace %.60s: \"%.20s\" is not the hash "
				 "of a blob",
				 path, content);
	return workspace ? string_set(&workspace->content, content, err) : 0;
}

const char *sweep_unbound(const struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->cells.workspace_count; i++)
		if (!sweep->cells.workspaces[i].content)
			return sweep->cells.workspaces[i].path;
	return NULL;
}
