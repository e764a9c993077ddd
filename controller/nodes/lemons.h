/* lemons.h - which node fails more often than the others, over weeks.
 *
 * Counted are attempts of jobs on a node, and those that failed there by the
 * infrastructure or a hang, as the events of jobs tell them. A failure is that
 * of the node which its text names, or of the only one; where the job fails in
 * the same class on another node, it is the job's own, and nobody's. What is
 * counted halves every LEMON_HALF_MS.
 *
 * The score of a node is how sure it is that it fails more often than the
 * others, in percent: 100 less the chance that a node which fails like them
 * would fail that often, times the number of nodes. A node that is also slower
 * than the others (controller/report/node_rates.h) needs less: its chance
 * counts a LEMON_SLOW of that. With LEMON_SCORE and LEMON_FAILURES it is a
 * lemon.
 *
 * Pure: events in, scores out.
 */
#pragma once

#include "controller/store/store.h"
#include "protocol/message/reply_nodes.h"

#define LEMON_HALF_MS (INT64_C(14) * 24 * 3600 * 1000)
#define LEMON_SCORE 99
#define LEMON_FAILURES 3
#define LEMON_SLOW 0.1

struct lemons;
struct lemons *lemons_new(struct error *err);
void lemons_free(struct lemons *lemons);
OWNED_POINTER(struct lemons, lemons_free)

/* Count an event; they come in the order of their numbers. ENOMEM. */
int lemons_take(struct lemons *lemons, const struct event_row *event,
		struct error *err);

/* The number of the last event that was counted. */
uint64_t lemons_seen(const struct lemons *lemons);

/* The node among `nodes` nodes; slow: it is also slower than the others. False:
 * nothing is known of it. The caller clears *to (node_lemon_schema). ENOMEM:
 * -1.
 */
int lemons_of(const struct lemons *lemons, const char *node, size_t nodes,
	      bool slow, int64_t now_ms, struct node_lemon *to,
	      struct error *err);
