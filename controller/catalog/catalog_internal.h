/* catalog_internal.h - the fields of a catalog. Its entries (catalog_entries.c)
 * come from files (catalog_folder.c) and from texts of a sweep
 * (descriptions.c).
 */
#ifndef CONTROLLER_CATALOG_CATALOG_INTERNAL_H
#define CONTROLLER_CATALOG_CATALOG_INTERNAL_H

#include "controller/catalog/catalog.h"
#include "controller/catalog/name_index.h"
#include "protocol/hardware/profile.h"

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

#endif
