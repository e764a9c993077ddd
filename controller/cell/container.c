/* container.c - the container of a cell: its texts filled, its lists checked.
 */
#include "controller/cell/container.h"

#include "controller/cell/cell_text.h"
#include "controller/cell/workspace.h"
#include "protocol/blob/pattern.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define WORDS_MAX 4096 /* in a command */
#define MOUNTS_MAX 256
#define FILES_MAX 16
#define FOLLOW_MAX 64  /* patterns of followed files */
#define COLLECT_MAX 64 /* paths that are kept */
#define NAMES_MAX 256  /* capabilities, groups, security options */

/* A list of at most max entries. */
static int check_list(const struct value *list, size_t max, struct error *err)
{
	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	if (value_count(list) <= max)
		return 0;
	return value_error(list, err, "a list of %zu; expected at most %zu",
			   value_count(list), max);
}

static int read_command(const struct cell_texts *texts, enum sweep_key key,
			struct strings *argv, struct error *err)
{
	const struct value *list = texts->values[key];

	if (!list)
		return 0;
	if (value_kind(list) == VALUE_SCALAR)
		return value_error(list, err,
				   "the text \"%.60s\" is not valid here; "
				   "expected a list of words, [python, "
				   "train.py], or for a shell [sh, -c, "
				   "\"...\"]",
				   value_text(list));
	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	if (!value_count(list) || value_count(list) > WORDS_MAX)
		return value_error(list, err,
				   "a list of %zu; expected 1 to %d words",
				   value_count(list), WORDS_MAX);
	for (size_t i = 0; i < value_count(list); i++)
		if (cell_text_words(texts, value_at(list, i), argv, err) < 0)
			return -1;
	return 0;
}

static int read_env(const struct cell_texts *texts, struct strings *env,
		    struct error *err)
{
	const struct cells *cells = texts->cells;

	for (size_t i = 0; i < cells->env_count; i++) {
		const struct value *value = texts->values[cells->env[i]];
		const char *name =
			paths_name(texts->cells->paths, cells->env[i]) + 4;

		if (!value)
			continue;
		if (strchr(name, '-'))
			return value_error(value, err,
					   "the name \"%.60s\" is not valid "
					   "here; expected letters, digits or "
					   "_",
					   name);
		if (cell_text_fill(texts, value, CELL_TEXT_WORD_MAX, true,
				   err) < 0 ||
		    strings_printf(env, err, "%s=%s", name,
				   cells->scratch.data) < 0)
			return -1;
	}
	return 0;
}

/* soft[:hard], each an integer from -1 (no limit). */
static bool good_ulimit(const char *text)
{
	for (int part = 0; part < 2; part++) {
		size_t digits;

		if (!strncmp(text, "-1", 2) && (!text[2] || text[2] == ':')) {
			text += 2;
		} else {
			digits = strspn(text, "0123456789");
			if (!digits || digits > 18)
				return false;
			text += digits;
		}
		if (!*text)
			return true;
		if (*text++ != ':')
			return false;
	}
	return false;
}

static int read_ulimits(const struct cell_texts *texts, struct strings *ulimits,
			struct error *err)
{
	const struct cells *cells = texts->cells;

	for (size_t i = 0; i < cells->ulimit_count; i++) {
		const struct value *value = texts->values[cells->ulimits[i]];
		const char *name =
			paths_name(texts->cells->paths, cells->ulimits[i]) +
			strlen("ulimits.");

		if (!value)
			continue;
		if (!good_ulimit(value_text(value)))
			return value_error(value, err,
					   "\"%.60s\" is not valid here; "
					   "expected soft or soft:hard, each a "
					   "number or -1 for no limit",
					   value_text(value));
		if (strings_printf(ulimits, err, "%s=%s", name,
				   value_text(value)) < 0)
			return -1;
	}
	return 0;
}

