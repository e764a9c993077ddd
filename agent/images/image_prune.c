/* image_prune.c - images listed, removed, and those removed that nobody needs.
 */
#include "agent/images/image_inventory.h"
#include "agent/images/image_operations_internal.h"
#include "agent/images/prune_candidates.h"
#include "protocol/base/log.h"
#include "protocol/config/free_space.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REMOVE_MS 600000       /* a large one takes its time */
#define TOLD_BYTES (512 << 10) /* of images in one message */
#define TOLD_EACH 400          /* what JSON adds to one's texts */

struct clear {
	struct image_operation operation;
	struct image_inventory_call *call;
	struct image_inventory inventory;
	bool surveyed;
	uint64_t free_bytes; /* of the disk, at first */
	size_t *order;       /* which go, by turns; to remove: the one */
	size_t count, at;
	size_t first; /* gc: those beyond are tried again */
	size_t name;  /* of that one, which the engine is told now */
	bool named;   /* only this one name goes: */
	char word[700];
	uint64_t gone_bytes; /* sizes of what went */
	bool by_names;       /* it has names in several repositories */
	bool went;           /* of the present image something did */
};

static void clear_clear(struct image_operation *operation)
{
	struct clear *clear = (struct clear *)operation;

	image_inventory_cancel(clear->call);
	image_inventory_clear(&clear->inventory);
	free(clear->order);
}

/* Needs: those that came with the order, and our tasks' of this moment. */

struct merged {
	struct image_need *list;
	size_t count;
};

static void merged_clear(struct merged *merged)
{
	free(merged->list);
}
OWNED_VALUE(struct merged, merged_clear)

static int merge(const struct clear *clear, struct merged *merged,
		 struct error *err)
{
	const struct image_operation *operation = &clear->operation;
	size_t given = operation->order.needs_count, own = 0;
	struct image_need *list = NULL, *all;

	if (operation->config->needs(operation->config->arg, &list, &own, err) <
	    0)
		return -1;
	all = reallocarray(list, own + given + 1, sizeof(*all));
	if (!all) {
		free(list);
		return error_nomem(err, "images");
	}
	if (given)
		memcpy(all + own, operation->order.needs, given * sizeof(*all));
	*merged = (struct merged){ all, own + given };
	return 0;
}

static int fill_needed(const struct clear *clear, struct image_info *image,
		       struct error *err)
{
	owned(merged_clear) struct merged merged = { 0 };

	if (merge(clear, &merged, err) < 0)
		return -1;
	free(image->needed);
	return prune_candidates_needed(image,
				       (struct image_needs){ merged.list,
							     merged.count },
				       &image->needed, err);
}

/* Telling. */

static size_t size_of(const struct image_info *image)
{
	const struct strings *names[] = { &image->tags, &image->digests };
	size_t size = TOLD_EACH + (image->needed ? strlen(image->needed) : 0);

	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < names[i]->count; j++)
			size += strlen(names[i]->items[j]) + 4;
	return size;
}

/* Those that fn chooses, as far as they fit. The list only shows them. */
static int tell_images(struct clear *clear,
		       bool (*told)(const struct image_info *image), char *text,
		       struct error *err)
{
	struct message_image_state state =
		image_operation_state(&clear->operation);
	const struct image_inventory *inventory = &clear->inventory;
	size_t bytes = 0;
	owned_free struct image_info *list =
		calloc(inventory->count + 1, sizeof(*list));

	if (!list)
		return error_nomem(err, "images");
	for (size_t i = 0; i < inventory->count; i++) {
		if (!told(&inventory->images[i]))
			continue;
		bytes += size_of(&inventory->images[i]);
		if (bytes <= TOLD_BYTES)
			list[state.images_count++] = inventory->images[i];
		else
			state.left_out++;
	}
	state.images = list;
	state.text = text;
	image_operation_succeed(&clear->operation, &state);
	return 0;
}

/* The inventory, which all begin with. */

static void surveyed(void *arg, const struct error *err,
		     struct image_inventory *inventory)
{
	struct clear *clear = arg;

	clear->call = NULL;
	if (err) {
		if (!image_operation_retry(&clear->operation, err))
			image_operation_fail(&clear->operation, err);
		return;
	}
	clear->inventory = *inventory;
	*inventory = (struct image_inventory){ 0 };
	clear->surveyed = true;
	image_operation_step_in(&clear->operation, 0);
}

