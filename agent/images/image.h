/* image.h - brings images to the node: by a pull, or a build from a folder.
 *
 * Any number of tasks may want the same image at the same time: the work is
 * done once. It is bounded by no progress for stall_ms, never by wall clock.
 * A pull is tried three times, with pauses that grow (agent/images/pull.h);
 * what no retry can mend (no such image, access denied) is final at once. A
 * build is tried once.
 */
#ifndef AGENT_IMAGES_IMAGE_H
#define AGENT_IMAGES_IMAGE_H

#include "agent/docker/engine.h"
#include "agent/docker/image_inspect.h"
#include "agent/docker/pull_progress.h"
#include "agent/images/folder_build.h"
#include "agent/images/image_wanted.h"

struct images;
struct registries;     /* agent/docker/registries.h */
struct image_wait;     /* one who waits for an image */
struct disk_watermark; /* agent/images/disk_watermark.h */
struct image_usage;    /* agent/images/image_usage.h */

/* With each output of a build; else at most five times a second, at each new
 * phase and attempt, and at the end.
 */
typedef void image_progress_fn(void *arg,
			       const struct image_progress *progress);

/* Exactly one of err and image is NULL. ENOENT: there is no such image, or no
 * access to it: final. EPERM: the node's policy forbids its registry. EINVAL:
 * the reference or the build folder is wrong. ETIMEDOUT: no progress. Others as
 * in engine.h.
 */
typedef void image_done_fn(void *arg, const struct error *err,
			   const struct image *image);

/* engine is borrowed and must outlive it. folder: where the build folders are,
 * or NULL: nothing is built. stall_ms for pulls; a build may be silent ten
 * times as long, as its commands print what they like. 0 for either number:
 * 120,000 and 1,000.
 */
struct images *images_new(sd_event *loop, struct engine *engine,
			  const char *folder, uint32_t stall_ms,
			  uint32_t retry_ms, struct error *err);

/* What is known of registries (borrowed) counts for pulls from now on. */
void images_use(struct images *images, const struct registries *registries);

/* What is brought is noted there (borrowed) from now on, and what jobs use. */
void images_record(struct images *images, struct image_usage *record);

/* Where an image does not fit, it makes room from now on (borrowed). */
void images_keep(struct images *images, struct disk_watermark *watermark);

/* owner (borrowed): whose containers they are that install what belongs to an
 * image (agent/images/install.h). Without it they are nobody's, and see none.
 */
void images_install(struct images *images, const char *owner,
		    images_devices_fn *devices, void *arg);

/* Cancels all; no callback runs any more. */
void images_free(struct images *images);
OWNED_POINTER(struct images, images_free)

/* Have the image on the node. An image that is there is anybody's; to bring it,
 * only those wait for the same work who are the same to its registry, so that
 * nobody fails with another one's password.
 *
 * done() runs later, exactly once, never from inside the call; the handle is
 * gone then. progress may be NULL. Returns NULL with *err set when nothing was
 * begun. Callbacks may call anything here.
 */
struct image_wait *image_ensure(struct images *images,
				const struct image_wanted *wanted,
				image_progress_fn *progress,
				image_done_fn *done, void *arg,
				struct error *err);

/* Before done(): wait no longer; no callback runs again. The last one who
 * leaves ends the transfer.
 */
void image_release(struct image_wait *wait);

#endif
