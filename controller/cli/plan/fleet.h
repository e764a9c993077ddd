/* fleet.h - the nodes of a controller, as its scheduler sees them.
 *
 * All devices count as free, and nodes that are up and not drained as usable:
 * a plan is for a cluster that has nothing else to do.
 */
#ifndef CONTROLLER_CLI_PLAN_FLEET_H
#define CONTROLLER_CLI_PLAN_FLEET_H

#include "controller/cli/client.h"
#include "controller/cluster/scheduler.h"

#include <cjson/cJSON.h>

struct fleet {
	struct slot *slots;
	char **names; /* of each slot */
	size_t count;
	size_t usable;
};

void fleet_clear(struct fleet *fleet);
OWNED_VALUE(struct fleet, fleet_clear)

/* Add a node as a controller describes it; what it does not say is nothing. */
int fleet_add(struct fleet *fleet, const cJSON *node, struct error *err);

/* Add all nodes that the controller knows. */
int fleet_fetch(struct fleet *fleet, struct client *client, struct error *err);

#endif
