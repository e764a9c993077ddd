/* image_layers.h - tells which layers of an image file the engine has
 * already.
 *
 * An image is a chain of layers. Its config lists them by the hash of their
 * unpacked tar files (rootfs.diff_ids). An engine that already has an image
 * with the same layers below does not read them from the file that it loads. So
 * these layers may be missing in the file, unless another image in the file has
 * one of them in a chain that the engine does not have.
 *
 * Source: OCI image specification 1.1, "Layer ChainID".
 */
#ifndef AGENT_IMAGES_IMAGE_LAYERS_H
#define AGENT_IMAGES_IMAGE_LAYERS_H

#include "agent/docker/engine.h"
#include "protocol/blob/image_bundle.h"

#define IMAGE_LAYERS_IMAGES_MAX 500 /* of the engine that are looked at */

/* contents: those of the bundle that the engine does not need. In doubt, a
 * content is needed.
 */
typedef void image_layers_done_fn(void *arg, const struct strings *contents);

/* The configs of the bundle's images must be in the store. All arguments are
 * borrowed. done() runs later, once; the handle is freed then.
 */
struct image_layers_call;
struct image_layers_call *image_layers_begin(struct engine *engine,
					     struct blob_store *contents,
					     const struct image_bundle *bundle,
					     image_layers_done_fn *done,
					     void *arg, struct error *err);
void image_layers_cancel(struct image_layers_call *call); /* NULL is fine */
OWNED_POINTER(struct image_layers_call, image_layers_cancel)

#endif
