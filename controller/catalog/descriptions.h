/* descriptions.h - descriptions that a sweep brings along, in addition to those
 * of a folder.
 *
 * They are sent as JSON, each as the text that its file would have; of a model,
 * its entry in models.yaml:
 *
 *	{"frameworks": {NAME: TEXT}, "models": {NAME: TEXT},
 *	 "vendors": {NAME: TEXT}}
 *
 * The sweep has all of them under its key `descriptions`, and each job those
 * that it needs (measure_spec.described).
 */
#pragma once

#include "controller/catalog/catalog.h"
#include "protocol/message/codec.h"

#include <cjson/cJSON.h>

#define DESCRIPTIONS_BYTES_MAX (256 << 10) /* of all texts */
#define DESCRIPTIONS_MAX 64                /* descriptions */

/* A catalog of these, and after them of base; both are borrowed. Errors name
 * the description and its fault. EINVAL, E2BIG, ENOMEM.
 */
struct catalog *catalog_with_descriptions(const struct catalog *base,
					  const cJSON *described,
					  struct error *err);

/* Add to *described (NULL: a new object) the descriptions in `all` of this
 * framework, of the formats that it is like, of the model and the vendor. Names
 * and `all` may be NULL. ENOMEM.
 */
int descriptions_take(const struct catalog *catalog, const cJSON *all,
		      const char *framework, const char *model,
		      const char *vendor, cJSON **described, struct error *err);

/* The names of a framework and of those whose rules it has, too. ENOMEM. */
int descriptions_frameworks(const struct catalog *catalog, const char *name,
			    struct strings *names, struct error *err);

/* The description with this name as a text, made from its file. Equal
 * descriptions of two catalogs give the same text. The caller frees it; NULL:
 * there is none, or ENOMEM.
 */
char *descriptions_text(const struct catalog *catalog, enum catalog_kind kind,
			const char *name);

/* "models", "frameworks", "vendors". */
const char *descriptions_kind(enum catalog_kind kind);

/* Add a description to *described (NULL: a new object). ENOMEM. */
int descriptions_put(cJSON **described, enum catalog_kind kind,
		     const char *name, const char *text, struct error *err);
