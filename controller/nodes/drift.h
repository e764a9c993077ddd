/* drift.h - compares each node with the nodes like it: the odd one, and what it
 * differs in.
 *
 * Alike are connected nodes with the same accelerators in the same number. Of a
 * fact that at least DRIFT_LEAST of them know, the value that more than half of
 * them have is the common one; every other node differs. Some facts are told
 * whatever the others have: memory that waits for a reset, a vendor's tool that
 * takes more than DRIFT_TOOL_MS, a clock that is a second or more apart from
 * the controller's, and devices that others use while no task runs.
 *
 * Pure: adding a node and telling it looks at its facts only.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/base/strings.h"

#include <cjson/cJSON.h>

#define DRIFT_LEAST 3
#define DRIFT_TOOL_MS 5000

struct drift;
struct drift *drift_new(struct error *err);
void drift_free(struct drift *drift);
OWNED_POINTER(struct drift, drift_free)

/* Count a node by its facts (host_facts.h of the agent; borrowed until
 * drift_free(); NULL: unknown). ENOMEM.
 */
int drift_add(struct drift *drift, const cJSON *facts, struct error *err);

/* Append a sentence for each difference of a node that was added. ENOMEM. */
int drift_tell(const struct drift *drift, const cJSON *facts,
	       struct strings *to, struct error *err);
