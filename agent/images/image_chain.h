/* image_chain.h - the layers of an image that comes in a file, and which of
 * them an engine has. Pure, but for the store that has its config.
 *
 * An image is a chain of layers. Its config lists them by the hash of their
 * unpacked tar files (rootfs.diff_ids). An engine that already has an image
 * with the same layers below does not read them from the file that it loads.
 *
 * Source: OCI image specification 1.1, "Layer ChainID".
 */
#pragma once

#include "agent/docker/image_inspect.h"
#include "protocol/base/strings.h"
#include "protocol/blob/blob_store.h"

struct image_chain {
	struct strings diff_ids;
	char content[IMAGE_CONTENT_SIZE]; /* what the image is */
	size_t there; /* number of its lowest layers that the engine has */
	/* For its user. */
	char *id;     /* by which the engine calls it; NULL: it lacks it */
	size_t names; /* of its names, those that mean it there */
	bool claimed; /* it is entered as coming */
};

void image_chain_clear(struct image_chain *chain);

/* Read the layers and the content of a config, which is in the store. EPROTO:
 * it is not the config of an image with so many layers.
 */
int image_chain_read(struct blob_store *blobs, const char *config,
		     size_t layers, struct image_chain *chain,
		     struct error *err);

/* Take in the engine's answer about an image that it has: `there` may grow.
 * True: it is the same image.
 */
bool image_chain_compare(struct image_chain *chain, const cJSON *answer);
