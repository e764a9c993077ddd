/* image_prune.c - lists images, removes one, and removes those that no job
 * needs.
 */
#include "agent/images/image_disk.h"
#include "agent/images/image_inventory.h"
#include "agent/images/images_internal.h"
#include "agent/images/prune.h"
#include "protocol/base/log.h"
#include "protocol/config/free_space.h"
#include "protocol/message/json_get.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MS 60000
#define REMOVE_MS 600000       /* a large one takes its time */
#define TOLD_BYTES (512 << 10) /* of images in one message */
#define TOLD_EACH 400          /* what JSON adds to one's texts */

enum look {
	LOOK_INFO,
	LOOK_IMAGES,
	LOOK_CONTAINERS,
	LOOK_ENDED,
};

struct prune {
	struct image_operation operation;
	struct image_inventory inventory;
	enum look look;      /* the next step that fills it */
	uint64_t free_bytes; /* of the disk, before the first removal */
	size_t *queue;       /* indexes of the images to remove */
	size_t count, at;    /* of the queue, and the present one in it */
	size_t first;        /* prune: images behind these are second tries */
	size_t name;         /* of the present image: the next to remove */
	bool named;          /* remove only the one name in word */
	char word[REFERENCE_LISTED_SIZE];
	uint64_t gone_bytes; /* sum of the sizes of removed images */
	bool by_names;       /* the present image has several repositories */
	bool went;           /* the engine deleted the present image */
};

static void prune_clear(struct image_operation *operation)
{
	struct prune *prune = (struct prune *)operation;

	image_inventory_clear(&prune->inventory);
	free(prune->queue);
}

/* The needs in the message, and those of this node's present tasks. */

static void needs_clear(struct image_needs *needs)
{
	free(needs->list);
}
OWNED_VALUE(struct image_needs, needs_clear)

static int prune_merge_needs(const struct prune *prune,
			     struct image_needs *needs, struct error *err)
{
	const struct image_operation *operation = &prune->operation;
	size_t given = operation->message.needs_count, own = 0;
	struct image_need *list = NULL, *all;

	if (operation->services->needs(operation->services->arg, &list, &own,
				       err) < 0)
		return -1;
	all = reallocarray(list, own + given + 1, sizeof(*all));
	if (!all) {
		free(list);
		return error_nomem(err, "images");
	}
	if (given)
		memcpy(all + own, operation->message.needs,
		       given * sizeof(*all));
	*needs = (struct image_needs){ all, own + given };
	return 0;
}

static int fill_needed(const struct prune *prune, struct image_info *image,
		       struct error *err)
{
	owned(needs_clear) struct image_needs needs = { 0 };

	if (prune_merge_needs(prune, &needs, err) < 0)
		return -1;
	free(image->needed);
	return prune_candidates_needed(image, needs, &image->needed, err);
}

/* Reports. */

static size_t size_of(const struct image_info *image)
{
	const struct strings *names[] = { &image->tags, &image->digests };
	size_t size = TOLD_EACH + (image->needed ? strlen(image->needed) : 0);

	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < names[i]->count; j++)
			size += strlen(names[i]->items[j]) + 4;
	return size;
}

/* Succeed with the images that told() chooses, as far as they fit. */
static int tell_images(struct prune *prune,
		       bool (*told)(const struct image_info *image), char *text,
		       struct error *err)
{
	struct message_image_state state =
		image_operation_state(&prune->operation);
	const struct image_inventory *inventory = &prune->inventory;
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
	image_operation_succeed(&prune->operation, &state);
	return 0;
}

/* The inventory: the first steps of all three. Images are listed before
 * containers, so a new container is counted. The free space is known only of an
 * engine on this machine.
 */

static void prune_told(void *arg, const struct error *err, cJSON *answer)
{
	struct prune *prune = arg;
	const struct image_services *services = prune->operation.services;
	struct error wrong;

	if (!image_operation_answered(&prune->operation, err))
		return;
	if (!err && prune->look == LOOK_INFO && services->registries->local)
		prune->inventory.root = image_disk_folder(answer);
	if (!err && prune->look == LOOK_IMAGES &&
	    image_inventory_read(answer, &prune->inventory, &wrong) < 0)
		err = &wrong;
	if (!err && prune->look == LOOK_CONTAINERS)
		image_inventory_count(&prune->inventory, services->usage,
				      answer);
	prune->look++;
	image_operation_go_on(&prune->operation, err ? -1 : 0, err);
}

