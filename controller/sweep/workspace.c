/* workspace.c - the folders that the cells of a sweep take with them.
 */
#include "controller/sweep/workspace.h"

#include "controller/sweep/sweep_internal.h"
#include "protocol/blob/blob_store.h"
#include "protocol/blob/pattern.h"

#include <errno.h>
#include <string.h>

static int add_patterns(const struct value *list, struct ignore *ignore,
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

	return ignore ? add_patterns(list, ignore, err) : -1;
}

static struct workspace *find(const struct cells *cells, const char *path)
{
	for (size_t i = 0; i < cells->workspace_count; i++)
		if (!strcmp(cells->workspaces[i].path, path))
			return &cells->workspaces[i];
	return NULL;
}

static struct workspace *add(struct cells *cells, const char *path,
			     const struct value *ignore, struct error *err)
{
	struct workspace *workspaces =
		reallocarray(cells->workspaces, cells->workspace_count + 1,
			     sizeof(*workspaces));
	struct workspace *workspace;

	if (!workspaces) {
		error_nomem(err, "workspace");
		return NULL;
	}
	cells->workspaces = workspaces;
	workspace = &workspaces[cells->workspace_count];
	*workspace = (struct workspace){ strdup(path), ignore, NULL };
	if (!workspace->path) {
		error_nomem(err, "workspace");
		return NULL;
	}
	cells->workspace_count++;
	return workspace;
}

int workspace_use(struct cells *cells, const char *path,
		  const struct value *ignore, const struct value *where,
		  char **out, struct error *err)
{
	struct workspace *workspace = find(cells, path);

	if (!workspace && ignore && check_patterns(ignore, err) < 0)
		return -1;
	if (!workspace)
		workspace = add(cells, path, ignore, err);
	if (!workspace)
		return -1;
	if (workspace->ignore != ignore)
		return value_error(where, err,
				   "%.60s with two values of workspace.ignore "
				   "is not valid here; expected one for each "
				   "path",
				   path);
	return cell_set_text(out,
			     workspace->content ? workspace->content : path,
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

	return list ? add_patterns(list, ignore, err) : 0;
}

int sweep_bind(struct sweep *sweep, const char *path, const char *content,
	       struct error *err)
{
	struct workspace *workspace = find(&sweep->cells, path);

	if (!content_hash_valid(content))
		return error_set(err, EPROTO, "workspace %.60s: no hash", path);
	return workspace ? cell_set_text(&workspace->content, content, err) : 0;
}

const char *sweep_unbound(const struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->cells.workspace_count; i++)
		if (!sweep->cells.workspaces[i].content)
			return sweep->cells.workspaces[i].path;
	return NULL;
}
