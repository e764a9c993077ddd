/* image_inventory.h - all images of the engine, with what is known of each,
 * and the disk.
 */
#ifndef AGENT_IMAGES_IMAGE_INVENTORY_H
#define AGENT_IMAGES_IMAGE_INVENTORY_H

#include "agent/docker/engine.h"
#include "agent/images/image_usage.h"

/* One who asks, and then what there is. */
struct image_inventory {
	struct image_info *images; /* needed and removed are not set */
	size_t count;
	char *root; /* the engine's folder; NULL: not on this machine */
};

void image_inventory_clear(struct image_inventory *survey);
OWNED_VALUE(struct image_inventory, image_inventory_clear)

/* err NULL: *survey is moved to whoever is told. */
typedef void image_inventory_done_fn(void *arg, const struct error *err,
				     struct image_inventory *survey);

/* Ask the engine, in three calls. local: its folder is on this machine. done()
 * runs later, once, and the handle is gone then. All is borrowed.
 */
struct image_inventory_call;
struct image_inventory_call *
image_inventory_begin(struct engine *engine, struct image_usage *record,
		      bool local, image_inventory_done_fn *done, void *arg,
		      struct error *err);
void image_inventory_cancel(
	struct image_inventory_call *call); /* NULL is fine */

/* Bytes of the disk below a folder: free for us, and in all. */
int image_inventory_disk(const char *root, uint64_t *free_bytes,
			 uint64_t *bytes, struct error *err);

/* What the engine's list says, without containers. Pure. EPROTO. */
int image_inventory_read(const cJSON *list, struct image_inventory *survey,
			 struct error *err);

#endif