static int read_names(const struct value *list, size_t max,
		      struct strings *names, struct error *err)
{
	if (!list)
		return 0;
	if (check_list(list, NAMES_MAX, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(list); i++) {
		const char *text;

		if (value_string(value_at(list, i), max, &text, err) < 0 ||
		    strings_add(names, text, err) < 0)
			return -1;
	}
	return 0;
}

/* Paths of the node. */
static int read_needs(const struct cell_texts *texts, struct strings *needs,
		      struct error *err)
{
	const struct value *list = texts->values[KEY_NEEDS];
	size_t max = key_rules[KEY_NEEDS].max;

	if (!list)
		return 0;
	if (check_list(list, NAMES_MAX, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(list); i++) {
		const struct value *path = value_at(list, i);
		const char *text;

		if (value_string(path, max, &text, err) < 0 ||
		    cell_text_fill(texts, path, max, false, err) < 0)
			return -1;
		if (*texts->cells->scratch.data != '/')
			return value_error(path, err,
					   "\"%.60s\" is not valid here; "
					   "expected an absolute path",
					   text);
		if (strings_add(needs, texts->cells->scratch.data, err) < 0)
			return -1;
	}
	return 0;
}

static int read_path(const struct cell_texts *texts, const struct value *mount,
		     const char *key, char **out, struct error *err)
{
	const struct value *value = value_get(mount, key);

	if (!value)
		return value_error(mount, err, "no \"%s\"", key);
	if (cell_text_copy(texts, value, 4096, out, err) < 0 || !*out)
		return -1;
	if (**out == '/')
		return 0;
	return value_error(value, err,
			   "\"%.60s\" is not valid here; expected an absolute "
			   "path",
			   *out);
}

static int read_mounts(const struct cell_texts *texts,
		       struct container_spec *container, struct error *err)
{
	static const char *const keys[] = { "host", "container", "read_only",
					    NULL };
	const struct value *list = texts->values[KEY_MOUNTS];

	if (!list)
		return 0;
	if (check_list(list, MOUNTS_MAX, err) < 0)
		return -1;
	container->mounts =
		calloc(value_count(list) + 1, sizeof(*container->mounts));
	if (!container->mounts)
		return error_nomem(err, value_file(list));
	for (size_t i = 0; i < value_count(list); i++) {
		const struct value *mount = value_at(list, i), *read_only;
		struct mount_spec *to =
			&container->mounts[container->mounts_count++];

		if (value_check_keys(mount, keys, err) < 0 ||
		    read_path(texts, mount, "host", &to->host, err) < 0 ||
		    read_path(texts, mount, "container", &to->container, err) <
			    0)
			return -1;
		read_only = value_get(mount, "read_only");
		if (read_only && value_bool(read_only, &to->read_only, err) < 0)
			return -1;
	}
	return 0;
}

static int read_file(const struct cell_texts *texts, const struct value *map,
		     struct file_spec *file, struct error *err)
{
	static const char *const keys[] = { "name", "text", NULL };
	size_t max = (size_t)key_rules[KEY_FILES].max;
	const struct value *name = value_get(map, "name");
	const struct value *text = value_get(map, "text");
	const char *word;

	if (value_check_keys(map, keys, err) < 0)
		return -1;
	if (!name || !text)
		return value_error(map, err, "no \"%s\"",
				   name ? "text" : "name");
	if (value_string(name, FILES_NAME_MAX, &word, err) < 0)
		return -1;
	if (!file_name_valid(word))
		return value_error(name, err,
				   "\"%s\" is not valid here; expected "
				   "letters, digits, \".\", \"_\" and \"-\", "
				   "but not start, hostfile or NAME.new",
				   word);
	if (value_expect(text, VALUE_SCALAR, err) < 0 ||
	    cell_text_fill(texts, text, max, true, err) < 0)
		return -1;
	file->name = strdup(value_text(name));
	file->text = strdup(texts->cells->scratch.data);
	return file->name && file->text ? 0 : error_nomem(err, value_file(map));
}

static const char *file_name(const struct value *map)
{
	return value_text(value_get(map, "name"));
}

static int read_files(const struct cell_texts *texts,
		      struct container_spec *container, struct error *err)
{
	const struct value *list = texts->values[KEY_FILES];

