/* node_devices.h - the devices of a node, as its agent tells them.
 *
 * A node keeps the last that was told, also while it is down and over a restart
 * of the controller. A device keeps its index for as long as it is told.
 */
#ifndef CONTROLLER_NODES_NODE_DEVICES_H
#define CONTROLLER_NODES_NODE_DEVICES_H

#include "controller/jobs/cluster.h"
#include "controller/scheduler/scheduler.h"

/* Take over a list (moved: *count is 0 afterwards). Jobs that hold a device
 * which is lost since the last one get an event that says so; they go on.
 * EPROTO: more than SCHEDULER_DEVICES_MAX, or an index that is not its place;
 * nothing is changed then. An empty list is "not told": nothing is known of the
 * devices but their number.
 */
int node_devices_take(struct cluster *cluster, struct node *node,
		      struct device_info **list, size_t *count,
		      struct error *err);
void node_devices_clear(struct node *node);

/* The list as JSON, and from it; the caller deletes. */
cJSON *node_devices_json(const struct node *node);
void node_devices_load(struct node *node, const cJSON *json);

/* Bring the scheduler's view of the node's devices up to date. */
void node_devices_show(const struct node *node, struct slot *slot);

#endif
