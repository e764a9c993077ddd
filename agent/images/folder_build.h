/* folder_build.h - makes an image from a folder: its Dockerfile, then its
 * script.
 *
 * A folder of ours has a Dockerfile alone (agent/images/build.h). In a folder
 * of the node, NAME_install.sh of a folder NAME may install more, in a
 * container of what the Dockerfile gave (agent/images/install.h).
 */
#ifndef AGENT_IMAGES_FOLDER_BUILD_H
#define AGENT_IMAGES_FOLDER_BUILD_H

#include "agent/images/build.h"

/* The context that the image was built from, a label of it. */
#define CONTEXT_LABEL "regatta.context"

/* Devices that what is installed in an image may want to see: appended,
 * /dev/x[:/dev/y[:rwm]].
 */
typedef int images_devices_fn(void *arg, struct strings *devices,
			      struct error *err);

/* Borrowed until the end of the build. */
struct folder_plan {
	const char *folder; /* its path */
	const char *name;   /* of the folder, for errors */
	const char *target; /* the name to give the image */
	const char *hash;   /* of its context, and its bytes */
	uint64_t bytes;
	bool installs; /* a folder of the node */
	const struct registry_login *logins;
	size_t logins_count;
	const char *owner; /* of the container that installs, or NULL */
	images_devices_fn *devices; /* or NULL */
	void *devices_arg;
};

struct folder_build;

/* Callbacks come from the loop only, never from inside the call; within them
 * folder_build_cancel() may be called, and after done() it is still due.
 */
struct folder_build *folder_build_begin(const struct pull_room *room,
					const struct folder_plan *plan,
					pull_progress_fn *progress,
					build_done_fn *done, void *arg,
					struct error *err);
/* No callback runs any more. NULL is fine. */
void folder_build_cancel(struct folder_build *build);
OWNED_POINTER(struct folder_build, folder_build_cancel)

#endif
