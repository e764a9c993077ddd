/* node_policies.h - what the policies of the nodes refuse of a sweep, known
 * before anything runs.
 *
 * Pure. What a cell itself asks for is judged by the rules that the nodes have;
 * what the profile of a node adds, who submits, and where links on the node
 * lead, only the node knows.
 */
#ifndef CONTROLLER_CLI_PLAN_NODE_POLICIES_H
#define CONTROLLER_CLI_PLAN_NODE_POLICIES_H

#include "protocol/base/owned.h"
#include "protocol/message/reply_nodes.h"
#include "protocol/message/spec.h"

struct node_policies {
	struct known_policy *items; /* many nodes share one */
	size_t count;
};

void node_policies_clear(struct node_policies *policies);
OWNED_VALUE(struct node_policies, node_policies_clear)

/* A node that tells no policy, or one that cannot be read, counts as none. */
int node_policies_add(struct node_policies *policies,
		      const struct node_info *node, struct error *err);

/* An array of {"nodes": [name, ...], "text": why}, for each policy of nodes of
 * that vendor that refuses such a job; empty: none does.
 */
cJSON *node_policies_refusals(const struct node_policies *policies,
			      const char *vendor,
			      const struct container_spec *job,
			      struct error *err);

#endif
