/* operations.h - carries out image operations: sends them to nodes, and follows
 * their progress.
 *
 * An operation is sent to each of its nodes until the node reports success or
 * failure; it lives in memory, and ends with the controller. A node that is
 * away for OPERATION_AWAY_MS fails it for itself; a list, removal or prune
 * fails at once on a node that is away when it begins. To save, one node after
 * another is asked until one has the image, which is fetched from there.
 */
#pragma once

#include "controller/blobs/artifact_fetch.h"
#include "controller/cluster/changes.h"
#include "protocol/message/reply_images.h"

/* Operations in memory; beyond, the first one that ended is removed. */
#define OPERATIONS_MAX 256
/* The last operations keep their lists of images. */
#define OPERATIONS_LISTS_MAX 4
#define OPERATION_AWAY_MS 15000

struct sweep_images;
struct sweep_logins;

/* All borrowed. */
struct operations_config {
	struct store *store;
	struct changes *changes;
	struct nodes *nodes;
	struct sweep_images *images;
	struct sweep_logins *logins;
	struct blob_service *blobs;
	struct artifact_fetches *fetches;
};

struct operations;
struct operations *operations_new(const struct operations_config *config,
				  struct error *err);
void operations_free(struct operations *operations);
OWNED_POINTER(struct operations, operations_free)

/* Begin an operation, for these nodes; empty: all connected ones. *chosen
 * (empty before, owned): its nodes. To ensure or load what has not ended is
 * continued, and gets these nodes, too. EINVAL; EEXIST: the id is another
 * operation's; ENOENT: a node is not known, or there is none.
 */
int operations_begin(struct operations *operations, const char *by,
		     const struct image_spec *spec, const struct strings *nodes,
		     struct strings *chosen, struct error *err);

/* Describe the operation query->name. The phase of a node is "waiting" until
 * its first report. Only the nodes of query->keys have images. output starts at
 * query->after. Fills *to, which was zero; the caller clears it, also on
 * failure. ENOENT: no such operation.
 */
int operations_describe(struct operations *operations,
			const struct message_query *query,
			struct image_operation_info *to, struct error *err);

/* The node has connected and reported its tasks; it reports the state of an
 * operation, whose contents are moved; it needs disk space
 * (message_image_room).
 */
void operations_node_reported(struct operations *operations, struct node *node);
void operations_state(struct operations *operations, struct node *node,
		      struct message_image_state *state);
void operations_room(struct operations *operations, struct node *node,
		     const struct message_image_room *room);

/* Does the node need the blob, to load images? */
bool operations_need(const struct operations *operations,
		     const struct node *node, const char *hash);

/* Every half second. */
void operations_tick(struct operations *operations);