static void look(struct clear *clear)
{
	const struct image_operations_config *config = clear->operation.config;
	struct error err;

	clear->call =
		image_inventory_begin(config->engine, config->usage,
				      config->local, surveyed, clear, &err);
	if (!clear->call)
		image_operation_fail(&clear->operation, &err);
}

static int disk(const struct clear *clear, uint64_t *free_bytes,
		uint64_t *bytes, struct error *err)
{
	if (clear->inventory.root)
		return image_inventory_disk(clear->inventory.root, free_bytes,
					    bytes, err);
	return error_set(err, EINVAL,
			 "the free space is unknown, because the engine's disk "
			 "is not on this machine");
}

/* List. */

static bool any_image(const struct image_info *image)
{
	return true;
}

static void list_step(struct image_operation *operation)
{
	struct clear *clear = (struct clear *)operation;
	const struct image_inventory *inventory = &clear->inventory;
	owned(merged_clear) struct merged merged = { 0 };
	struct error err;
	int rc;

	if (!clear->surveyed) {
		look(clear);
		return;
	}
	rc = merge(clear, &merged, &err);
	for (size_t i = 0; rc == 0 && i < inventory->count; i++)
		rc = prune_candidates_needed(&inventory->images[i],
					     (struct image_needs){
						     merged.list,
						     merged.count },
					     &inventory->images[i].needed,
					     &err);
	if (rc == 0)
		rc = tell_images(clear, any_image, NULL, &err);
	if (rc < 0)
		image_operation_fail(operation, &err);
}

static int always_allowed(const struct image_operation *operation,
			  struct error *err)
{
	return 0;
}

const struct image_operation_kind image_operation_list = {
	.name = "list",
	.phase = "looking",
	.size = sizeof(struct clear),
	.allowed = always_allowed,
	.step = list_step,
	.clear = clear_clear,
};

/* Removing one image: each of its names, and then itself. */

static bool is_removed(const struct image_info *image)
{
	return image->removed;
}

/* What the engine is told, by turns; NULL: that was all. First the image
 * itself: whether a container or another image is made from it, the engine
 * looks before it takes anything. But one of several names it takes by them
 * alone.
 */
static const char *next_name(const struct clear *clear)
{
	const struct image_info *image =
		&clear->inventory.images[clear->order[clear->at]];
	size_t at = clear->name;

	if (clear->named)
		return at ? NULL : clear->word;
	if (at == 0 || (at == 1 && !clear->by_names))
		return at ? NULL : image->id;
	at--;
	if (at < image->tags.count)
		return image->tags.items[at];
	at -= image->tags.count;
	if (at < image->digests.count)
		return image->digests.items[at];
	return at == image->digests.count ? image->id : NULL;
}

static uint64_t freed(const struct clear *clear)
{
	uint64_t now = 0, bytes;

	/* Other images may share what this one had, and who else writes there
	 * is not known: the disk knows best, but never more than there was.
	 */
	if (disk(clear, &now, &bytes, NULL) < 0)
		return clear->gone_bytes;
	now = now > clear->free_bytes ? now - clear->free_bytes : 0;
	return now < clear->gone_bytes ? now : clear->gone_bytes;
}

static void image_gone(struct clear *clear)
{
	struct image_info *image =
		&clear->inventory.images[clear->order[clear->at]];

	image->removed = clear->went;
	if (clear->went) {
		log_info("image removed id=%.19s name=%s", image->id,
			 image->tags.count      ? image->tags.items[0]
			 : image->digests.count ? image->digests.items[0]
						: "");
		clear->gone_bytes =
			prune_candidates_add(clear->gone_bytes, image->bytes);
		clear->operation.done = freed(clear);
		image_operation_tell_sometimes(&clear->operation);
	}
	clear->at++;
	clear->name = 0;
	clear->went = false;
	clear->by_names = false;
	image_operation_step_in(&clear->operation, 0);
}

static bool says_deleted(const cJSON *answer)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, answer)
	{
		if (cJSON_GetObjectItemCaseSensitive(item, "Deleted"))
			return true;
	}
	return false;
}

