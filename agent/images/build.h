/* build.h - makes an image from a folder: its Dockerfile, then its script.
 *
 * The engine builds the Dockerfile and pulls the base images; it gets our
 * logins for all registries (agent/images/registry_access.h). A folder of the
 * images folder has only a Dockerfile. In another folder NAME of the node,
 * NAME_install.sh may install more: it runs in a container of the built image
 * (agent/images/install.h).
 *
 * A build is tried once. It fails when there is no output for ten times
 * stall_ms of the services, because its commands may be silent for long.
 */
#pragma once

#include "agent/images/image_services.h"

/* Borrowed until the end of the build. */
struct build_plan {
	const char *folder; /* its path */
	const char *name;   /* of the folder, for errors */
	const char *target; /* the name to give the image */
	const char *hash;   /* SHA-256 of the build context; a folder that has
			       changed is refused */
	uint64_t bytes;     /* of that context */
	bool installs;      /* a folder outside of the images folder */
	const struct registry_login *logins; /* as for a pull */
	size_t logins_count;
};

/* Called once. err NULL: the engine has the image. */
typedef void build_done_fn(void *arg, const struct error *err);

struct build;

/* Callbacks come from the loop only, never from inside the call. The handle is
 * freed after done(). news: as for a pull, and with each piece of output.
 */
struct build *build_begin(const struct image_services *services,
			  const struct build_plan *plan, image_news_fn *news,
			  build_done_fn *done, void *arg, struct error *err);
/* Before done(): no callback runs any more. NULL is fine. */
void build_cancel(struct build *build);
OWNED_POINTER(struct build, build_cancel)
