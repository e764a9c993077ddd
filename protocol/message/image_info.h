/* image_info.h - one image of a node, and one layer that the node is pulling,
 * as its agent reports them.
 */
#ifndef PROTOCOL_MESSAGE_IMAGE_INFO_H
#define PROTOCOL_MESSAGE_IMAGE_INFO_H

#include "protocol/message/codec.h"

struct image_info {
	char *id;
	struct strings tags;    /* name:tag */
	struct strings digests; /* name@sha256:... */
	uint64_t bytes;         /* including layers shared with others */
	uint64_t created_ms;
	uint64_t used_ms;    /* last use by a job; 0: not known */
	uint32_t containers; /* made from it, running or not */
	char *origin; /* "pulled", "built" or "loaded" by Regatta; NULL: by
			 others */
	char *needed; /* why it must stay, or NULL */
	bool removed; /* with dry_run: it would be removed */
};
extern const struct schema image_info_schema;

struct moving_layer {
	char *id;
	char *phase; /* "pulling" or "extracting" */
	uint64_t done_bytes;
	uint64_t total_bytes;
};
extern const struct schema moving_layer_schema;

#endif
