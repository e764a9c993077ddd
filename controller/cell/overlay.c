/* overlay.c - the layers of a cell, as values by path. */
#include "controller/cell/overlay.h"

#include "controller/cell/keys.h"
#include "protocol/base/list.h"
#include "protocol/base/nearest_word.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define SLOTS ((size_t)PATHS_MAX * 2) /* of the hash table, a power of two */

struct path {
	char *name;
	const struct value *first; /* that set it; NULL: a key of key_rules[] */
};

struct paths {
	struct path *paths;
	size_t count;
	uint16_t slots[SLOTS]; /* number + 1; 0: free */
};

void paths_free(struct paths *paths)
{
	if (!paths)
		return;
	for (size_t i = 0; i < paths->count; i++)
		free(paths->paths[i].name);
	free(paths->paths);
	free(paths);
}

/* The slot of the name, or the free one where it would be (FNV-1a, probing
 * the next ones; the table is never more than half full).
 */
static uint16_t *find_slot(const struct paths *paths, const char *name)
{
	uint32_t hash = 2166136261u;
	size_t slot;

	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	slot = hash % SLOTS;
	while (paths->slots[slot] &&
	       strcmp(paths->paths[paths->slots[slot] - 1].name, name) != 0)
		slot = (slot + 1) % SLOTS;
	return (uint16_t *)&paths->slots[slot];
}

static int paths_add(struct paths *paths, const char *name,
		     const struct value *first, struct error *err)
{
	uint16_t *slot = find_slot(paths, name);
	char *copy = strdup(name);
	struct path *added =
		copy ? LIST_ADD(paths->paths, paths->count, NULL) : NULL;

	if (!added) {
		free(copy);
		return error_nomem(err, "sweep");
	}
	*added = (struct path){ copy, first };
	*slot = (uint16_t)paths->count;
	return 0;
}

struct paths *paths_new(struct error *err)
{
	owned(paths_free) struct paths *paths = calloc(1, sizeof(*paths));

	if (!paths)
		return error_null(error_nomem(err, "sweep"));
	for (size_t i = 0; i < KEYS; i++)
		if (paths_add(paths, key_rules[i].path, NULL, err) < 0)
			return NULL;
	return take(paths);
}

size_t paths_count(const struct paths *paths)
{
	return paths->count;
}

const char *paths_name(const struct paths *paths, size_t path)
{
	return paths->paths[path].name;
}

int paths_find(const struct paths *paths, const char *name)
{
	return (int)*find_slot(paths, name) - 1;
}

const char *paths_nearest(const struct paths *paths, const char *name)
{
	owned_free const char **names =
		calloc(paths->count + 1, sizeof(*names));

	if (!names)
		return NULL;
	for (size_t i = 0; i < paths->count; i++)
		names[i] = paths->paths[i].name;
	return nearest_word(name, names);
}

void overlay_clear(struct overlay *layer)
{
	free(layer->pairs);
	*layer = (struct overlay){ 0 };
}

static bool overlay_name_valid(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_' &&
		    *name != '-')
			return false;
	return true;
}

/* A variable must not be a map in one place and a single value in another:
 * neither the path itself may be the front of another, nor the reverse.
 */
static int check_clash(const struct paths *paths, const char *name,
		       const struct value *value, struct error *err)
{
	size_t length = strlen(name);

	for (size_t i = KEYS; i < paths->count; i++) {
		const char *other = paths->paths[i].name;
		size_t other_length = strlen(other);
		size_t shorter = length < other_length ? length : other_length;

		if (length == other_length || strncmp(name, other, shorter) ||
		    (length < other_length ? other : name)[shorter] != '.')
			continue;
		return value_error(
			value, err,
			"%s is not valid here, because \"%s\" is set on line "
			"%u; a variable is either a map or a single value",
			length < other_length ? "a single value" : "a map",
			other, value_line(paths->paths[i].first));
	}
	return 0;
}

static int add_leaf(struct overlay *layer, struct paths *paths,
		    const char *name, const struct value *value,
		    struct error *err)
{
	int path = paths_find(paths, name);
	struct pair *added;

