/* node_history.h - what the store tells of a node over weeks: how often jobs
 * failed there, and how its validations changed.
 */
#pragma once

#include "controller/api/api.h"
#include "protocol/message/reply_nodes.h"

#define NODE_TEST_RUNS 3 /* before the last one, that tell what is usual */

/* Count the events since the last call (controller/nodes/lemons.h). */
int node_history_read(const struct api *api, struct error *err);

/* Add the lemon of a node that has a name and a rate. ENOMEM. */
int node_history_lemon(const struct api *api, struct node_info *to,
		       struct error *err);

/* Add the tests of its last validation: the runs of sweeps with `nodes: each`,
 * whose cells name it, against the earlier runs of the same cells.
 */
int node_history_tests(const struct api *api, struct node_info *to,
		       struct error *err);
