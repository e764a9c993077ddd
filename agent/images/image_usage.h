/* image_usage.h - records which images Regatta brought here, and when jobs
 * used them.
 *
 * The record is a file in the agent's state folder. An image is entered before
 * the engine is asked for it, so after a crash it is still known as ours. The
 * time of last use is written up to a minute later. If the file cannot be read,
 * the log says so; then no image is known as ours, and none is removed.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/message/message.h"

#include <systemd/sd-event.h>

#define IMAGE_USAGE_ITEMS_MAX 4096 /* those unused longest are forgotten */

/* How Regatta brought an image. */
#define IMAGE_PULLED "pulled"
#define IMAGE_BUILT "built"
#define IMAGE_LOADED "loaded"

struct image_usage;

/* state: folder. */
struct image_usage *image_usage_new(sd_event *loop, const char *state,
				    struct error *err);
void image_usage_free(struct image_usage *usage);
OWNED_POINTER(struct image_usage, image_usage_free)

/* Enter an image before the engine is asked for it. On failure the caller must
 * not ask, because the image would not be known as ours.
 */
int image_usage_coming(struct image_usage *usage, const char *reference,
		       const char *origin, struct error *err);

/* The image could not be had: remove the entry. */
void image_usage_failed(struct image_usage *usage, const char *reference);

/* An entered image is here: it is known by its id from now on. No other image
 * is entered.
 */
void image_usage_came(struct image_usage *usage, const char *reference,
		      const char *id);

/* The id of an image that came by this reference; NULL: none did. Borrowed. */
const char *image_usage_id(const struct image_usage *usage,
			   const char *reference);

/* How did Regatta bring the image with that id? "": it did not. Borrowed. */
const char *image_usage_origin(const struct image_usage *usage, const char *id);

/* A job uses the image with that id (sha256:...), which it requested by this
 * reference. An entered image is known by its id from now on.
 */
void image_usage_used(struct image_usage *usage, const char *reference,
		      const char *id);

/* Fill image->origin, used_ms and config, by its id and names. A loaded image
 * was entered by the hash of its config.
 */
void image_usage_tell(struct image_usage *usage, struct image_info *image);

/* These are all images of the engine: forget others, except those entered less
 * than a day ago.
 */
void image_usage_keep_only(struct image_usage *usage,
			   const struct image_info *images, size_t count);
