/* image_inventory.h - all images of the engine, with what is known of each. */
#pragma once

#include "agent/docker/engine.h"
#include "agent/images/image_usage.h"

/* The images of the engine; { 0 } is empty. */
struct image_inventory {
	struct image_info *images; /* needed and removed are not set */
	size_t count;
	char *root; /* the folder of its images; NULL: not known here */
};

void image_inventory_clear(struct image_inventory *inventory);
OWNED_VALUE(struct image_inventory, image_inventory_clear)

/* Read the engine's list of images, which has no containers. Pure. EPROTO. */
int image_inventory_read(const cJSON *list, struct image_inventory *inventory,
			 struct error *err);

/* Take in the engine's list of containers, and the record of images. */
void image_inventory_count(struct image_inventory *inventory,
			   struct image_usage *usage, const cJSON *containers);

/* Did Regatta pull, build or load the image? used: true also if a job of this
 * node used it. inspected: the engine's answer.
 */
bool image_is_ours(struct image_usage *usage, const cJSON *inspected,
		   bool used);
