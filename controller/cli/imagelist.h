/* imagelist.h - finds the images of an image file by its manifest.
 *
 * Reads manifest.json of docker save, or index.json of an OCI image layout.
 * Sources: OCI Image Layout Specification 1.0, OCI Image Manifest Specification
 * 1.0; Docker Image Specification 1.2, "Combined Image JSON + Filesystem
 * Changeset Format".
 */
#ifndef CONTROLLER_CLI_IMAGELIST_H
#define CONTROLLER_CLI_IMAGELIST_H

#include "protocol/blob/image_bundle.h"

#define TEXTS_SMALL (256 << 10) /* bytes of one text */
#define TEXTS_MAX (64 << 20)    /* of all */

/* The small JSON files of an image file, by path. */
struct text {
	char *path;
	char *data;
	size_t size;
};

struct texts {
	struct text *list;
	size_t count;
	size_t bytes;
};

void texts_clear(struct texts *texts);

/* Add a copy. Texts beyond TEXTS_MAX are ignored. */
int texts_add(struct texts *texts, const char *path, const char *data,
	      size_t size, struct error *err);
const struct text *texts_find(const struct texts *texts, const char *path);

/* Fill the images of the bundle from its entries and the texts. Returns 0; or 1
 * if there is no manifest.json: one was made from index.json and added as the
 * last text; or -1 with EINVAL: not an image file, or a part is missing.
 */
int image_list(struct texts *texts, struct image_bundle *bundle,
	       struct error *err);

#endif
