/* overlay.h - the layers of a cell, as values by path.
 *
 * {batch: {micro: 2}, nodes: 1} is the layer batch.micro=2, nodes=1. Laying one
 * layer over another is the deep merge of the two maps. Every path of a sweep
 * has a number in one `struct paths`, so a merged cell is an array of values.
 */
#pragma once

#include "protocol/yaml/document.h"

#define PATHS_MAX 4096 /* different paths in a sweep */
#define PATH_BYTES 240 /* in one path */

/* The paths of a sweep; those of key_rules[] have the numbers of enum
 * sweep_key. */
struct paths;

struct paths *paths_new(struct error *err);
void paths_free(struct paths *paths);
OWNED_POINTER(struct paths, paths_free)

size_t paths_count(const struct paths *paths);
const char *paths_name(const struct paths *paths, size_t path);

/* The number of a path, or -1. */
int paths_find(const struct paths *paths, const char *name);

/* The most similar path, or NULL. */
const char *paths_nearest(const struct paths *paths, const char *name);

struct pair {
	size_t path;
	const struct value *value; /* one value or a list; never nothing */
};

struct overlay {
	struct pair *pairs;
	size_t count;
};

void overlay_clear(struct overlay *layer);
OWNED_VALUE(struct overlay, overlay_clear)

/* Add the value of the key `name` to the layer: a key of sweep files (also
 * written as a path, batch.micro) or a free variable. Errors: a map where a
 * single value is expected, an unknown key in batch or parallel, a name that is
 * not [A-Za-z_][A-Za-z0-9_-]*, no value, a variable that is a map here and a
 * single value elsewhere.
 */
int overlay_add(struct overlay *layer, struct paths *paths, const char *name,
		const struct value *value, struct error *err);

/* The same for each entry of a map. */
int overlay_add_map(struct overlay *layer, struct paths *paths,
		    const struct value *map, struct error *err);