static void prune_look(struct prune *prune)
{
	struct engine *engine = prune->operation.services->engine;
	struct error err;
	struct engine_call *call =
		prune->look == LOOK_INFO
			? engine_info(engine, LIST_MS, prune_told, prune, &err)
		: prune->look == LOOK_IMAGES
			? engine_image_list(engine, LIST_MS, prune_told, prune,
					    &err)
			: engine_container_list(engine, true, NULL, LIST_MS,
						prune_told, prune, &err);

	image_operation_await(&prune->operation, call, &err);
}

static int disk(const struct prune *prune, uint64_t *free_bytes,
		uint64_t *bytes, struct error *err)
{
	if (prune->inventory.root)
		return free_space_of(prune->inventory.root, free_bytes, bytes,
				     err);
	return error_set(err, EINVAL,
			 "the free space is unknown, because the engine's disk "
			 "is not on this machine");
}

/* List. */

static bool any_image(const struct image_info *image)
{
	return true;
}

static int list_images(struct prune *prune, struct error *err)
{
	const struct image_inventory *inventory = &prune->inventory;
	owned(needs_clear) struct image_needs needs = { 0 };

	if (prune_merge_needs(prune, &needs, err) < 0)
		return -1;
	for (size_t i = 0; i < inventory->count; i++)
		if (prune_candidates_needed(&inventory->images[i], needs,
					    &inventory->images[i].needed,
					    err) < 0)
			return -1;
	return tell_images(prune, any_image, NULL, err);
}

/* Removing one image: each of its names, and then itself. */

static bool is_removed(const struct image_info *image)
{
	return image->removed;
}

/* The next name to remove; NULL: all are removed. The id goes first: before the
 * engine removes anything, it checks for containers and images that need it. An
 * image in several repositories has to be removed name by name.
 */
static const char *prune_next_name(const struct prune *prune)
{
	const struct image_info *image =
		&prune->inventory.images[prune->queue[prune->at]];
	size_t at = prune->name;

	if (prune->named)
		return at ? NULL : prune->word;
	if (at == 0 || (at == 1 && !prune->by_names))
		return at ? NULL : image->id;
	at--;
	if (at < image->tags.count)
		return image->tags.items[at];
	at -= image->tags.count;
	if (at < image->digests.count)
		return image->digests.items[at];
	return at == image->digests.count ? image->id : NULL;
}

static uint64_t freed(const struct prune *prune)
{
	uint64_t now = 0, bytes;

	/* Images share layers, and others write to the disk as well. So the
	 * growth of the free space counts, up to the size of the images.
	 */
	if (disk(prune, &now, &bytes, NULL) < 0)
		return prune->gone_bytes;
	now = now > prune->free_bytes ? now - prune->free_bytes : 0;
	return now < prune->gone_bytes ? now : prune->gone_bytes;
}

static void image_gone(struct prune *prune)
{
	struct image_info *image =
		&prune->inventory.images[prune->queue[prune->at]];

	image->removed = prune->went;
	if (prune->went) {
		log_info("image removed id=%.19s name=%s", image->id,
			 image->tags.count      ? image->tags.items[0]
			 : image->digests.count ? image->digests.items[0]
						: "");
		prune->gone_bytes =
			prune_candidates_add(prune->gone_bytes, image->bytes);
		prune->operation.progress.done_bytes = freed(prune);
		image_operation_tell_sometimes(&prune->operation);
	}
	prune->at++;
	prune->name = 0;
	prune->went = false;
	prune->by_names = false;
	image_operation_step_in(&prune->operation, 0);
}

static bool says_deleted(const cJSON *answer)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, answer)
		if (json_get(item, "Deleted"))
			return true;
	return false;
}

