/* moving_layer.h - one layer of an image that a node is pulling.
 */
#ifndef PROTOCOL_MESSAGE_MOVING_LAYER_H
#define PROTOCOL_MESSAGE_MOVING_LAYER_H

#include "protocol/message/codec.h"

struct moving_layer {
	char *id;
	char *phase; /* "pulling" or "extracting" */
	uint64_t done_bytes;
	uint64_t total_bytes;
};
extern const struct schema moving_layer_schema;

#endif
