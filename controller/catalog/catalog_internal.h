/* catalog_internal.h - what makes a catalog: entries (catalog_entries.c) of
 * files (catalog_folder.c), and of texts that came along with a sweep
 * (descriptions.c).
 */
#ifndef CONTROLLER_CATALOG_CATALOG_INTERNAL_H
#define CONTROLLER_CATALOG_CATALOG_INTERNAL_H

#include "controller/catalog/catalog.h"
#include "controller/catalog/name_index.h"
#include "protocol/hardware/profile.h"

struct catalog {
	const struct catalog *base;   /* has what is not here; NULL: none */
	const struct value *flagperf; /* NULL: the folder has none */
	struct document **documents;
	size_t document_count;
	struct profiles profiles;
	struct name_index shelves[CATALOG_CHIP + 1];
};

/* An empty one. base: borrowed, or NULL. */
struct catalog *catalog_new(const struct catalog *base, struct error *err);

/* Take over a document, which may be NULL: so is the answer then. */
const struct value *catalog_keep(struct catalog *catalog,
				 struct document *document, struct error *err);

/* Check an entry and add it; its texts are borrowed. */
int catalog_add_model(struct catalog *catalog, const char *name,
		      const struct value *entry, struct error *err);
int catalog_add_framework(struct catalog *catalog, const char *name,
			  const struct value *root, const char *hash,
			  struct error *err);
int catalog_add_vendor(struct catalog *catalog, const struct profile *profile,
		       struct error *err);

#endif
