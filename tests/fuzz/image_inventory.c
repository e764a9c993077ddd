/* image_inventory.c - fuzz an engine's list of images, and what is chosen from
 * it.
 *
 * What may go is ours, each once, in the order of its use; what stays of ours
 * has a reason.
 */
#include "agent/images/image_inventory.h"
#include "agent/images/prune.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void check_choice(struct image_inventory *inventory, uint32_t keep)
{
	struct image_need need = { .reference = (char *)"a/b:1", .sweep = 1 };
	size_t *order = calloc(inventory->count + 1, sizeof(*order));
	size_t ours = 0, reasons = 0;
	long count;

	check(order);
	count = prune_candidates_make(inventory->images, inventory->count,
				      (struct image_needs){ &need, 1 }, keep,
				      order, NULL);
	for (size_t i = 0; i < inventory->count; i++) {
		ours += inventory->images[i].origin != NULL;
		reasons += inventory->images[i].needed != NULL;
	}
	check(count >= 0 && (size_t)count + reasons == ours);
	for (long i = 0; i < count; i++) {
		const struct image_info *image = &inventory->images[order[i]];

		check(order[i] < inventory->count && image->origin &&
		      !image->needed);
		check(!i || inventory->images[order[i - 1]].created_ms <=
				    image->created_ms);
	}
	free(order);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	owned(image_inventory_clear) struct image_inventory inventory = { 0 };
	cJSON *list;
	size_t found;

	if (!size)
		return 0;
	list = codec_parse((const char *)data + 1, size - 1, NULL);
	if (image_inventory_read(list, &inventory, NULL) == 0) {
		check_choice(&inventory, data[0] % 4);
		if (inventory.count &&
		    prune_candidates_find(inventory.images, inventory.count,
					  inventory.images[0].id, &found,
					  NULL) == 0)
			check(found < inventory.count);
	} else {
		check(!inventory.images && !inventory.count);
	}
	cJSON_Delete(list);
	return 0;
}
