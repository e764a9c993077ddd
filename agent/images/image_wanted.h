/* image_wanted.h - the description of an image that is wanted.
 */
#ifndef AGENT_IMAGES_IMAGE_WANTED_H
#define AGENT_IMAGES_IMAGE_WANTED_H

#include "protocol/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct registry_login; /* protocol/registry/login.h */

/* A built image is found by the content of
 * its folder: without a tag in reference, the name gets the first 12 hex digits
 * of the context's SHA-256 as its tag; with one, an image of that name is taken
 * if it was built from the same content, or not by us.
 */
struct image_wanted {
	const char *reference;
	const char *build; /* NULL, or the folder that its Dockerfile lies in:
			      below the images folder; or an absolute path,
			      whose NAME_install.sh then runs in a container
			      (agent/images/install.h), if reference, with a
			      tag, is not there */
	/* Who the job is to registries, sealed for this node; what it does not
	 * name, the node's own file does (registries.h).
	 */
	const struct registry_login *logins;
	size_t logins_count;
};

/* EINVAL: what is wrong with the reference or the build folder. has_folder:
 * there is an images folder to build from.
 */
int image_wanted_check(const struct image_wanted *wanted, bool has_folder,
		       struct error *err);

#endif
