/* image_usage.h - records which images Regatta brought here, and when jobs
 * used them.
 *
 * A file in the agent's state folder. That an image is about to be brought is
 * on disk before the engine is asked for it, so none is ever taken for somebody
 * else's after a crash; when it was used last is written a little later, for a
 * minute more or less does not matter. A file that cannot be read is told in
 * the log: then nothing is known to be ours, and nothing goes.
 */
#ifndef AGENT_IMAGES_IMAGE_USAGE_H
#define AGENT_IMAGES_IMAGE_USAGE_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/message/message.h"

#include <systemd/sd-event.h>

#define IMAGE_USAGE_ITEMS_MAX 4096 /* those unused longest are forgotten */

enum image_origin {
	IMAGE_FOREIGN,
	IMAGE_PULLED,
	IMAGE_BUILT,
	IMAGE_LOADED,
};

/* "pulled" ...; NULL: foreign */
const char *image_origin_name(enum image_origin origin);

struct image_usage;

/* state: folder. */
struct image_usage *image_usage_new(sd_event *loop, const char *state,
				    struct error *err);
void image_usage_free(struct image_usage *record);
OWNED_POINTER(struct image_usage, image_usage_free)

/* The engine has no image of this reference, and is about to be asked for it.
 * On failure nothing may be brought, for it would be nobody's.
 */
int image_usage_coming(struct image_usage *record, const char *reference,
		       enum image_origin origin, struct error *err);

/* It does not come. */
void image_usage_failed(struct image_usage *record, const char *reference);

/* A job uses the image of that id (sha256:...), which it asked for by this
 * reference. One that was coming is known by its id from now on.
 */
void image_usage_used(struct image_usage *record, const char *reference,
		      const char *id);

/* Fill image->origin and used_ms, from its id and names. One that was coming
 * and is there is ours.
 */
void image_usage_tell(struct image_usage *record, struct image_info *image);

/* These are all the images there are: what else is known is forgotten, and what
 * has been coming for more than a day.
 */
void image_usage_keep_only(struct image_usage *record,
			   const struct image_info *images, size_t count);

#endif
