/* workspace.c - the workspaces of the cells of a sweep. */
#include "controller/cell/workspace.h"

#include "protocol/base/list.h"
#include "protocol/blob/pattern.h"

#include <string.h>

int workspace_patterns(const struct value *list, struct ignore *ignore,
		       struct error *err)
{
	struct error why;

	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(list); i++) {
		const struct value *item = value_at(list, i);
		const char *text;

		if (value_string(item, PATTERN_MAX, &text, err) < 0)
			return -1;
		if (ignore_add(ignore, text, &why) < 0)
			return value_error(item, err, "%s", why.text);
	}
	return 0;
}

static int check_patterns(const struct value *list, struct error *err)
{
	owned(ignore_free) struct ignore *ignore = ignore_new(err);

	return ignore ? workspace_patterns(list, ignore, err) : -1;
}

struct workspace *workspace_find(const struct cells *cells, const char *path)
{
	for (size_t i = 0; i < cells->workspace_count; i++)
		if (!strcmp(cells->workspaces[i].path, path))
			return &cells->workspaces[i];
	return NULL;
}

static struct workspace *workspace_add(struct cells *cells, const char *path,
				       const struct value *ignore,
				       struct error *err)
{
	struct workspace *workspace =
		LIST_ADD(cells->workspaces, cells->workspace_count, err);

	if (!workspace)
		return NULL;
	workspace->ignore = ignore;
	return string_set(&workspace->path, path, err) < 0 ? NULL : workspace;
}

int workspace_use(struct cells *cells, const char *path,
		  const struct value *ignore, const struct value *where,
		  char **out, struct error *err)
{
	struct workspace *workspace = workspace_find(cells, path);

	if (!workspace && ignore && check_patterns(ignore, err) < 0)
		return -1;
	if (!workspace)
		workspace = workspace_add(cells, path, ignore, err);
	if (!workspace)
		return -1;
	if (workspace->ignore != ignore)
		return value_error(where, err,
				   "%.60s with two values of workspace.ignore "
				   "is not valid here; expected one for each "
				   "path",
				   path);
	return string_set(out, workspace->content ? workspace->content : path,
			  err);
}

void workspaces_clear(struct cells *cells)
{
	for (size_t i = 0; i < cells->workspace_count; i++) {
		free(cells->workspaces[i].path);
		free(cells->workspaces[i].content);
	}
	free(cells->workspaces);
	cells->workspaces = NULL;
	cells->workspace_count = 0;
}
