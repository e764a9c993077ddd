/* image_info.h - one image of a node, as its agent reports it.
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

#endif
