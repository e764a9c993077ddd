/* install.h - makes an image from another one by a script that runs in a
 * container.
 *
 * It does what FlagPerf's image manager does: a copy of the folder is mounted
 * at /workspace/docker_image, its script runs there, and the container is
 * committed as the image. Whoever may write in a user's folder may replace it
 * meanwhile, so the copy has what the engine was given of it. The container,
 * the copy and the base image are removed in any case; those of an agent that
 * died are removed when the next agent starts (install_forget()).
 *
 * Source: FlagOpen/FlagPerf, utils/image_manager.py, commit 1b5a0303.
 */
#pragma once

#include "agent/images/image_services.h"

/* Repository of the base images. */
#define INSTALL_BASE "regatta-build"

/* Below the agent's folder: the copies of folders, for the engine. */
#define INSTALL_COPIES "install"

/* Open a file without a name there. */
int install_open(const char *state, struct error *err);

/* Borrowed until the end. */
struct install_plan {
	const char *base; /* the base image */
	const char *name; /* of the folder; its NAME_install.sh is the script.
			     Without one, nothing is installed */
	int copy;         /* of install_open(), with the folder's tar stream */
	uint64_t bytes;   /* of that */
	const char *target; /* name:tag */
};

/* Called once. err NULL: the engine has the image. */
typedef void install_done_fn(void *arg, const struct error *err);

struct install;

/* news gets the output of the script, with news_arg. Callbacks come
 * from the loop only, never from inside the call. The handle is freed after
 * done(). The owner and the devices of the container are those of the services.
 */
struct install *install_begin(const struct image_services *services,
			      const struct install_plan *plan,
			      image_news_fn *news, void *news_arg,
			      install_done_fn *done, void *arg,
			      struct error *err);
/* Before done(): no callback runs any more. NULL is fine. */
void install_cancel(struct install *install);
OWNED_POINTER(struct install, install_cancel)

/* Is this container, an item of the engine's list, one that installs for this
 * cluster and node?
 */
bool install_is_of(const cJSON *container, const char *cluster,
		   const char *node);

/* Remove containers, base images and copies of earlier instances of the agent.
 * owner (copied): of this instance.
 */
void install_forget(struct engine *engine, const char *owner,
		    const char *state);
