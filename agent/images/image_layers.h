/* image_layers.h - tells which layers of some images the engine has already.
 *
 * An image is a chain of layers. Its config lists them by the hash of their
 * unpacked tar files (rootfs.diff_ids). An engine that already has an image
 * with the same layers below does not read them from the file that it loads.
 * But one with containerd's image store wants each packed blob: of such an
 * engine no layer counts as there.
 *
 * Source: OCI image specification 1.1, "Layer ChainID".
 */
#ifndef AGENT_IMAGES_IMAGE_LAYERS_H
#define AGENT_IMAGES_IMAGE_LAYERS_H

#include "agent/docker/engine.h"
#include "agent/docker/image_inspect.h"
#include "protocol/base/strings.h"
#include "protocol/blob/blob_store.h"

#define IMAGE_LAYERS_IMAGES_MAX 500 /* of the engine that are looked at */

/* The layers of one image. */
struct image_chain {
	struct strings diff_ids;
	char content[IMAGE_CONTENT_SIZE]; /* what the image is */
	size_t there; /* number of its lowest layers that the engine has */
};

void image_chain_clear(struct image_chain *chain);

/* Read the layers and the content of a config, which is in the store. EPROTO:
 * it is not the config of an image with so many layers.
 */
int image_chain_read(struct blob_store *blobs, const char *config,
		     size_t layers, struct image_chain *chain,
		     struct error *err);

/* Set `there` of each chain. In doubt, a layer is not there. All arguments are
 * borrowed. done() runs later, once; the handle is freed then.
 */
typedef void image_layers_done_fn(void *arg);
struct image_layers_call;
struct image_layers_call *image_layers_begin(struct engine *engine,
					     struct image_chain *chains,
					     size_t count,
					     image_layers_done_fn *done,
					     void *arg, struct error *err);
void image_layers_cancel(struct image_layers_call *call); /* NULL is fine */
OWNED_POINTER(struct image_layers_call, image_layers_cancel)

#endif