static void name_gone(void *arg, const struct error *err, cJSON *answer)
{
	struct prune *prune = arg;
	struct image_info *image =
		&prune->inventory.images[prune->queue[prune->at]];

	if (!image_operation_answered(&prune->operation, err))
		return;
	if (err && prune->name == 0 && !prune->named &&
	    strstr(err->text, "in multiple repositories")) {
		prune->by_names = true;
	} else if (err && err->code != ENOENT) {
		if (prune->operation.message.spec.kind == IMAGE_REMOVE) {
			image_operation_fail(&prune->operation, err);
			return;
		}
		log_info("image id=%.19s is not removed: %s", image->id,
			 err->text);
		free(image->needed);
		image->needed = strdup(err->text);
		/* Images made from it may be removed later: try again. */
		if (prune->at < prune->first)
			prune->queue[prune->count++] = prune->queue[prune->at];
		image_gone(prune);
		return;
	}
	/* After a retry, the answer to the first try may have been lost. */
	prune->went |=
		says_deleted(answer) || (err && prune->operation.retries);
	prune->name++;
	image_operation_step_in(&prune->operation, 0);
}

/* Remove the next name of the present image, unless a task needs it now. */
static void remove_name(struct prune *prune)
{
	struct image_info *image =
		&prune->inventory.images[prune->queue[prune->at]];
	const char *name = prune_next_name(prune);
	struct error err;

	if (!name) {
		image_gone(prune);
		return;
	}
	if (fill_needed(prune, image, &err) < 0) {
		image_operation_fail(&prune->operation, &err);
		return;
	}
	if (image->needed) {
		error_set(&err, EBUSY, "%s", image->needed);
		name_gone(prune, &err, NULL);
		return;
	}
	prune->operation.progress.phase = (char *)"removing";
	prune->operation.call =
		engine_image_remove(prune->operation.services->engine, name,
				    false, REMOVE_MS, name_gone, prune, &err);
	if (!prune->operation.call)
		name_gone(prune, &err, NULL);
}

static void begin_removing(struct prune *prune)
{
	uint64_t bytes;

	disk(prune, &prune->free_bytes, &bytes, NULL);
	prune->at = 0;
}

/* Remove. */

static int may_remove(struct prune *prune, struct image_info *image,
		      struct error *err)
{
	const struct policy *policy =
		registries_policy(prune->operation.services->registries);

	if (fill_needed(prune, image, err) < 0)
		return -1;
	if (image->needed)
		return error_set(err, EBUSY, "%s is not removed: %s",
				 prune->operation.message.spec.image,
				 image->needed);
	if (image->containers)
		return error_set(err, EBUSY,
				 "%s is not removed: %u container%s from it",
				 prune->operation.message.spec.image,
				 image->containers,
				 image->containers == 1 ? " is made"
							: "s are made");
	return policy_image_check_remove(policy,
					 prune->operation.message.spec.image,
					 image->origin, err);
}

/* If the image has several names, only the given one is removed. */
static int choose_name(struct prune *prune, const struct image_info *image,
		       struct error *err)
{
	struct reference parts;

	if (reference_parse(prune->operation.message.spec.image, &parts, err) <
	    0)
		return -1;
	if (!parts.name[0] || parts.digest[0])
		return 0;
	reference_listed(&parts, prune->word);
	for (size_t i = 0; i < image->tags.count; i++)
		prune->named |= image->tags.count > 1 &&
				!strcmp(image->tags.items[i], prune->word);
	return 0;
}

