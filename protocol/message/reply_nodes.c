/* reply_nodes.c - replies about nodes.
 */
#include "protocol/message/reply_nodes.h"

/* clang-format off */
static const struct field drain_info_fields[] = {
	FIELD(drain_info, from_ms),
	FIELD(drain_info, until_ms),
	FIELD_OPTIONAL(drain_info, reason),
};
static const struct schema drain_info_schema =
	SCHEMA(drain_info, drain_info_fields);

#define IN_LISTS                                                               \
	FIELD(node_info, name),                                                \
	FIELD(node_info, state),                                               \
	FIELD(node_info, drained),                                             \
	FIELD_MAYBE(node_info, drain, drain_info_schema),                      \
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
	FIELD_NULLABLE(node_info, facts)

static const struct field node_info_fields[] = { IN_LISTS };
const struct schema node_info_schema = SCHEMA(node_info, node_info_fields);

static const struct field node_details_fields[] = {
	IN_LISTS,
	FIELD_ROWS(node_info, inventory, device_info_schema),
};
static const struct schema node_details_schema =
	SCHEMA_NAMED(node_info, node_details_fields, "node_details");

static const struct field reply_nodes_fields[] = {
	FIELD(reply_nodes, since),
	FIELD_ROWS(reply_nodes, nodes, node_info_schema),
	FIELD(reply_nodes, more),
};
const struct schema reply_nodes_schema =
	SCHEMA(reply_nodes, reply_nodes_fields);

static const struct field reply_node_fields[] = {
	FIELD(reply_node, since),
	FIELD_EMBED(reply_node, node, node_details_schema),
};
const struct schema reply_node_schema = SCHEMA(reply_node, reply_node_fields);

static const struct field reply_drain_fields[] = {
	FIELD(reply_drain, since),
	FIELD_EMBED(reply_drain, node, node_info_schema),
};
const struct schema reply_drain_schema =
	SCHEMA(reply_drain, reply_drain_fields);

static const struct field reply_label_fields[] = {
	FIELD(reply_label, since),
	FIELD(reply_label, labels),
};
const struct schema reply_label_schema =
	SCHEMA(reply_label, reply_label_fields);
/* clang-format on */
