/* image_names.h - which names an image file gives, and whose they are.
 *
 * An engine moves a name to the image that a file gives it to, whoever had it.
 * So names are looked at before, and the file gives those alone.
 */
#ifndef AGENT_IMAGES_IMAGE_NAMES_H
#define AGENT_IMAGES_IMAGE_NAMES_H

#include "agent/images/image_usage.h"
#include "protocol/blob/blob_store.h"
#include "protocol/blob/image_bundle.h"

#include <cjson/cJSON.h>

#define IMAGE_NAMES_TEXT_MAX (4 << 20) /* bytes of a list of names */

/* Entry `at` is about to be passed on to the engine; its content is here. If it
 * is one of the lists by which engines name images (manifest.json, index.json,
 * repositories), all that it names has to be in the bundle's images, and in
 * manifest.json with that very image. EPROTO: it is not so, or cannot be told.
 */
int image_names_check(struct blob_store *contents,
		      const struct image_bundle *bundle, size_t at,
		      struct error *err);

/* What the engine says of an image: did Regatta bring it? used: or did a job of
 * this node use it?
 */
bool image_is_ours(struct image_usage *usage, const cJSON *inspected,
		   bool used);

#endif
