/* reply_nodes.c - replies about nodes.
 */
#include "protocol/message/reply_nodes.h"

/* clang-format off */
static const struct schema drain_info_schema = SCHEMA(drain_info,
	FIELD(drain_info, from_ms),
	FIELD(drain_info, until_ms),
	FIELD_OPTIONAL(drain_info, reason));

const struct schema node_health_schema = SCHEMA(node_health,
	FIELD(node_health, preflight),
	FIELD(node_health, image),
	FIELD(node_health, create),
	FIELD(node_health, node_lost),
	FIELD_OPTIONAL(node_health, failure),
	FIELD_OPTIONAL(node_health, text),
	FIELD(node_health, failed_ms),
	FIELD_OPTIONAL(node_health, probation_ms));

const struct schema engine_away_schema = SCHEMA(engine_away,
	FIELD(engine_away, since_ms),
	FIELD(engine_away, text));

static const struct schema node_rate_schema = SCHEMA(node_rate,
	FIELD(node_rate, percent),
	FIELD_KNOWN(node_rate, margin),
	FIELD(node_rate, runs),
	FIELD(node_rate, cells),
	FIELD_OPTIONAL(node_rate, outlier));

const struct schema node_lemon_schema = SCHEMA(node_lemon,
	FIELD(node_lemon, attempts),
	FIELD(node_lemon, failures),
	FIELD(node_lemon, others_percent),
	FIELD(node_lemon, score),
	FIELD_OPTIONAL(node_lemon, lemon),
	FIELD_NULLABLE(node_lemon, failure),
	FIELD_OPTIONAL(node_lemon, failed_ms));

static const struct schema node_test_schema = SCHEMA(node_test,
	FIELD(node_test, test),
	FIELD(node_test, last),
	FIELD(node_test, before),
	FIELD_FIGURE(node_test, worse_pct),
	FIELD(node_test, runs),
	FIELD(node_test, since_ms),
	FIELD_OPTIONAL(node_test, fell));

#define IN_LISTS                                                               \
	FIELD(node_info, name),                                                \
	FIELD(node_info, state),                                               \
	FIELD(node_info, drained),                                             \
	FIELD_MAYBE(node_info, drain, drain_info_schema),                      \
	FIELD_MAYBE(node_info, health, node_health_schema),                    \
	FIELD_MAYBE(node_info, engine_away, engine_away_schema),               \
	FIELD_NULLABLE(node_info, labels),                                     \
	FIELD_NULLABLE(node_info, vendor),                                     \
	FIELD(node_info, devices),                                             \
	FIELD(node_info, lost),                                                \
	FIELD(node_info, free),                                                \
	FIELD_NULLABLE(node_info, chips),                                      \
	FIELD_NULLABLE(node_info, address),                                    \
	FIELD(node_info, jobs),                                                \
	FIELD(node_info, seen_ms),                                             \
	FIELD_OPTIONAL(node_info, until_ms),                                   \
	FIELD_OPTIONAL(node_info, leaving),                                    \
	FIELD_NULLABLE(node_info, facts),                                      \
	FIELD_(node_info, rate, FIELD_POINTER, .schema = &node_rate_schema,    \
	       .optional = true),                                             \
	FIELD_(node_info, lemon, FIELD_POINTER, .schema = &node_lemon_schema,  \
	       .optional = true),                                             \
	FIELD_OPTIONAL(node_info, drift)

const struct schema node_info_schema = SCHEMA(node_info, IN_LISTS);

static const struct schema node_details_schema = SCHEMA_NAMED(
	node_info, "node_details",
	IN_LISTS,
	FIELD_ROWS(node_info, tests, node_test_schema),
	FIELD_ROWS(node_info, inventory, device_info_schema));

const struct schema reply_nodes_schema = SCHEMA(reply_nodes,
	FIELD(reply_nodes, since),
	FIELD_ROWS(reply_nodes, nodes, node_info_schema),
	FIELD(reply_nodes, more));

const struct schema reply_node_schema = SCHEMA(reply_node,
	FIELD(reply_node, since),
	FIELD_EMBED(reply_node, node, node_details_schema));

const struct schema reply_drain_schema = SCHEMA(reply_drain,
	FIELD(reply_drain, since),
	FIELD_EMBED(reply_drain, node, node_info_schema));

const struct schema reply_label_schema = SCHEMA(reply_label,
	FIELD(reply_label, since),
	FIELD(reply_label, labels));
/* clang-format on */
