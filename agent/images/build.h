/* build.h - builds one image from a local folder by the engine.
 *
 * Its base images come from registries, which the engine alone knows: it is
 * told who we are to all that we know (agent/docker/registry_access.h). Tried
 * once; it fails when nothing is heard of it for ten times stall_ms of the
 * room, as its commands print what they like.
 */
#ifndef AGENT_IMAGES_BUILD_H
#define AGENT_IMAGES_BUILD_H

#include "agent/images/pull.h"

/* Borrowed for the length of the call. */
struct build_plan {
	const char *folder; /* with a Dockerfile */
	const char *name;   /* of the folder, for errors */
	const char *target; /* the name to give the image */
	const char *hash;   /* of the folder's content as a context: it is
			       built from just that */
	uint64_t bytes;     /* of that context */
	const struct strings *labels;
	const struct registry_login *logins; /* as for a pull */
	size_t logins_count;
};

/* Once. err NULL: the engine has it. */
typedef void build_done_fn(void *arg, const struct error *err);

struct build;

/* Callbacks come from the loop only, never from inside the call; within them
 * build_cancel() may be called. progress: as of a pull, and with each output.
 */
struct build *build_begin(const struct pull_room *room,
			  const struct build_plan *plan,
			  pull_progress_fn *progress, build_done_fn *done,
			  void *arg, struct error *err);
/* No callback runs any more. NULL is fine. */
void build_cancel(struct build *build);
OWNED_POINTER(struct build, build_cancel)

#endif
