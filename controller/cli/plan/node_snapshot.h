/* node_snapshot.h - copies the nodes of a controller for the scheduler
 * simulation.
 *
 * All devices count as free, and all nodes that are up and not drained as
 * usable: a plan assumes an idle cluster.
 */
#ifndef CONTROLLER_CLI_PLAN_NODE_SNAPSHOT_H
#define CONTROLLER_CLI_PLAN_NODE_SNAPSHOT_H

#include "controller/cli/calls.h"
#include "controller/cli/plan/node_policies.h"
#include "controller/scheduler/scheduler.h"
#include "protocol/message/reply_nodes.h"

struct node_snapshot {
	struct slot *slots;
	char **names; /* by slot */
	size_t count;
	size_t usable;
	struct node_policies policies;
};

void node_snapshot_clear(struct node_snapshot *snapshot);
OWNED_VALUE(struct node_snapshot, node_snapshot_clear)

/* Add a node as a controller describes it. */
int node_snapshot_add(struct node_snapshot *snapshot,
		      const struct node_info *node, struct error *err);

/* Add all nodes that the controller knows. */
int node_snapshot_fetch(struct node_snapshot *snapshot, struct client *client,
			struct error *err);

#endif
