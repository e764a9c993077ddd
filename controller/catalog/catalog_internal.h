/* catalog_internal.h - the fields of a catalog. Its entries (catalog_entries.c)
 * come from files (catalog_folder.c) and from texts of a sweep
 * (descriptions.c).
 */
#pragma once

#include "controller/catalog/catalog.h"
#include "protocol/hardware/profile.h"
#include "protocol/yaml/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Items of one kind, found by any of their names.
 *
 * Documents, device tools and file names write "NVIDIA_A100-SXM4-80GB",
 * "A100 40G", "H800(80G)" or A10080G for what a description names once. So a
 * name is found in any spelling: only ASCII letters, digits, '.' and '+' are
 * compared, without case.
 */

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

/* Add a copy of the item with its name and the `aliases` of its entry. A name
 * may be used once; a chip's once for each vendor.
 */
int name_index_add(struct name_index *name_index, const void *item,
		   struct name name, const struct value *entry,
		   struct error *err);

struct published; /* published.h */

struct catalog {
	const struct catalog *base;   /* searched next, or NULL */
	const struct value *flagperf; /* NULL: the folder has none */
	struct document **documents;
	size_t document_count;
	struct profiles profiles;
	struct name_index indexes[CATALOG_CHIP + 1];
	struct published *published;
	size_t published_count;
};

/* An empty one. base: borrowed, or NULL. */
struct catalog *catalog_new(const struct catalog *base, struct error *err);

/* Take over a document and return its root; NULL: the document is NULL. */
const struct value *catalog_keep(struct catalog *catalog,
				 struct document *document, struct error *err);

/* Frameworks with log rules: those that a framework is `like`, their own before
 * them, and the framework itself at the end. As catalog_logs().
 */
struct formats {
	const struct framework *list[CATALOG_LOGS_MAX];
	size_t count;
};
int catalog_formats(const struct catalog *catalog,
		    const struct framework *framework, struct formats *formats,
		    struct error *err);

/* Check an entry and add it; its texts are borrowed. */
int catalog_add_model(struct catalog *catalog, const char *name,
		      const struct value *entry, struct error *err);
int catalog_add_framework(struct catalog *catalog, const char *name,
			  const struct value *root, const char *hash,
			  struct error *err);
int catalog_add_vendor(struct catalog *catalog, const struct profile *profile,
		       struct error *err);