	if (!list)
		return 0;
	if (check_list(list, FILES_MAX, err) < 0)
		return -1;
	container->files =
		calloc(value_count(list) + 1, sizeof(*container->files));
	if (!container->files)
		return error_nomem(err, value_file(list));
	for (size_t i = 0; i < value_count(list); i++) {
		const struct value *map = value_at(list, i);
		struct file_spec *file =
			&container->files[container->files_count++];

		if (read_file(texts, map, file, err) < 0)
			return -1;
		for (size_t k = 0; k < i; k++)
			if (!strcmp(file_name(value_at(list, k)),
				    file_name(map)))
				return value_error(map, err,
						   "duplicate file %s",
						   file_name(map));
	}
	return 0;
}

/* Texts, also with what only the start of the task can fill; check() refuses
 * some of them as filled.
 */
static int read_filled(const struct cell_texts *texts, enum sweep_key key,
		       size_t most, struct strings *to,
		       int (*check)(const struct value *value,
				    const char *filled, struct error *err),
		       struct error *err)
{
	const struct value *list = texts->values[key];
	const char *filled, *text;

	if (!list)
		return 0;
	if (check_list(list, most, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(list); i++) {
		const struct value *value = value_at(list, i);

		if (value_string(value, key_rules[key].max, &text, err) < 0 ||
		    cell_text_fill(texts, value, key_rules[key].max, true,
				   err) < 0)
			return -1;
		filled = texts->cells->scratch.data;
		if (check(value, filled, err) < 0 ||
		    strings_add(to, filled, err) < 0)
			return -1;
	}
	return 0;
}

static int check_follow(const struct value *pattern, const char *filled,
			struct error *err)
{
	if (*filled && !strstr(filled, "**"))
		return 0;
	return value_error(pattern, err,
			   "\"%.60s\" is not valid here; expected a path with "
			   "*, ? and [] within its names",
			   value_text(pattern));
}

/* Reading a pattern means reading the folder that it begins with. */
static int check_collect(const struct value *path, const char *filled,
			 struct error *err)
{
	char folder[PATH_BYTES];
	const char *pattern;
	struct error why;

	if (!*filled || !strcmp(filled, "/"))
		return value_error(path, err,
				   "\"%.60s\" is not valid here; expected a "
				   "path in the container, absolute or from "
				   "the working folder",
				   value_text(path));
	if (!pattern_split(filled, folder, sizeof(folder), &pattern))
		pattern = strpbrk(filled, "*?[\\") ? filled : NULL;
	else if (!*folder)
		return value_error(path, err,
				   "\"%.60s\" is not valid here; expected "
				   "patterns below a folder, as in /out/*.json",
				   value_text(path));
	if (pattern && pattern_check(pattern, &why) < 0)
		return value_error(path, err, "%s", why.text);
	return 0;
}

/* Nothing may be put through a mount into a folder of the host. */
static int check_workspace_mounts(const struct cell_texts *texts,
				  const struct container_spec *container,
				  struct error *err)
{
	const char *folder = container->workspace_folder;

	for (size_t i = 0; i < container->mounts_count; i++) {
		const char *mount = container->mounts[i].container;
		size_t size = strlen(mount);

		while (size > 1 && mount[size - 1] == '/')
			size--;
		if (!strncmp(mount, folder, size) &&
		    (folder[size] == '/' || !folder[size] || size == 1))
			return value_error(texts->values[KEY_MOUNTS], err,
					   "a mount at %.60s, which is the "
					   "path of the workspace; change one "
					   "of them (workspace.container)",
					   mount);
	}
	return 0;
}

static int read_workspace(const struct cell_texts *texts,
			  struct container_spec *container, struct error *err)
{
	const struct value *path = texts->values[KEY_WORKSPACE_PATH];
	const struct value *folder = texts->values[KEY_WORKSPACE_CONTAINER];
	owned_free char *text = NULL;

