/* container.c - reads the keys of a cell's container. */
#include "controller/cell/container.h"

#include "controller/cell/cells.h"
#include "controller/cell/interpolate.h"
#include "controller/cell/workspace.h"
#include "protocol/blob/pattern.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The texts of a cell, with their placeholders filled in.
 *
 * A placeholder (interpolate.h) is a value of the cell, also a default or a
 * computed one, or ${model.x} or ${vendor.x}, a property of the cell's model or
 * vendor in the catalog. A cell that uses ${steps} must reach that step.
 */

#define CELL_TEXT_WORD_MAX ((size_t)64 * 1024) /* argument or variable */
/* The cell with the texts, and its values by path. Borrowed. */
struct cell_texts {
	struct cells *cells;
	const struct value *const *values;
	struct cell *cell;
};

#define LISTS_MAX 4 /* nested placeholders of lists */

static int find_model_figure(const struct cell_texts *texts, const char *figure,
			     struct buffer *out, struct error *err)
{
	const struct model *model = texts->cell->model;
	const struct value *value;

	if (!texts->values[KEY_MODEL])
		return error_set(err, EINVAL, "the sweep has no model");
	if (!model) {
		struct error why = { 0 };

		catalog_unknown(texts->cells->catalog, CATALOG_MODEL,
				texts->values[KEY_MODEL], &why);
		return error_set(err, EINVAL, "%s", why.text);
	}
	value = value_get(model->value, figure);
	if (!value || value_kind(value) != VALUE_SCALAR)
		return error_set(err, EINVAL,
				 "the model %s has no such value in "
				 "models.yaml",
				 model->name);
	return buffer_text(out, value_text(value), err) < 0 ? -1 : 1;
}

static int find_vendor_text(const struct cell_texts *texts, const char *name,
			    struct buffer *out, struct error *err)
{
	const char *vendor = texts->cell->spec.vendor;
	const struct value *value =
		value_get(catalog_vendor(texts->cells->catalog, vendor)->value,
			  name);

	if (!value || value_kind(value) != VALUE_SCALAR)
		return error_set(err, EINVAL,
				 "the profile of %s has no such text", vendor);
	return buffer_text(out, value_text(value), err) < 0 ? -1 : 1;
}

/* A cell that uses ${steps} must reach that step. */
static int expect_steps(const struct cell_texts *texts, const char *name,
			const struct value *value, struct error *err)
{
	uint32_t *steps = &texts->cell->spec.measure.steps;

	return strcmp(name, "steps")
		       ? 0
		       : value_u32(value, 1, UINT32_MAX, steps, err);
}

/* Also steps that no text uses are a number. */
static int check_steps(const struct cell_texts *texts, struct error *err)
{
	int path = paths_find(texts->cells->paths, "steps");
	const struct value *value = path < 0 ? NULL : texts->values[path];
	uint32_t steps;

	return value ? value_u32(value, 1, UINT32_MAX, &steps, err) : 0;
}

/* interpolate_lookup_fn */
static int cell_text_look_up(void *arg, const char *name, struct buffer *out,
			     struct error *err)
{
	const struct cell_texts *texts = arg;
	int path = paths_find(texts->cells->paths, name);
	const struct value *value;
	uint64_t number;

	if (path < 0 && !strncmp(name, "model.", 6))
		return find_model_figure(texts, name + 6, out, err);
	if (path < 0 && !strncmp(name, "vendor.", 7))
		return find_vendor_text(texts, name + 7, out, err);
	if (path < 0)
		return 0;
	texts->cells->used[path] = true;
	value = texts->values[path];
	number = path < KEYS ? cell_number(texts->cell, (size_t)path) : 0;
	if (number)
		return buffer_printf(out, err, "%" PRIu64, number) < 0 ? -1 : 1;
	if (!value && path < KEYS && key_rules[path].fallback)
		return buffer_text(out, key_rules[path].fallback, err) < 0 ? -1
									   : 1;
	if (!value)
		return error_set(err, EINVAL, "it has no value in this cell");
	if (value_kind(value) != VALUE_SCALAR)
		return error_set(err, EINVAL,
				 "it is a list; expected single values");
	if (expect_steps(texts, name, value, err) < 0)
		return -1;
	return buffer_text(out, value_text(value), err) < 0 ? -1 : 1;
}

static const char *look_near(void *arg, const char *name)
{
	const struct cell_texts *texts = arg;

	return paths_nearest(texts->cells->paths, name);
}

/* Fill the text into the scratch buffer. */
/* Fill the text into cells->scratch, which the next call overwrites. max: limit
 * of the filled text in bytes; runtime: names of a task's start are allowed.
 */
static int cell_text_fill(const struct cell_texts *texts,
			  const struct value *value, size_t max, bool runtime,
			  struct error *err)
{
	struct interpolator filler = { cell_text_look_up, look_near,
				       (void *)texts };
	struct buffer *out = &texts->cells->scratch;

	buffer_consume(out, out->size);
	if (interpolate(&filler, value_text(value), runtime, value, out, err) <
	    0)
		return -1;
	if (out->size > max)
		return value_error(value, err,
				   "a text of %zu bytes when filled; expected "
				   "at most %zu",
				   out->size, max);
	return 0;
}