static void name_gone(void *arg, const struct error *err, cJSON *answer)
{
	struct clear *clear = arg;
	struct image_info *image =
		&clear->inventory.images[clear->order[clear->at]];

	clear->operation.call = NULL;
	if (err && image_operation_retry(&clear->operation, err))
		return;
	if (err && clear->name == 0 && !clear->named &&
	    strstr(err->text, "in multiple repositories")) {
		clear->by_names = true;
	} else if (err && err->code != ENOENT) {
		if (clear->operation.kind == &image_operation_remove) {
			image_operation_fail(&clear->operation, err);
			return;
		}
		log_info("image id=%.19s is not removed: %s", image->id,
			 err->text);
		free(image->needed);
		image->needed = strdup(err->text);
		/* Perhaps others that go are made from it. */
		if (clear->at < clear->first)
			clear->order[clear->count++] = clear->order[clear->at];
		image_gone(clear);
		return;
	}
	/* The answer to the first try may have been lost. */
	clear->went |=
		says_deleted(answer) || (err && clear->operation.retries);
	clear->name++;
	image_operation_step_in(&clear->operation, 0);
}

/* The next name of the present image. A task that comes while the engine is at
 * it brings the image again.
 */
static void remove_name(struct clear *clear)
{
	struct image_info *image =
		&clear->inventory.images[clear->order[clear->at]];
	const char *name = next_name(clear);
	struct error err;

	if (!name) {
		image_gone(clear);
		return;
	}
	if (fill_needed(clear, image, &err) < 0) {
		image_operation_fail(&clear->operation, &err);
		return;
	}
	if (image->needed) {
		error_set(&err, EBUSY, "%s", image->needed);
		name_gone(clear, &err, NULL);
		return;
	}
	clear->operation.phase = "removing";
	clear->operation.call =
		engine_image_remove(clear->operation.config->engine, name,
				    false, REMOVE_MS, name_gone, clear, &err);
	if (!clear->operation.call)
		name_gone(clear, &err, NULL);
}

static void begin_removing(struct clear *clear)
{
	uint64_t bytes;

	disk(clear, &clear->free_bytes, &bytes, NULL);
	clear->at = 0;
}

/* Remove. */

static int may_remove(struct clear *clear, struct image_info *image,
		      struct error *err)
{
	if (fill_needed(clear, image, err) < 0)
		return -1;
	if (image->needed)
		return error_set(err, EBUSY, "%s is not removed: %s",
				 clear->operation.order.image, image->needed);
	if (image->containers)
		return error_set(err, EBUSY,
				 "%s is not removed: %u container%s from it",
				 clear->operation.order.image,
				 image->containers,
				 image->containers == 1 ? " is made"
							: "s are made");
	return node_policy_remove(clear->operation.config->node_policy,
				  clear->operation.order.image, image->origin,
				  err);
}

/* One of several names goes alone. */
static int choose_name(struct clear *clear, const struct image_info *image,
		       struct error *err)
{
	struct reference parts;

	if (reference_parse(clear->operation.order.image, &parts, err) < 0)
		return -1;
	if (!parts.name[0] || parts.digest[0])
		return 0;
	snprintf(clear->word, sizeof(clear->word), "%s:%s", parts.name,
		 parts.tag[0] ? parts.tag : "latest");
	for (size_t i = 0; i < image->tags.count; i++)
		clear->named |= image->tags.count > 1 &&
				!strcmp(image->tags.items[i], clear->word);
	return 0;
}

/* What was pulled by digest has no tag: then it goes by what it is. */
static bool find_nameless(const struct clear *clear, size_t *found)
{
	const struct image_inventory *inventory = &clear->inventory;
	const struct strings *ids = &clear->operation.order.ids;

	for (size_t i = 0; i < inventory->count; i++) {
		if (inventory->images[i].tags.count)
			continue;
		*found = i;
		for (size_t j = 0; j < ids->count; j++)
			if (!strcmp(inventory->images[i].id, ids->items[j]))
				return true;
	}
	return false;
}

static int begin_remove(struct clear *clear, struct error *err)
{
	const struct image_inventory *inventory = &clear->inventory;
	struct image_info *image;

	clear->order = calloc(1, sizeof(*clear->order));
	if (!clear->order)
		return error_nomem(err, "images");
	if (prune_candidates_find(inventory->images, inventory->count,
				  clear->operation.order.image, clear->order,
				  err) < 0 &&
	    (err->code != ENOENT || !find_nameless(clear, clear->order)))
		return -1;
	image = &inventory->images[*clear->order];
	if (may_remove(clear, image, err) < 0 ||
	    choose_name(clear, image, err) < 0)
		return -1;
	clear->count = 1;
	begin_removing(clear);
	return 0;
}

