/* folder_build.h - makes an image from a folder: its Dockerfile, then its
 * script.
 *
 * In the images folder a build has only a Dockerfile (agent/images/build.h). In
 * another folder NAME of the node, NAME_install.sh may install more: it runs in
 * a container of the built image (agent/images/install.h).
 */
#ifndef AGENT_IMAGES_FOLDER_BUILD_H
#define AGENT_IMAGES_FOLDER_BUILD_H

#include "agent/images/build.h"

/* Label of a built image: the hash of its build context. */
#define CONTEXT_LABEL "regatta.context"

/* Append the devices, /dev/x[:/dev/y[:rwm]], that an installing container gets.
 */
typedef int images_devices_fn(void *arg, struct strings *devices,
			      struct error *err);

/* Borrowed until the end of the build. */
struct folder_plan {
	const char *folder; /* its path */
	const char *name;   /* of the folder, for errors */
	const char *target; /* the name to give the image */
	const char *hash;   /* of its build context */
	uint64_t bytes;     /* of its build context */
	bool installs;      /* a folder outside of the images folder */
	const struct registry_login *logins;
	size_t logins_count;
	const char *owner; /* of the container that installs, or NULL */
	images_devices_fn *devices; /* or NULL */
	void *devices_arg;
};

struct folder_build;

/* Callbacks come from the loop only, never from inside the call; within them
 * folder_build_cancel() may be called. It must be called after done(), too.
 */
struct folder_build *folder_build_begin(const struct pull_services *services,
					const struct folder_plan *plan,
					pull_progress_fn *progress,
					build_done_fn *done, void *arg,
					struct error *err);
/* No callback runs any more. NULL is fine. */
void folder_build_cancel(struct folder_build *build);
OWNED_POINTER(struct folder_build, folder_build_cancel)

#endif
