/* shelf.h - things of one kind, found by any of their names.
 *
 * A name is found in any case, and however it is written (spelling.h).
 */
#ifndef CONTROLLER_SWEEP_SHELF_H
#define CONTROLLER_SWEEP_SHELF_H

#include "protocol/yaml/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHELF_NAME_BYTES 128

/* A name or an alias; the texts are borrowed. */
struct name {
	const char *text;
	const char *vendor; /* a chip's, which may stand before it; or NULL */
	uint32_t gib;       /* a chip's memory, which may stand behind; or 0 */
	size_t index;       /* of what it stands for */
};

struct shelf {
	const char *kind; /* "model": for errors */
	size_t size;      /* of one item */
	void *items;      /* an array of structs */
	size_t count;
	struct name *names;
	size_t name_count;
};

void shelf_clear(struct shelf *shelf);

/* Put a copy of the item there, under its name and the `aliases` of its entry.
 * Each name may be used once; of a chip, once for each vendor.
 */
int shelf_add(struct shelf *shelf, const void *item, struct name name,
	      const struct value *entry, struct error *err);

/* vendor: whose it must be, NULL: anybody's. NULL: there is none. */
const void *shelf_find(const struct shelf *shelf, const char *vendor,
		       const char *text);

/* By the longest name that the text begins with, and a '_' or a digit behind
 * it: a version.
 */
const void *shelf_find_version(const struct shelf *shelf, const char *text);

/* By number, in the order in which they came; NULL: past the last. */
const void *shelf_at(const struct shelf *shelf, size_t index);

/* Is there a name that whoever wrote this one may have meant? */
bool shelf_near(const struct shelf *shelf, const char *text);

/* `; did you mean "a", "b"?` or `, allowed: all that there is`. -1: no memory.
 */
int shelf_suggest(const struct shelf *shelf, const char *text, char *out,
		  size_t size);

#endif
