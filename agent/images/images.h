/* images.h - the images of this node: what tasks need of them, and what the
 * controller asks to be done with them.
 *
 * An operation ensures (pulls or builds), loads, saves, lists or removes
 * images, or removes those that no job needs. It reports its progress and its
 * outcome to the controller. One that comes twice is reported again.
 *
 * Any number of tasks and operations may wait for the same image: the work is
 * done once. The only time limit is stall_ms without progress. A pull is tried
 * three times, with growing pauses (agent/images/pull.h), unless no retry can
 * help (no such image, access denied). A build is tried once.
 */
#pragma once

#include "agent/docker/image_inspect.h"
#include "agent/images/image_services.h"

struct images;
struct image_wait; /* one caller that waits for an image */

/* *services is copied, its members are borrowed. */
struct images *images_new(const struct image_services *services,
			  struct error *err);

/* Cancels all; no callback runs any more. Not from inside a callback. */
void images_free(struct images *images);
OWNED_POINTER(struct images, images_free)

/* Takes the contents of *message. What cannot start is reported as failed. */
void images_do(struct images *images, struct message_image_do *message);

/* Mark the blobs that operations need as used, so that they are not removed.
 */
void images_touch(struct images *images);

/* A built image is identified by the content of its folder. Without a tag in
 * reference, the tag is the first 12 hex digits of the context's SHA-256. With
 * a tag, an existing image of that name is used if it was built from the same
 * content, or not by Regatta.
 */
struct image_wanted {
	const char *reference;
	const char *build; /* NULL, or the folder of its Dockerfile: below the
			      images folder; or an absolute path, whose
			      NAME_install.sh then runs in a container
			      (agent/images/install.h) */
	bool local;        /* it is in no registry: do not ask one */
	bool look;         /* do not pull or build what is not there */
	/* The job's logins for registries, sealed for this node. For other
	 * registries the node's own file is used (registry_access.h).
	 */
	const struct registry_login *logins;
	size_t logins_count;
};

/* Exactly one of err and image is NULL. ENOENT: no such image, or access to it
 * is denied. EPERM: the node's policy forbids its registry. EINVAL:
 * the reference or the build folder is wrong. ETIMEDOUT: no progress. Others as
 * in engine.h.
 */
typedef void image_done_fn(void *arg, const struct error *err,
			   const struct image *image);

/* Have the image on the node. An image that is there is used by everyone. Only
 * callers with the same login share one pull, so that nobody fails because of
 * another one's password.
 *
 * done() runs later, exactly once, never from inside the call; the handle is
 * freed then. news, or NULL, is called with each output of a build; else at
 * most five times a second, at each new phase and attempt, and at the end.
 * Returns NULL with *err set when nothing was started.
 */
struct image_wait *image_ensure(struct images *images,
				const struct image_wanted *wanted,
				image_news_fn *news, image_done_fn *done,
				void *arg, struct error *err);

/* Before done(): stop waiting; no callback runs any more. When nobody waits any
 * more, the transfer ends.
 */
void image_release(struct image_wait *wait);
