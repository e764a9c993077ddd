/* install.h - makes an image from another one by a script that runs in a
 * container.
 *
 * As FlagPerf's image manager does it: the folder is mounted at
 * /workspace/docker_image, its script runs there, and what the container is
 * then becomes the image. The container and the image that it began with are
 * removed in any case; those of an agent that died are, when the next one
 * begins (install_forget_strays()).
 *
 * Source: FlagOpen/FlagPerf, utils/image_manager.py, commit 1b5a0303.
 */
#ifndef AGENT_IMAGES_INSTALL_H
#define AGENT_IMAGES_INSTALL_H

#include "agent/images/build.h"

/* The repository of images that installing begins with. */
#define INSTALL_BASE "regatta-build"

/* Borrowed for the length of the call. */
struct install_plan {
	const char *base;   /* the image that it begins with */
	const char *folder; /* on the engine's machine */
	const char *script; /* a file in it, or NULL: nothing is installed */
	const char *target; /* name:tag */
	const char *owner;  /* of the container: CLUSTER/NODE/INSTANCE */
	const struct strings *devices; /* /dev/x[:/dev/y[:rwm]] */
};

struct install;

/* What the script prints is output of the progress. Callbacks come from the
 * loop only, never from inside the call; within them install_cancel() may be
 * called.
 */
struct install *install_begin(const struct pull_room *room,
			      const struct install_plan *plan,
			      pull_progress_fn *progress, build_done_fn *done,
			      void *arg, struct error *err);
/* No callback runs any more. NULL is fine. */
void install_cancel(struct install *install);
OWNED_POINTER(struct install, install_cancel)

/* Does this container, an item of the engine's list, install for an agent of
 * that name?
 */
bool install_is_of(const cJSON *container, const char *cluster,
		   const char *node);

/* Remove what earlier instances of the agent left behind, which owner (copied)
 * is one of.
 */
void install_forget_strays(struct engine *engine, const char *owner);

#endif
