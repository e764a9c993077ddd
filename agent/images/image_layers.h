/* image_layers.h - tells which layers of an image file the engine has
 * already.
 *
 * An image is a chain of layers, each the hash of its unpacked tar file, as its
 * config says (rootfs.diff_ids). An engine that has an image with the same
 * layers below does not look for them in the file that it loads. So what is a
 * part of the file by such a hash need not be there, unless it also stands
 * somewhere in a chain that the engine does not have so far.
 *
 * Source: OCI image specification 1.1, "Layer ChainID".
 */
#ifndef AGENT_IMAGES_IMAGE_LAYERS_H
#define AGENT_IMAGES_IMAGE_LAYERS_H

#include "agent/docker/engine.h"
#include "protocol/blob/image_bundle.h"

#define IMAGE_LAYERS_IMAGES_MAX 500 /* of the engine that are looked at */

/* Contents of the recipe that the engine does not need; what cannot be found
 * out is needed.
 */
typedef void image_layers_done_fn(void *arg, const struct strings *contents);

/* The configs of the recipe's images must be there as contents. All is
 * borrowed; done() runs later, once, and the handle is gone then.
 */
struct image_layers_call;
struct image_layers_call *image_layers_begin(struct engine *engine,
					     struct blob_store *contents,
					     const struct image_bundle *recipe,
					     image_layers_done_fn *done,
					     void *arg, struct error *err);
void image_layers_cancel(struct image_layers_call *call); /* NULL is fine */
OWNED_POINTER(struct image_layers_call, image_layers_cancel)

#endif
