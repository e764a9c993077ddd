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

const struct schema image_order_info_schema = SCHEMA(image_order_info,
	FIELD(image_order_info, order),
	FIELD(image_order_info, what),
	FIELD(image_order_info, image),
	FIELD_ROWS(image_order_info, nodes, image_node_schema),
	FIELD_NULLABLE(image_order_info, content),
	FIELD(image_order_info, bytes),
	FIELD_ROWS(image_order_info, output, image_output_schema),
	FIELD(image_order_info, after),
	FIELD(image_order_info, final));

const struct schema reply_image_schema = SCHEMA(reply_image,
	FIELD(reply_image, since),
	FIELD_EMBED(reply_image, image, image_order_info_schema));

const struct schema reply_image_order_schema = SCHEMA(reply_image_order,
	FIELD(reply_image_order, nodes));
/* clang-format on */
