/* image_info.h - one image of a node, as its agent reports it.
 */
#ifndef PROTOCOL_MESSAGE_IMAGE_INFO_H
#define PROTOCOL_MESSAGE_IMAGE_INFO_H

#include "protocol/message/codec.h"

struct image_info {
	char *id;
	struct strings tags;    /* name:tag */
	struct strings digests; /* name@sha256:... */
	uint64_t bytes;         /* with what it shares with others */
	uint64_t created_ms;
	uint64_t used_ms;    /* by a job, last; 0: not known */
	uint32_t containers; /* made from it, running or not */
	char *origin; /* "pulled", "built", "loaded": by us; NULL: by others */
	char *needed; /* why it must stay, or NULL */
	bool removed; /* gc as a dry run: it would be */
};
extern const struct schema image_info_schema;

#endif
