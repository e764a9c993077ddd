/* image_names.h - checks the names that an image file gives to images.
 *
 * Loading a file moves its names to its images, whichever image had them
 * before. Names may stand in manifest.json, index.json or repositories, and
 * engines read these in different orders. So only manifest.json is passed on,
 * and its names are checked before.
 */
#ifndef AGENT_IMAGES_IMAGE_NAMES_H
#define AGENT_IMAGES_IMAGE_NAMES_H

#include "protocol/blob/blob_store.h"
#include "protocol/blob/image_bundle.h"

#include <cjson/cJSON.h>

#define IMAGE_NAMES_TEXT_MAX (4 << 20) /* bytes of manifest.json */

/* Remove the other files with names from the bundle: index.json, oci-layout,
 * repositories. EPROTO: it has no manifest.json, or that is a link.
 */
int image_names_reduce(struct image_bundle *bundle, struct error *err);

/* Check a manifest.json: each name in it is one that the bundle gives to the
 * same image, and no parser can read it differently. EPROTO. Pure.
 */
int image_names_read(const struct image_bundle *bundle, const char *text,
		     size_t size, struct error *err);

/* Check entry `at` before it goes to the engine, if it is manifest.json: as
 * above, and it has at most IMAGE_NAMES_TEXT_MAX bytes. Its content is in the
 * store.
 */
int image_names_check(struct blob_store *contents,
		      const struct image_bundle *bundle, size_t at,
		      struct error *err);

#endif
