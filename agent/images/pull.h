/* pull.h - pulls one image from its registry to the engine.
 *
 * How the registry may be approached is found out (registry_access.h); the
 * engine is asked what the name means there, where it can tell, and then pulls
 * by that digest, so that a tag that moves meanwhile does no harm. Sizes are
 * known as the engine tells them. A pull fails when no byte moves for stall_ms,
 * never by wall clock; it is tried three times, with a pause of retry_ms and
 * then of four times as much, fifteen times as long when the registry has had
 * too many requests. What no retry can mend (no such image, no access, the
 * policy, disk full) is final at once, but that for an image that does not fit
 * room is made, once, where that is possible (agent/images/disk_watermark.h).
 */
#ifndef AGENT_IMAGES_PULL_H
#define AGENT_IMAGES_PULL_H

#include "agent/docker/pull_progress.h"
#include "agent/images/disk_watermark.h"
#include "protocol/registry/login.h"

/* What all pulls share; borrowed, and so are its members. */
struct pull_room {
	sd_event *loop;
	struct engine *engine;
	const struct registries *registries; /* NULL: nobody is anybody */
	struct image_usage *record; /* of what is brought; NULL: none is kept */
	struct disk_watermark
		*watermark; /* makes room on a full disk; NULL: nobody */
	uint32_t stall_ms;
	uint32_t retry_ms;
};

/* Sums, at each word of the engine. digest is set as soon as it is known. */
typedef void pull_progress_fn(void *arg, const struct image_progress *progress);

/* Once. err NULL: the engine has the image; target is what to ask it for. */
typedef void pull_done_fn(void *arg, const struct error *err,
			  const char *target);

struct pull;

/* logins: who the
 * job is to registries, sealed for this node; copied. Callbacks come from the
 * loop only, never from inside the call; within them pull_cancel() may be
 * called.
 */
struct pull *pull_begin(const struct pull_room *room, const char *reference,
			const struct registry_login *logins, size_t count,
			pull_progress_fn *progress, pull_done_fn *done,
			void *arg, struct error *err);

/* No callback runs any more. NULL is fine. */
void pull_cancel(struct pull *pull);
OWNED_POINTER(struct pull, pull_cancel)

#endif
