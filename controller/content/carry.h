/* carry.h - images carried to nodes, and from them: orders and how far they
 * are.
 *
 * An order to load is told to each of its nodes, at once or when the node is
 * back, until the node says that it is done or cannot be. It survives a restart
 * (image-orders/ in the state folder) until all of them have; a node that comes
 * back days later still gets its image. An order to save asks one node after
 * another until one has the image, and takes it from there.
 */
#ifndef CONTROLLER_CONTENT_CARRY_H
#define CONTROLLER_CONTENT_CARRY_H

#include "controller/content/gather.h"

#define CARRY_ORDERS_MAX 256 /* those that ended first are forgotten */

/* folder: the controller's state. */
int carry_open(struct cluster *cluster, const char *folder, struct error *err);
void carry_close(struct cluster *cluster);

/* The body of the reply; NULL: EINVAL, ENOENT: an unknown node, or none. */
cJSON *carry_order(struct cluster *cluster, const char *by,
		   const struct message_image_order *message,
		   struct error *err);

/* {"order", "what", "image", "nodes": [{"name", "up", "phase", "done_bytes",
 * "total_bytes", "text"}], "content", "bytes", "final"}; phase is "waiting"
 * until the node has said something. ENOENT: no such order.
 */
cJSON *carry_describe(struct cluster *cluster, const char *order,
		      struct error *err);

/* The node is back, and has said so; what it says of an order. */
void carry_report(struct cluster *cluster, struct node *node);
void carry_state(struct cluster *cluster, struct node *node,
		 const struct message_image_state *state);

/* Every half second. */
void carry_tick(struct cluster *cluster);

#endif
