/* node_health.h - counts the failures of a node's infrastructure, and says what
 * follows: a pause, and probation.
 *
 * Counted are failures of the classes preflight, image, create and node-lost,
 * each class for itself. A start of a task clears the first three, a task that
 * ended by itself clears all. Counts are halved for each hour since the last
 * failure. After a failure the node pauses: jobs that other nodes suit do not
 * get it. The first pause lasts two minutes, each further one four times as
 * long as the one before, at most one hour. A node with HEALTH_PROBATION
 * failures is on probation: it takes one job at a time until its counts are
 * cleared.
 *
 * Pure: no clock, no store. Times are of the wall clock; where that was set
 * back, a pause is over.
 */
#pragma once

#include "protocol/message/reply_nodes.h"
#include "protocol/message/state.h"

#define HEALTH_PROBATION 3
/* Tasks that are lost within this time are one failure: an engine that dies
 * ends all its containers.
 */
#define HEALTH_EVENT_MS 1000

/* Count a failure; another class does nothing. text is copied. ENOMEM. */
int node_health_fail(struct node_health *health, enum failure failure,
		     const char *text, int64_t now_ms, struct error *err);

/* One failure of the class was the job's own. False: none is counted. */
bool node_health_forgive(struct node_health *health, enum failure failure);

/* A task was started there, or (ended) ended by itself. False: nothing was
 * counted that this clears.
 */
bool node_health_succeed(struct node_health *health, bool ended);

/* All that is counted. */
uint64_t node_health_failures(const struct node_health *health);
bool node_health_pauses(const struct node_health *health, int64_t now_ms);
