/* image_operations.h - carries out requests for this node's images.
 *
 * An operation ensures (pulls or builds), loads, saves, lists or removes
 * images, or removes those that no job needs. It reports its progress and its
 * outcome to the controller. One that comes twice is reported again.
 */
#ifndef AGENT_IMAGES_IMAGE_OPERATIONS_H
#define AGENT_IMAGES_IMAGE_OPERATIONS_H

#include "agent/blobs/fetch.h"
#include "agent/images/image.h"
#include "agent/images/image_usage.h"
#include "agent/policy/node_policy.h"

struct image_operations;

/* The images that the agent's own tasks need now, as a list for the caller to
 * free. Its texts are borrowed, until control returns to the loop. -1: ENOMEM.
 */
typedef int image_operations_needs_fn(void *arg, struct image_need **list,
				      size_t *count, struct error *err);

/* All borrowed. */
struct image_operations_config {
	sd_event *loop;
	struct engine *engine;
	bool local; /* the engine's folder is on this machine */
	struct blob_store *blobs;
	struct fetches *fetches;
	struct images *images;
	struct image_usage *usage;
	const struct node_policy *node_policy; /* what this node allows */
	image_operations_needs_fn *needs;
	/* Report to the controller; a lost report is sent again. */
	void (*tell)(void *arg, const struct message_image_state *state);
	void *arg;
};

struct image_operations *
image_operations_new(const struct image_operations_config *config,
		     struct error *err);
void image_operations_free(struct image_operations *operations);
OWNED_POINTER(struct image_operations, image_operations_free)

/* Takes the contents of *message. What cannot start is reported as failed. */
void image_operations_do(struct image_operations *operations,
			 struct message_image_do *message);

/* Mark the blobs that operations need as used, so that they are not removed.
 */
void image_operations_touch(struct image_operations *operations);

#endif
