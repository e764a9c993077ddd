/* image_rollout.h - carries out image orders: tells nodes, and follows their
 * progress.
 *
 * An order is told to each of its nodes until the node says that it is done or
 * cannot be. Orders to load, build and pull wait for a node that is out of
 * reach, and survive a restart (image-orders/ in the state folder) until all
 * nodes have; one that comes back days later still gets its image. An order to
 * save asks one node after another until one has the image, and takes it from
 * there; one that goes out of reach before that is over has none. All others
 * fail where a node is out of reach.
 */
#ifndef CONTROLLER_IMAGES_IMAGE_ROLLOUT_H
#define CONTROLLER_IMAGES_IMAGE_ROLLOUT_H

#include "controller/blobs/artifact_fetch.h"
#include "controller/cluster/changes.h"
#include "protocol/message/reply_images.h"

#define IMAGE_ROLLOUT_ORDERS_MAX                                               \
	256 /* those that ended first are forgotten                            \
	     */
#define IMAGE_ROLLOUT_LISTS_MAX                                                \
	4 /* of these, the last: with lists of images                          \
	   */

struct image_references;
struct sweep_logins;

/* What they are given; all is borrowed. */
struct image_rollouts_config {
	struct store *store;
	struct changes *changes;
	struct nodes *nodes;
	struct image_references *references;
	struct sweep_logins *logins;
	struct blob_service *blobs;
	struct artifact_fetches *fetches;
};

/* folder: the controller's state. */
struct image_rollouts;
struct image_rollouts *
image_rollouts_new(const struct image_rollouts_config *config,
		   const char *folder, struct error *err);
void image_rollouts_free(struct image_rollouts *rollouts);
OWNED_POINTER(struct image_rollouts, image_rollouts_free)

/* *chosen (empty before, owned): whose it is. One to load, build or pull that
 * is not over goes on, for these nodes, too. EINVAL, EEXIST: it is another
 * order's name, ENOENT: an unknown node, or none.
 */
int image_rollout_order(struct image_rollouts *rollouts, const char *by,
			const struct message_image_order *message,
			struct strings *chosen, struct error *err);

/* Of the order query->name; phases are "waiting" until the node has said
 * something. Only the nodes of query->keys have images. output is what was
 * printed from query->after on. Fills *to, which was zero; on failure the
 * caller clears it, too. ENOENT: no such order.
 */
int image_rollout_describe(struct image_rollouts *rollouts,
			   const struct message_query *query,
			   struct image_order_info *to, struct error *err);

/* The node is back, and has said so; what it says of an order, and asks. The
 * state's lists are moved.
 */
void image_rollout_report(struct image_rollouts *rollouts, struct node *node);
void image_rollout_state(struct image_rollouts *rollouts, struct node *node,
			 struct message_image_state *state);
void image_rollout_room(struct image_rollouts *rollouts, struct node *node,
			const struct message_image_room *room);

/* Every half second. */
void image_rollout_tick(struct image_rollouts *rollouts);

#endif
