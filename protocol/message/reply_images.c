/* reply_images.c - replies about images on nodes.
 */
#include "protocol/message/reply_images.h"

/* clang-format off */
const struct schema image_node_schema = SCHEMA(image_node,
	FIELD(image_node, name),
	IMAGE_PROGRESS_FIELDS(image_node, progress., false),
	FIELD(image_node, code),
	FIELD_NULLABLE(image_node, text),
	FIELD_MANY(image_node, images, image_info_schema),
	FIELD_OPTIONAL(image_node, left_out),
	FIELD(image_node, up));

static const struct schema image_output_schema = SCHEMA(image_output,
	FIELD(image_output, node),
	FIELD(image_output, text));

const struct schema image_operation_info_schema = SCHEMA(image_operation_info,
	FIELD(image_operation_info, operation),
	FIELD(image_operation_info, what),
	FIELD(image_operation_info, image),
	FIELD_ROWS(image_operation_info, nodes, image_node_schema),
	FIELD_NULLABLE(image_operation_info, content),
	FIELD(image_operation_info, bytes),
	FIELD_ROWS(image_operation_info, output, image_output_schema),
	FIELD(image_operation_info, after),
	FIELD(image_operation_info, final));

const struct schema reply_image_schema = SCHEMA(reply_image,
	FIELD(reply_image, since),
	FIELD_EMBED(reply_image, image, image_operation_info_schema));

const struct schema reply_image_operation_schema = SCHEMA(reply_image_operation,
	FIELD(reply_image_operation, nodes));
/* clang-format on */
