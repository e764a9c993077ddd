/* image.h - brings images to the node: by a pull, or a build from a folder.
 *
 * Any number of tasks may want the same image at the same time: the work is
 * done once. The only time limit is stall_ms without progress. A pull is tried
 * three times, with growing pauses (agent/images/pull.h), unless no retry can
 * help (no such image, access denied). A build is tried once.
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
struct image_wait;     /* one caller that waits for an image */
struct disk_watermark; /* agent/images/disk_watermark.h */
struct image_usage;    /* agent/images/image_usage.h */

/* Called with each output of a build; else at most five times a second, at each
 * new phase and attempt, and at the end.
 */
typedef void image_progress_fn(void *arg,
			       const struct image_progress *progress);

/* Exactly one of err and image is NULL. ENOENT: no such image, or access to it
 * is denied. EPERM: the node's policy forbids its registry. EINVAL:
 * the reference or the build folder is wrong. ETIMEDOUT: no progress. Others as
 * in engine.h.
 */
typedef void image_done_fn(void *arg, const struct error *err,
			   const struct image *image);

/* engine is borrowed and must outlive it. folder: the images folder; NULL:
 * nothing is built. stall_ms is for pulls; a build may be silent ten times as
 * long. 0 means 120,000 for stall_ms and 1,000 for retry_ms.
 */
struct images *images_new(sd_event *loop, struct engine *engine,
			  const char *folder, uint32_t stall_ms,
			  uint32_t retry_ms, struct error *err);

/* Logins and settings of registries (borrowed) for pulls from now on. */
void images_use(struct images *images, const struct registries *registries);

/* Record there (borrowed) which images are pulled or built, and used by jobs.
 */
void images_record(struct images *images, struct image_usage *usage);

/* Frees space (borrowed) when an image does not fit. */
void images_keep(struct images *images, struct disk_watermark *watermark);

/* For the containers of agent/images/install.h: their owner (borrowed), and the
 * devices that they get. By default they have neither.
 */
void images_install(struct images *images, const char *owner,
		    images_devices_fn *devices, void *arg);

/* Cancels all; no callback runs any more. */
void images_free(struct images *images);
OWNED_POINTER(struct images, images_free)

/* Have the image on the node. An image that is there is used by everyone. Only
 * callers with the same login share one pull, so that nobody fails because of
 * another one's password.
 *
 * done() runs later, exactly once, never from inside the call; the handle is
 * freed then. progress may be NULL. Returns NULL with *err set when nothing was
 * started. Callbacks may call any function of this header.
 */
struct image_wait *image_ensure(struct images *images,
				const struct image_wanted *wanted,
				image_progress_fn *progress,
				image_done_fn *done, void *arg,
				struct error *err);

/* Before done(): stop waiting; no callback runs any more. When nobody waits any
 * more, the transfer ends.
 */
void image_release(struct image_wait *wait);

#endif