	if (value_kind(value) == VALUE_NULL)
		return value_error(value, err, "no value");
	if (path < 0) {
		if (paths->count == PATHS_MAX)
			return value_error(value, err,
					   "more than %d different keys and "
					   "variables, which is the limit",
					   PATHS_MAX);
		if (check_clash(paths, name, value, err) < 0 ||
		    paths_add(paths, name, value, err) < 0)
			return -1;
		path = (int)paths->count - 1;
	}
	added = LIST_ADD(layer->pairs, layer->count, err);
	if (!added)
		return -1;
	*added = (struct pair){ (size_t)path, value };
	return 0;
}

static int add_value(struct overlay *layer, struct paths *paths,
		     const char *name, const struct value *value,
		     struct error *err)
{
	if (value_kind(value) != VALUE_MAP)
		return add_leaf(layer, paths, name, value, err);
	for (size_t i = 0; i < value_count(value); i++) {
		const char *key = value_key(value, i);
		char path[PATH_BYTES];

		if (!overlay_name_valid(key))
			return value_key_error(value, i, err,
					       "the name is not valid here; "
					       "expected ASCII letters, "
					       "digits, _ and -");
		if (snprintf(path, sizeof(path), "%s.%s", name, key) >=
		    (int)sizeof(path))
			return value_key_error(value, i, err,
					       "a path of more than %d bytes, "
					       "which is the limit",
					       PATH_BYTES - 1);
		if (add_value(layer, paths, path, value_at(value, i), err) < 0)
			return -1;
	}
	return 0;
}

/* Is the name the path of a sweep key: "batch.micro", "env.NAME"? */
static bool dotted_key(const struct paths *paths, const char *name)
{
	int path = paths_find(paths, name);
	const char *dot = strchr(name, '.');
	char top[32];

	if (!dot || strlen(name) >= PATH_BYTES)
		return false;
	if (path >= 0 && path < KEYS)
		return true;
	snprintf(top, sizeof(top), "%.*s", (int)(dot - name), name);
	return key_shape(top) == SHAPE_NAMES && overlay_name_valid(dot + 1);
}

static int expect_scalars(const struct value *map, struct error *err)
{
	if (value_expect(map, VALUE_MAP, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(map); i++)
		if (value_expect(value_at(map, i), VALUE_SCALAR, err) < 0)
			return -1;
	return 0;
}

int overlay_add(struct overlay *layer, struct paths *paths, const char *name,
		const struct value *value, struct error *err)
{
	const char *children[KEY_CHILDREN_MAX];

	/* `workspace: FOLDER` is short for workspace.path, and so on. */
	if (!strcmp(name, "workspace") && value_kind(value) == VALUE_SCALAR)
		name = key_rules[KEY_WORKSPACE_PATH].path;
	if (!strcmp(name, "preflight") && value_kind(value) == VALUE_SCALAR)
		name = key_rules[KEY_PREFLIGHT_SET].path;
	switch (key_shape(name)) {
	case SHAPE_LEAF:
		if (value_kind(value) != VALUE_MAP)
			break;
		return value_invalid(value, err, "a value that is not a map");
	case SHAPE_KNOWN:
		key_children(name, children);
		if (value_check_keys(value, children, err) < 0)
			return -1;
		break;
	case SHAPE_EITHER:
		return add_leaf(layer, paths, name, value, err);
	case SHAPE_MAP:
		return expect_scalars(value, err) < 0
			       ? -1
			       : add_leaf(layer, paths, name, value, err);
	case SHAPE_NAMES:
		if (expect_scalars(value, err) < 0)
			return -1;
		break;
	case SHAPE_SWEEP:
	case SHAPE_UNKNOWN:
		if (dotted_key(paths, name) && value_kind(value) != VALUE_MAP)
			return add_leaf(layer, paths, name, value, err);
		if (!overlay_name_valid(name))
			return value_error(value, err,
					   "the name '%.60s' is not valid "
					   "here; "
					   "expected ASCII letters, digits, _ "
					   "and -",
					   name);
		break;
	}
	if (strlen(name) >= PATH_BYTES)
		return value_error(value, err,
				   "a name of %zu bytes; expected at most %d",
				   strlen(name), PATH_BYTES - 1);
	return add_value(layer, paths, name, value, err);
}

int overlay_add_map(struct overlay *layer, struct paths *paths,
		    const struct value *map, struct error *err)
{
	if (value_expect(map, VALUE_MAP, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(map); i++)
		if (overlay_add(layer, paths, value_key(map, i),
				value_at(map, i), err) < 0)
			return -1;
	return 0;
}
