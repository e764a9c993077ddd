/* name_index.h - things of one kind, found by any of their names.
 *
 * A name is found in any case, and however it is written (suggestions.h).
 */
#ifndef CONTROLLER_CATALOG_NAME_INDEX_H
#define CONTROLLER_CATALOG_NAME_INDEX_H

#include "protocol/yaml/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_INDEX_NAME_BYTES 128

/* A name or an alias; the texts are borrowed. */
struct name {
	const char *text;
	const char *vendor; /* a chip's, which may stand before it; or NULL */
	uint32_t gib;       /* a chip's memory, which may stand behind; or 0 */
	size_t index;       /* of what it stands for */
};

struct name_index {
	const char *kind; /* "model": for errors */
	size_t size;      /* of one item */
	void *items;      /* an array of structs */
	size_t count;
	struct name *names;
	size_t name_count;
};

void name_index_clear(struct name_index *name_index);

/* Put a copy of the item there, under its name and the `aliases` of its entry.
 * Each name may be used once; of a chip, once for each vendor.
 */
int name_index_add(struct name_index *name_index, const void *item,
		   struct name name, const struct value *entry,
		   struct error *err);

/* vendor: whose it must be, NULL: anybody's. NULL: there is none. */
const void *name_index_find(const struct name_index *name_index,
			    const char *vendor, const char *text);

/* By the longest name that the text begins with, and a '_' or a digit behind
 * it: a version.
 */
const void *name_index_find_version(const struct name_index *name_index,
				    const char *text);

/* By number, in the order in which they came; NULL: past the last. */
const void *name_index_at(const struct name_index *name_index, size_t index);

/* Is there a name that whoever wrote this one may have meant? */
bool name_index_near(const struct name_index *name_index, const char *text);

/* `; did you mean "a", "b"?` or `, allowed: all that there is`. -1: no memory.
 */
int name_index_suggest(const struct name_index *name_index, const char *text,
		       char *out, size_t size);

#endif