static void remove_step(struct image_operation *operation)
{
	struct clear *clear = (struct clear *)operation;
	struct error err;

	if (!clear->surveyed) {
		look(clear);
	} else if (!clear->order) {
		if (begin_remove(clear, &err) == 0)
			image_operation_step_in(operation, 0);
		else
			image_operation_fail(operation, &err);
	} else if (clear->at < clear->count) {
		remove_name(clear);
	} else if (tell_images(clear, is_removed,
			       clear->named ? clear->word : NULL, &err) < 0) {
		image_operation_fail(operation, &err);
	}
}

const struct image_operation_kind image_operation_remove = {
	.name = "remove",
	.phase = "looking",
	.size = sizeof(struct clear),
	.allowed = always_allowed,
	.step = remove_step,
	.clear = clear_clear,
};

/* gc. */

static bool is_ours(const struct image_info *image)
{
	return image->origin;
}

static int begin_gc(struct clear *clear, struct error *err)
{
	const struct image_inventory *inventory = &clear->inventory;
	owned(merged_clear) struct merged merged = { 0 };
	long count;

	clear->order = calloc(inventory->count + 1, 2 * sizeof(*clear->order));
	if (!clear->order)
		return error_nomem(err, "images");
	if (merge(clear, &merged, err) < 0)
		return -1;
	count = prune_candidates_make(inventory->images, inventory->count,
				      (struct image_needs){ merged.list,
							    merged.count },
				      clear->operation.order.keep, clear->order,
				      err);
	if (count < 0)
		return -1;
	clear->count = clear->first = (size_t)count;
	begin_removing(clear);
	return 0;
}

/* Is there room enough by now? -1: it cannot be known. */
static int is_enough(const struct clear *clear, struct error *err)
{
	const struct message_image_do *order = &clear->operation.order;
	struct free_space floor = { order->floor_bytes, order->floor_percent };
	uint64_t now = 0, bytes = 0;

	if (!free_space_is_set(&floor))
		return 0;
	if (disk(clear, &now, &bytes, err) < 0)
		return -1;
	if (order->dry_run)
		now = prune_candidates_add(clear->free_bytes,
					   clear->gone_bytes);
	return now >= free_space_on(&floor, bytes);
}

static int finish_gc(struct clear *clear, struct error *err)
{
	const struct image_inventory *inventory = &clear->inventory;

	if (clear->operation.order.dry_run)
		clear->operation.done = clear->gone_bytes;
	for (size_t i = clear->at; i < clear->count; i++) {
		struct image_info *image = &inventory->images[clear->order[i]];

		free(image->needed);
		image->needed = strdup("enough space is free");
	}
	return tell_images(clear, is_ours, NULL, err);
}

static void dry_run(struct clear *clear)
{
	struct image_info *image =
		&clear->inventory.images[clear->order[clear->at++]];

	image->removed = true;
	clear->gone_bytes =
		prune_candidates_add(clear->gone_bytes, image->bytes);
	image_operation_step_in(&clear->operation, 0);
}

static void gc_step(struct image_operation *operation)
{
	struct clear *clear = (struct clear *)operation;
	struct error err;
	int rc = 0;

	if (!clear->surveyed) {
		look(clear);
		return;
	}
	if (!clear->order) {
		rc = begin_gc(clear, &err);
		if (rc == 0)
			image_operation_step_in(operation, 0);
	} else {
		int enough = clear->name ? 0 : is_enough(clear, &err);

		if (enough < 0)
			rc = -1;
		else if (enough || clear->at == clear->count)
			rc = finish_gc(clear, &err);
		else if (operation->order.dry_run)
			dry_run(clear);
		else
			remove_name(clear);
	}
	if (rc < 0)
		image_operation_fail(operation, &err);
}

const struct image_operation_kind image_operation_gc = {
	.name = "gc",
	.phase = "looking",
	.size = sizeof(struct clear),
	.allowed = always_allowed,
	.step = gc_step,
	.clear = clear_clear,
};
