/* image_operations.h - carries out what people order for this node's images.
 *
 * An act is one order under way: to load, save, build, list or remove images,
 * or to remove those that nobody needs (gc). It tells the controller how far it
 * is, and what came of it. Orders may come twice: then it is told again how far
 * they are.
 */
#ifndef AGENT_IMAGES_IMAGE_OPERATIONS_H
#define AGENT_IMAGES_IMAGE_OPERATIONS_H

#include "agent/blobs/fetch.h"
#include "agent/images/image.h"
#include "agent/images/image_usage.h"
#include "agent/policy/node_policy.h"

struct image_operations;

/* What the agent's own tasks need now: a list that the caller of needs() frees,
 * with texts that are borrowed until it returns to the loop. -1: no memory.
 */
typedef int image_operations_needs_fn(void *arg, struct image_need **list,
				      size_t *count, struct error *err);

/* All borrowed. */
struct image_operations_config {
	sd_event *loop;
	struct engine *engine;
	bool local; /* the engine's folder is on this machine */
	struct blob_store *contents;
	struct fetches *fetches;
	struct images *images;
	struct image_usage *record;
	const struct node_policy *node_policy; /* it may refuse */
	image_operations_needs_fn *needs;
	/* Tell the controller; one that is lost is told again. */
	void (*tell)(void *arg, const struct message_image_state *state);
	void *arg;
};

struct image_operations *
image_operations_new(const struct image_operations_config *config,
		     struct error *err);
void image_operations_free(struct image_operations *acts);
OWNED_POINTER(struct image_operations, image_operations_free)

/* The order is moved. What cannot be begun is told as failed. */
void image_operations_do(struct image_operations *acts,
			 struct message_image_do *order);

/* Keep contents that are needed from being removed as unused. */
void image_operations_touch(struct image_operations *acts);

#endif
