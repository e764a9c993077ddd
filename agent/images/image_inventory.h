/* image_inventory.h - all images of the engine, with what is known of each,
 * and the disk.
 */
#ifndef AGENT_IMAGES_IMAGE_INVENTORY_H
#define AGENT_IMAGES_IMAGE_INVENTORY_H

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

/* err NULL: the callee takes over what *inventory owns. */
typedef void image_inventory_done_fn(void *arg, const struct error *err,
				     struct image_inventory *inventory);

/* Ask the engine, in three calls. local: its folder is on this machine. done()
 * runs later, once; the handle is freed then. All arguments are borrowed.
 */
struct image_inventory_call;
struct image_inventory_call *
image_inventory_begin(struct engine *engine, struct image_usage *usage,
		      bool local, image_inventory_done_fn *done, void *arg,
		      struct error *err);
void image_inventory_cancel(
	struct image_inventory_call *call); /* NULL is fine */

/* Read the engine's list of images, which has no containers. Pure. EPROTO. */
int image_inventory_read(const cJSON *list, struct image_inventory *inventory,
			 struct error *err);

/* Did Regatta pull, build or load the image? used: true also if a job of this
 * node used it. inspected: the engine's answer.
 */
bool image_is_ours(struct image_usage *usage, const cJSON *inspected,
		   bool used);

#endif
