/* node_policies.h - checks the cells of a sweep against the policies of the
 * nodes.
 *
 * Pure. Only the cell's own values are checked. The node's profile, the user's
 * name and links on the node are not known here; the node checks them later.
 */
#ifndef CONTROLLER_CLI_PLAN_NODE_POLICIES_H
#define CONTROLLER_CLI_PLAN_NODE_POLICIES_H

#include "protocol/base/owned.h"
#include "protocol/message/reply_sweeps.h"
#include "protocol/message/spec.h"

struct node_policies {
	struct known_policy *items; /* many nodes share one */
	size_t count;
};

void node_policies_clear(struct node_policies *policies);
OWNED_VALUE(struct node_policies, node_policies_clear)

/* Add a policy. An unreadable one allows everything. */
int node_policies_add(struct node_policies *policies,
		      const struct plan_policy *policy, struct error *err);

/* An array of {"nodes": [name, ...], "text": why}: one object for each policy,
 * of nodes of this vendor, that refuses the job.
 */
cJSON *node_policies_refusals(const struct node_policies *policies,
			      const char *vendor,
			      const struct container_spec *job,
			      struct error *err);

#endif
