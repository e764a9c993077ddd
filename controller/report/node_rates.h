/* node_rates.h - which node is slower or faster than the others.
 *
 * Runs of one cell on different nodes are compared: each run with the median of
 * the nodes' means, or with the mean of the only other node. Runs on both of
 * two nodes tell nothing about these. A node's rate is the mean over its runs,
 * of all cells.
 *
 * A node is an outlier if it is NODE_RATES_OUTLIER percent or more, and more
 * than its 95 % interval, away from the others, and three times as far as the
 * others are from each other. Of two nodes only the slower one can be.
 */
#pragma once

#include "controller/report/row.h"
#include "controller/report/table.h"
#include "controller/results/language.h"
#include "protocol/message/reply_nodes.h"

#define NODE_RATES_OUTLIER 2.0

/* A completed run; all is borrowed. */
struct node_run {
	const char *cell;
	struct rate rate;
	const struct strings *nodes;
};

struct node_rates {
	struct node_rates_item {
		const char *node; /* borrowed from the runs */
		struct node_rate rate;
	} * items; /* in natural order of their names */
	size_t count;
};
void node_rates_clear(struct node_rates *rates);
OWNED_VALUE(struct node_rates, node_rates_clear)

/* Compare the nodes; none is in *rates whose cells ran on no other node. The
 * caller clears it, also after a failure: ENOMEM.
 */
int node_rates_find(const struct node_run *runs, size_t count,
		    struct node_rates *rates, struct error *err);

/* "-6.9 ± 0.4 (!)": in percent of the others' rate. Returns text. */
#define NODE_RATE_TEXT 64
const char *node_rate_words(const struct node_rate *of,
			    char text[NODE_RATE_TEXT]);

/* The same for the completed rows of a report, as a table for table_clear();
 * empty if there is nothing to compare. The columns live for ever.
 */
int node_rates_table(const struct report_rows *rows, enum language language,
		     struct table *table, struct error *err);
