/* moving_layer.c - one layer of an image that a node is pulling.
 */
#include "protocol/message/moving_layer.h"

/* clang-format off */
const struct schema moving_layer_schema = SCHEMA(moving_layer,
	FIELD(moving_layer, id),
	FIELD(moving_layer, phase),
	FIELD(moving_layer, done_bytes),
	FIELD(moving_layer, total_bytes));
/* clang-format on */
