/* plan_policies.h - asks regatta-agent which cells the policies of the nodes
 * refuse.
 *
 * Only a cell's own values are checked; see agent/policy/policy_answer.h.
 */
#ifndef CONTROLLER_CLI_COMMANDS_PLAN_POLICIES_H
#define CONTROLLER_CLI_COMMANDS_PLAN_POLICIES_H

#include "controller/cli/cli.h"
#include "controller/cli/commands/least_policy.h"
#include "controller/sweep/sweep.h"
#include "protocol/message/reply_sweeps.h"

/* Add to each row of the plan's kept cells that policies refuse:
 *	"refused": [{"nodes": [name, ...], "text": why}]
 * with an object for each policy of nodes of its vendor; and what they need to
 * *least. ENOENT: regatta-agent is not installed on this machine.
 */
int plan_policies_add(const struct cli *cli, const struct reply_plan *reply,
		      struct sweep *sweep, cJSON *plan,
		      struct least_policy *least, struct error *err);

#endif
