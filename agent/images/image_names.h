/* image_names.h - tells which names an image file gives, and whose they are.
 *
 * An engine moves a name to the image that a file gives it to, whoever had it.
 * Engines read names in manifest.json, or in index.json, or in repositories,
 * each engine in an order of its own. So a file names images in manifest.json
 * alone, and what that says is looked at before.
 */
#ifndef AGENT_IMAGES_IMAGE_NAMES_H
#define AGENT_IMAGES_IMAGE_NAMES_H

#include "agent/images/image_usage.h"
#include "protocol/blob/blob_store.h"
#include "protocol/blob/image_bundle.h"

#include <cjson/cJSON.h>

#define IMAGE_NAMES_TEXT_MAX (4 << 20) /* bytes of manifest.json */

/* Take out of the bundle all but manifest.json by which an engine would name
 * images: index.json, oci-layout, repositories. EPROTO: it has no
 * manifest.json, or that is a link.
 */
int image_names_reduce(struct image_bundle *bundle, struct error *err);

/* A manifest.json of the bundle: all names in it are the bundle's, of that very
 * image, and it can be read in one way only. EPROTO: it is not so. Pure.
 */
int image_names_read(const struct image_bundle *bundle, const char *text,
		     size_t size, struct error *err);

/* Entry `at` is about to be passed on to the engine; its content is here. If it
 * is manifest.json, it is read as above; it has IMAGE_NAMES_TEXT_MAX bytes at
 * most.
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
