/* image_rollout.h - carries out requests for images: sends them to nodes, and
 * follows their progress.
 *
 * A request is sent to each of its nodes until the node reports success or
 * failure. Requests to load, build and pull wait for disconnected nodes, and
 * survive a restart (image-orders/ in the state folder) until all nodes are
 * done; a node that comes back days later still gets its image. A request to
 * save asks one node after another until one has the image, and fetches it from
 * there; a node that disconnects meanwhile counts as not having it. All other
 * requests fail on a disconnected node.
 */
#ifndef CONTROLLER_IMAGES_IMAGE_ROLLOUT_H
#define CONTROLLER_IMAGES_IMAGE_ROLLOUT_H

#include "controller/blobs/artifact_fetch.h"
#include "controller/cluster/changes.h"
#include "protocol/message/reply_images.h"

/* Requests in memory; beyond, the first one that ended is removed. */
#define IMAGE_ROLLOUT_REQUESTS_MAX 256
/* The last requests keep their lists of images. */
#define IMAGE_ROLLOUT_LISTS_MAX 4

struct sweep_images;
struct sweep_logins;

/* All borrowed. */
struct image_rollouts_config {
	struct store *store;
	struct changes *changes;
	struct nodes *nodes;
	struct sweep_images *images;
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

/* Accept a request. *chosen (empty before, owned): its nodes. A request to
 * load, build or pull that has not ended is continued, and gets these nodes,
 * too. EINVAL; EEXIST: the id belongs to another request; ENOENT: a node is not
 * known, or there is none.
 */
int image_rollout_request(struct image_rollouts *rollouts, const char *by,
			  const struct message_image_order *message,
			  struct strings *chosen, struct error *err);

/* Describe the request query->name. The phase of a node is "waiting" until its
 * first report. Only the nodes of query->keys have images. output starts at
 * query->after. Fills *to, which was zero; the caller clears it, also on
 * failure. ENOENT: no such request.
 */
int image_rollout_describe(struct image_rollouts *rollouts,
			   const struct message_query *query,
			   struct image_order_info *to, struct error *err);

/* The node has connected and reported its tasks; it reports the state of a
 * request, whose lists are moved; it needs disk space (message_image_room).
 */
void image_rollout_node_reported(struct image_rollouts *rollouts,
				 struct node *node);
void image_rollout_state(struct image_rollouts *rollouts, struct node *node,
			 struct message_image_state *state);
void image_rollout_room(struct image_rollouts *rollouts, struct node *node,
			const struct message_image_room *room);

/* Every half second. */
void image_rollout_tick(struct image_rollouts *rollouts);

#endif