/* The same as a heap copy; names of a task's start are not allowed. */
static int cell_text_copy(const struct cell_texts *texts,
			  const struct value *value, size_t max, char **out,
			  struct error *err)
{
	const char *text;

	if (value_string(value, max, &text, err) < 0 ||
	    cell_text_fill(texts, value, max, false, err) < 0)
		return -1;
	*out = strdup(texts->cells->scratch.data);
	return *out ? 0 : error_nomem(err, value_file(value));
}

static int cell_text_add_word(const struct cell_texts *texts,
			      const struct value *word, unsigned depth,
			      struct strings *argv, struct error *err);

/* If the word is just the placeholder of a list, add each entry of the list as
 * a word. 1: done; 0: it is another word.
 */
static int splice(const struct cell_texts *texts, const struct value *word,
		  unsigned depth, struct strings *argv, struct error *err)
{
	const char *text = value_text(word);
	size_t length = strlen(text);
	const struct value *list;
	char name[PATH_BYTES];
	int path;

	if (strncmp(text, "${", 2) != 0 ||
	    strchr(text, '}') != text + length - 1 ||
	    length - 3 >= sizeof(name))
		return 0;
	memcpy(name, text + 2, length - 3);
	name[length - 3] = 0;
	path = paths_find(texts->cells->paths, name);
	list = path >= 0 ? texts->values[path] : NULL;
	if (!list || value_kind(list) != VALUE_LIST ||
	    (path < KEYS && path != KEY_PARALLEL_SPLIT))
		return 0;
	texts->cells->used[path] = true;
	if (depth == LISTS_MAX)
		return value_error(word, err,
				   "lists inside each other more than %d deep, "
				   "which is the limit",
				   LISTS_MAX);
	for (size_t i = 0; i < value_count(list); i++)
		if (cell_text_add_word(texts, value_at(list, i), depth + 1,
				       argv, err) < 0)
			return -1;
	return 1;
}

static int cell_text_add_word(const struct cell_texts *texts,
			      const struct value *word, unsigned depth,
			      struct strings *argv, struct error *err)
{
	int spliced;

	if (value_expect(word, VALUE_SCALAR, err) < 0)
		return -1;
	spliced = splice(texts, word, depth, argv, err);
	if (spliced)
		return spliced < 0 ? -1 : 0;
	if (cell_text_fill(texts, word, CELL_TEXT_WORD_MAX, true, err) < 0)
		return -1;
	return strings_add(argv, texts->cells->scratch.data, err);
}

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
	return value_invalid(list, err, "at most %zu entries", max);
}

static int read_command(const struct cell_texts *texts, enum sweep_key key,
			struct strings *argv, struct error *err)
{
	const struct value *list = texts->values[key];

	if (!list)
		return 0;
	if (value_kind(list) == VALUE_SCALAR)
		return value_invalid(list, err,
				     "a list of words, [python, train.py], or "
				     "for a shell [sh, -c, \"...\"]");
	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	if (!value_count(list) || value_count(list) > WORDS_MAX)
		return value_invalid(list, err, "1 to %d words", WORDS_MAX);
	for (size_t i = 0; i < value_count(list); i++)
		if (cell_text_add_word(texts, value_at(list, i), 0, argv, err) <
		    0)
			return -1;
	return 0;
}

static int cell_read_env(const struct cell_texts *texts, struct strings *env,
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

static int container_read_ulimits(const struct cell_texts *texts,
				  struct strings *ulimits, struct error *err)
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
			return value_invalid(value, err,
					     "soft or soft:hard, each a number "
					     "or -1 for no limit");
		if (strings_printf(ulimits, err, "%s=%s", name,
				   value_text(value)) < 0)
			return -1;
	}
	return 0;
}

static int read_path(const struct cell_texts *texts, const struct value *mount,
		     const char *key, char **out, struct error *err)
{
	const struct value *value = value_get(mount, key);

	if (!value)
		return value_error(mount, err, "missing \"%s\"", key);
	if (cell_text_copy(texts, value, 4096, out, err) < 0 || !*out)
		return -1;
	if (**out == '/')
		return 0;
	return value_error(value, err,
			   "\"%.60s\" is not valid here; expected an absolute "
			   "path",
			   *out);
}

static int container_read_mounts(const struct cell_texts *texts,
				 struct container_spec *container,
				 struct error *err)
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

static int container_read_file(const struct cell_texts *texts,
			       const struct value *map, struct file_spec *file,
			       struct error *err)
{
	static const char *const keys[] = { "name", "text", NULL };
	size_t max = (size_t)key_rules[KEY_FILES].max;
	const struct value *name = value_get(map, "name");
	const struct value *text = value_get(map, "text");
	const char *word;

