/* reply_nodes.h - replies about nodes.
 */
#pragma once

#include "protocol/message/device_info.h"

/* When a node gets no new task. */
struct drain_info {
	int64_t from_ms;
	int64_t until_ms; /* 0: for good */
	char *reason;
};

/* Failures of a node's infrastructure that are counted against it, by class. */
struct node_health {
	uint32_t preflight, image, create, node_lost;
	char *failure;        /* class of the last one */
	char *text;           /* what it told */
	int64_t failed_ms;    /* when the last one was */
	int64_t probation_ms; /* since when the node is on probation; 0: no */
};
extern const struct schema node_health_schema;

/* An engine that does not answer its agent. */
struct engine_away {
	int64_t since_ms;
	char *text; /* what the agent found */
};
extern const struct schema engine_away_schema;

/* How fast its last runs were against those of the same cells on other nodes
 * (controller/report/node_rates.h).
 */
struct node_rate {
	double percent; /* faster; below 0: slower */
	double margin;  /* half the width of its 95 % interval; NAN: one run */
	uint64_t runs, cells;
	bool outlier;
};

/* How often attempts of jobs failed on a node, recently more than long ago
 * (controller/nodes/lemons.h).
 */
struct node_lemon {
	double attempts, failures;
	double others_percent; /* of the attempts on other nodes that failed */
	double score; /* how sure it is that it fails more often; percent */
	bool lemon;
	char *failure; /* class of the last one; NULL: none */
	int64_t failed_ms;
};
extern const struct schema node_lemon_schema;

/* A test of its last validation, against the same test before. */
struct node_test {
	char *test;          /* "rate", or a metric */
	double last, before; /* the median of the runs before */
	double worse_pct;    /* NAN: not known */
	uint64_t runs;       /* before the last one */
	int64_t since_ms;    /* of the first of them */
	bool fell;
};

/* The reply `node` has all fields, `nodes` all but tests and inventory. */
struct node_info {
	char *name;
	char *state;  /* "up" or "down" */
	bool drained; /* at present */
	struct drain_info *drain;
	struct node_health *health;      /* NULL: no failure is counted */
	struct engine_away *engine_away; /* NULL: it answers */
	cJSON *labels;                   /* an object of texts */
	char *vendor;
	uint32_t devices; /* including lost ones */
	uint32_t lost;
	uint32_t free;
	cJSON *chips; /* an object: by name, how many are not lost */
	char *address;
	struct numbers jobs; /* that have tasks on it */
	int64_t seen_ms;     /* its last message; 0: none */
	int64_t until_ms;    /* when it leaves; 0: never */
	bool leaving;
	cJSON *facts; /* an object, as its agent reports it, or NULL */
	struct node_rate *rate;   /* NULL: there is nothing to compare */
	struct node_lemon *lemon; /* NULL: no attempt is known */
	struct strings drift; /* what it differs in from the nodes like it */

	struct node_test *tests; /* in the reply `node` only */
	size_t tests_count;

	struct device_info *inventory;
	size_t inventory_count;
};
extern const struct schema node_info_schema; /* in lists */

struct reply_nodes {
	uint64_t since;
	struct node_info *nodes;
	size_t nodes_count;
	bool more; /* ask again, with `after` as the number of rows so far */
};

struct reply_node {
	uint64_t since;
	struct node_info node;
};

/* Of drain; without the inventory. */
struct reply_drain {
	uint64_t since;
	struct node_info node;
};

struct reply_label {
	uint64_t since;
	cJSON *labels; /* all labels that it has now */
};

extern const struct schema reply_nodes_schema, reply_node_schema,
	reply_drain_schema, reply_label_schema;