	if (!path && !texts->values[KEY_WORKSPACE_IGNORE] && !folder)
		return 0;
	if (!path)
		return value_error(folder ? folder
					  : texts->values[KEY_WORKSPACE_IGNORE],
				   err, "missing workspace.path");
	if (cell_text_copy(texts, path, key_rules[KEY_WORKSPACE_PATH].max,
			   &text, err) < 0 ||
	    workspace_use(texts->cells, text,
			  texts->values[KEY_WORKSPACE_IGNORE], path,
			  &container->workspace, err) < 0)
		return -1;
	if (!folder)
		return string_set(&container->workspace_folder,
				  key_rules[KEY_WORKSPACE_CONTAINER].fallback,
				  err);
	if (cell_text_copy(texts, folder,
			   key_rules[KEY_WORKSPACE_CONTAINER].max,
			   &container->workspace_folder, err) < 0)
		return -1;
	if (container->workspace_folder[0] == '/' &&
	    container->workspace_folder[1] &&
	    !strstr(container->workspace_folder, ".."))
		return 0;
	return value_error(folder, err,
			   "\"%.60s\" is not valid here; expected an absolute "
			   "path in the container",
			   container->workspace_folder);
}

static int read_image(const struct cell_texts *texts, struct cell *cell,
		      struct error *err)
{
	struct container_spec *container = &cell->spec.container;
	const struct value *image = texts->values[KEY_IMAGE];
	const struct value *build = texts->values[KEY_BUILD];

	if (!image && !build)
		return value_error(texts->cells->root, err,
				   "missing image (expected image, build, or a "
				   "framework with an image)");
	if (build && (strstr(container->build, "..") ||
		      (*container->build == '/' && !image)))
		return value_error(build, err,
				   "\"%.60s\" is not valid here; expected a "
				   "folder below the images folder, or with "
				   "image, NAME:TAG, an absolute path of the "
				   "nodes",
				   container->build);
	if (!image)
		return string_set(&container->image, container->build, err);
	if (cell_text_copy(texts, image, key_rules[KEY_IMAGE].max,
			   &container->image, err) < 0)
		return -1;
	if (strpbrk(container->image, " \t\r\n") || !*container->image)
		return value_error(image, err,
				   "\"%.60s\" is not valid here; expected an "
				   "image reference, name:tag or "
				   "name@sha256:...",
				   container->image);
	return 0;
}

int container_read(struct cells *cells, const struct value *const *values,
		   struct cell *cell, struct error *err)
{
	const struct cell_texts filling = { cells, values, cell };
	const struct cell_texts *texts = &filling;
	struct container_spec *container = &cell->spec.container;

	if (read_image(texts, cell, err) < 0 ||
	    read_command(texts, KEY_COMMAND, &container->argv, err) < 0 ||
	    read_command(texts, KEY_PREPARE, &container->prepare, err) < 0 ||
	    read_needs(texts, &container->needs, err) < 0 ||
	    read_env(texts, &container->env, err) < 0 ||
	    read_mounts(texts, container, err) < 0 ||
	    read_files(texts, container, err) < 0 ||
	    read_ulimits(texts, &container->ulimits, err) < 0 ||
	    read_filled(texts, KEY_FOLLOW, FOLLOW_MAX, &container->follow,
			check_follow, err) < 0 ||
	    read_filled(texts, KEY_COLLECT, COLLECT_MAX, &container->collect,
			check_collect, err) < 0 ||
	    read_workspace(texts, container, err) < 0 ||
	    read_names(values[KEY_CAPABILITIES],
		       key_rules[KEY_CAPABILITIES].max,
		       &container->capabilities, err) < 0 ||
	    read_names(values[KEY_GROUPS], key_rules[KEY_GROUPS].max,
		       &container->groups, err) < 0 ||
	    read_names(values[KEY_DEVICE_NODES],
		       key_rules[KEY_DEVICE_NODES].max,
		       &container->device_nodes, err) < 0 ||
	    read_names(values[KEY_SECURITY], key_rules[KEY_SECURITY].max,
		       &container->security, err) < 0)
		return -1;
	if (container->workspace &&
	    check_workspace_mounts(texts, container, err) < 0)
		return -1;
	if (!values[KEY_WORKDIR])
		return container->workspace
			       ? string_set(&container->workdir,
					    container->workspace_folder, err)
			       : 0;
	return cell_text_copy(texts, values[KEY_WORKDIR],
			      key_rules[KEY_WORKDIR].max, &container->workdir,
			      err);
}
