/* name_index.h - items of one kind, found by any of their names.
 *
 * Documents, device tools and file names write "NVIDIA_A100-SXM4-80GB",
 * "A100 40G", "H800(80G)" or A10080G for what a description names once. So a
 * name is found in any spelling: only ASCII letters, digits, '.' and '+' are
 * compared, without case.
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
	const char *vendor; /* of a chip, may precede the name; or NULL */
	uint32_t gib;       /* memory of a chip, may follow it as 80GB; or 0 */
	size_t index;       /* of its item */
};

struct name_index {
	const char *kind; /* "model": for errors */
	size_t size;      /* of one item */
	void *items;      /* an array of structs */
	size_t count;
	struct name *names;
	size_t name_count;
};

/* Is the text a spelling of the name? False for a text or name that has none of
 * the compared characters, or 95 and more.
 */
bool name_match(const struct name *name, const char *text);

void name_index_clear(struct name_index *name_index);

/* Add a copy of the item with its name and the `aliases` of its entry. A name
 * may be used once; a chip's once for each vendor.
 */
int name_index_add(struct name_index *name_index, const void *item,
		   struct name name, const struct value *entry,
		   struct error *err);

/* vendor: of the item; NULL: any. Returns NULL if there is none. */
const void *name_index_find(const struct name_index *name_index,
			    const char *vendor, const char *text);

/* By the longest name that the text begins with, if a version follows: a '_' or
 * a digit.
 */
const void *name_index_find_version(const struct name_index *name_index,
				    const char *text);

/* By number, in the order of adding; NULL: past the last. */
const void *name_index_at(const struct name_index *name_index, size_t index);

/* Is there a name that is similar to this one? */
bool name_index_near(const struct name_index *name_index, const char *text);

/* `; did you mean "a", "b"?`, or a list of all names. -1: ENOMEM. */
int name_index_suggest(const struct name_index *name_index, const char *text,
		       char *out, size_t size);

#endif
