/* image_info.c - one image of a node, and the progress of one on its way there,
 * as its agent reports them.
 */
#include "protocol/message/image_info.h"

/* clang-format off */
const struct schema image_info_schema = SCHEMA(image_info,
	FIELD(image_info, id),
	FIELD_OPTIONAL(image_info, config),
	FIELD_OPTIONAL(image_info, tags),
	FIELD_OPTIONAL(image_info, digests),
	FIELD_OPTIONAL(image_info, bytes),
	FIELD_OPTIONAL(image_info, created_ms),
	FIELD_OPTIONAL(image_info, used_ms),
	FIELD_OPTIONAL(image_info, containers),
	FIELD_OPTIONAL(image_info, origin),
	FIELD_OPTIONAL(image_info, needed),
	FIELD_OPTIONAL(image_info, removed));

const struct schema moving_layer_schema = SCHEMA(moving_layer,
	FIELD(moving_layer, id),
	FIELD(moving_layer, phase),
	FIELD(moving_layer, done_bytes),
	FIELD(moving_layer, total_bytes));

const struct schema image_progress_schema = SCHEMA(image_progress,
	IMAGE_PROGRESS_FIELDS(image_progress, , false),
	IMAGE_PROGRESS_MOVING(image_progress, ));
/* clang-format on */
