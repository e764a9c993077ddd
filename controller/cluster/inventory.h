/* inventory.h - the devices of a node, as its agent tells them.
 *
 * A node keeps the last that was told, also while it is down and over a restart
 * of the controller. A device keeps its index for as long as it is told.
 */
#ifndef CONTROLLER_CLUSTER_INVENTORY_H
#define CONTROLLER_CLUSTER_INVENTORY_H

#include "controller/cluster/cluster.h"

/* Take over a list (moved: *count is 0 afterwards). Jobs that hold a device
 * which is lost since the last one get an event that says so; they go on.
 * EPROTO: more than SCHEDULER_DEVICES_MAX, or an index that is not its place;
 * nothing is changed then. An empty list is "not told": nothing is known of the
 * devices but their number.
 */
int inventory_take(struct cluster *cluster, struct node *node,
		   struct device_info **list, size_t *count, struct error *err);
void inventory_clear(struct node *node);

/* The list as JSON, and from it; the caller deletes. */
cJSON *inventory_json(const struct node *node);
void inventory_load(struct node *node, const cJSON *json);

/* Bring the scheduler's view of the node's devices up to date. */
void inventory_show(const struct node *node, struct slot *slot);

#endif