/* An image that was pulled by digest has no tag: find it by its id. */
static bool find_nameless(const struct prune *prune, size_t *found)
{
	const struct image_inventory *inventory = &prune->inventory;
	const struct strings *ids = &prune->operation.message.spec.ids;

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

static int begin_remove(struct prune *prune, struct error *err)
{
	const struct image_inventory *inventory = &prune->inventory;
	struct image_info *image;

	prune->queue = calloc(1, sizeof(*prune->queue));
	if (!prune->queue)
		return error_nomem(err, "images");
	if (prune_candidates_find(inventory->images, inventory->count,
				  prune->operation.message.spec.image,
				  prune->queue, err) < 0 &&
	    (err->code != ENOENT || !find_nameless(prune, prune->queue)))
		return -1;
	image = &inventory->images[*prune->queue];
	if (may_remove(prune, image, err) < 0 ||
	    choose_name(prune, image, err) < 0)
		return -1;
	prune->count = 1;
	begin_removing(prune);
	return 0;
}

static int remove_next(struct prune *prune, struct error *err)
{
	if (prune->at == prune->count)
		return tell_images(prune, is_removed,
				   prune->named ? prune->word : NULL, err);
	remove_name(prune);
	return 0;
}

/* Prune. */

static bool prune_owns_image(const struct image_info *image)
{
	return image->origin;
}

static int begin_prune(struct prune *prune, struct error *err)
{
	const struct image_inventory *inventory = &prune->inventory;
	owned(needs_clear) struct image_needs needs = { 0 };
	long count;

	prune->queue = calloc(inventory->count + 1, 2 * sizeof(*prune->queue));
	if (!prune->queue)
		return error_nomem(err, "images");
	if (prune_merge_needs(prune, &needs, err) < 0)
		return -1;
	count = prune_candidates_make(inventory->images, inventory->count,
				      needs, prune->operation.message.spec.keep,
				      prune->queue, err);
	if (count < 0)
		return -1;
	prune->count = prune->first = (size_t)count;
	begin_removing(prune);
	return 0;
}

/* Is enough space free? -1: it is not known. */
static int is_enough(const struct prune *prune, struct error *err)
{
	const struct image_spec *spec = &prune->operation.message.spec;
	struct free_space floor = { spec->floor_bytes, spec->floor_percent };
	uint64_t now = 0, bytes = 0;

	if (!free_space_is_set(&floor))
		return 0;
	if (disk(prune, &now, &bytes, err) < 0)
		return -1;
	if (spec->dry_run)
		now = prune_candidates_add(prune->free_bytes,
					   prune->gone_bytes);
	return now >= free_space_on(&floor, bytes);
}

static int finish_prune(struct prune *prune, struct error *err)
{
	const struct image_inventory *inventory = &prune->inventory;

	if (prune->operation.message.spec.dry_run)
		prune->operation.progress.done_bytes = prune->gone_bytes;
	for (size_t i = prune->at; i < prune->count; i++) {
		struct image_info *image = &inventory->images[prune->queue[i]];

		free(image->needed);
		image->needed = strdup("enough space is free");
	}
	return tell_images(prune, prune_owns_image, NULL, err);
}

static void dry_run(struct prune *prune)
{
	struct image_info *image =
		&prune->inventory.images[prune->queue[prune->at++]];

	image->removed = true;
	prune->gone_bytes =
		prune_candidates_add(prune->gone_bytes, image->bytes);
	image_operation_step_in(&prune->operation, 0);
}

static int prune_next(struct prune *prune, struct error *err)
{
	int enough = prune->name ? 0 : is_enough(prune, err);

	if (enough < 0)
		return -1;
	if (enough || prune->at == prune->count)
		return finish_prune(prune, err);
	if (prune->operation.message.spec.dry_run)
		dry_run(prune);
	else
		remove_name(prune);
	return 0;
}

/* The step of all three: list the images, choose some, and remove them. */
static void prune_step(struct image_operation *operation)
{
	struct prune *prune = (struct prune *)operation;
	bool removes = operation->message.spec.kind == IMAGE_REMOVE;
	struct error err;
	int rc;

	if (prune->look < LOOK_ENDED) {
		prune_look(prune);
		return;
	}
	if (operation->message.spec.kind == IMAGE_LIST) {
		rc = list_images(prune, &err);
	} else if (!prune->queue) {
		rc = removes ? begin_remove(prune, &err)
			     : begin_prune(prune, &err);
		if (rc == 0)
			image_operation_step_in(operation, 0);
	} else {
		rc = removes ? remove_next(prune, &err)
			     : prune_next(prune, &err);
	}
	if (rc < 0)
		image_operation_fail(operation, &err);
}

const struct image_operation_kind image_operation_prune = {
	.phase = "looking",
	.size = sizeof(struct prune),
	.step = prune_step,
	.clear = prune_clear,
};