	if (value_check_keys(map, keys, err) < 0)
		return -1;
	if (!name || !text)
		return value_error(map, err, "missing \"%s\"",
				   name ? "text" : "name");
	if (value_string(name, FILES_NAME_MAX, &word, err) < 0)
		return -1;
	if (!file_name_valid(word))
		return value_invalid(name, err,
				     "letters, digits, \".\", \"_\" and \"-\", "
				     "but not start, hostfile or NAME.new");
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

static int container_read_files(const struct cell_texts *texts,
				struct container_spec *container,
				struct error *err)
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

		if (container_read_file(texts, map, file, err) < 0)
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

static int check_absolute(const struct value *path, const char *filled,
			  struct error *err)
{
	return *filled == '/' ? 0
			      : value_invalid(path, err, "an absolute path");
}

static int container_check_follow(const struct value *pattern,
				  const char *filled, struct error *err)
{
	if (*filled && !strstr(filled, "**"))
		return 0;
	return value_invalid(pattern, err,
			     "a path with *, ? and [] within its names");
}

/* A pattern needs a folder to search. */
static int check_collect(const struct value *path, const char *filled,
			 struct error *err)
{
	char folder[PATH_BYTES];
	const char *pattern;
	struct error why;

	if (!*filled || !strcmp(filled, "/"))
		return value_invalid(path, err,
				     "a path in the container, absolute or "
				     "from the working folder");
	if (!pattern_split(filled, folder, sizeof(folder), &pattern))
		pattern = strpbrk(filled, "*?[\\") ? filled : NULL;
	else if (!*folder)
		return value_invalid(path, err,
				     "patterns below a folder, as in "
				     "/out/*.json");
	if (pattern && pattern_check(pattern, &why) < 0)
		return value_error(path, err, "%s", why.text);
	return 0;
}

/* The lists of texts. Those with check() have placeholders; it gets the filled
 * text and may refuse it.
 */
static const struct text_list {
	enum sweep_key key;
	unsigned most; /* entries */
	size_t place;  /* of the strings in struct container_spec */
	int (*check)(const struct value *value, const char *filled,
		     struct error *err);
	bool runtime; /* names of a task's start are valid */
} text_lists[] = {
#define PLACE(member) offsetof(struct container_spec, member)
	{ KEY_NEEDS, NAMES_MAX, PLACE(needs), check_absolute, false },
	{ KEY_FOLLOW, FOLLOW_MAX, PLACE(follow), container_check_follow, true },
	{ KEY_COLLECT, COLLECT_MAX, PLACE(collect), check_collect, true },
	{ KEY_CAPABILITIES, NAMES_MAX, PLACE(capabilities), NULL, false },
	{ KEY_GROUPS, NAMES_MAX, PLACE(groups), NULL, false },
	{ KEY_DEVICE_NODES, NAMES_MAX, PLACE(device_nodes), NULL, false },
	{ KEY_SECURITY, NAMES_MAX, PLACE(security), NULL, false },
#undef PLACE
};

static int read_text_list(const struct cell_texts *texts,
			  const struct text_list *rule,
			  struct container_spec *container, struct error *err)
{
	const struct value *list = texts->values[rule->key];
	struct strings *to = (void *)((char *)container + rule->place);
	size_t max = key_rules[rule->key].max;

	if (!list)
		return 0;
	if (check_list(list, rule->most, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(list); i++) {
		const struct value *value = value_at(list, i);
		const char *text;

		if (value_string(value, max, &text, err) < 0)
			return -1;
		if (rule->check) {
			if (cell_text_fill(texts, value, max, rule->runtime,
					   err) < 0)
				return -1;
			text = texts->cells->scratch.data;
		}
		if ((rule->check && rule->check(value, text, err) < 0) ||
		    strings_add(to, text, err) < 0)
			return -1;
	}
	return 0;
}

/* A mount at or above the workspace would put it into a folder of the host. */
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

static int container_read_image(const struct cell_texts *texts,
				struct cell *cell, struct error *err)
{
	struct container_spec *container = &cell->spec.container;
	const struct value *image = texts->values[KEY_IMAGE];
	const struct value *build = texts->values[KEY_BUILD];
	struct reference parts;
	struct error why;

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
	return reference_parse(container->image, &parts, &why) < 0
		       ? value_error(image, err, "%s", why.text)
		       : 0;
}

int container_read(struct cells *cells, const struct value *const *values,
		   struct cell *cell, struct error *err)
{
	const struct cell_texts filling = { cells, values, cell };
	const struct cell_texts *texts = &filling;
	struct container_spec *container = &cell->spec.container;

	if (check_steps(texts, err) < 0 ||
	    container_read_image(texts, cell, err) < 0 ||
	    read_command(texts, KEY_COMMAND, &container->argv, err) < 0 ||
	    read_command(texts, KEY_PREPARE, &container->prepare, err) < 0 ||
	    cell_read_env(texts, &container->env, err) < 0 ||
	    container_read_mounts(texts, container, err) < 0 ||
	    container_read_files(texts, container, err) < 0 ||
	    container_read_ulimits(texts, &container->ulimits, err) < 0 ||
	    read_workspace(texts, container, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(text_lists) / sizeof(text_lists[0]); i++)
		if (read_text_list(texts, &text_lists[i], container, err) < 0)
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
