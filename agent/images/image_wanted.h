/* image_wanted.h - the description of a requested image.
 */
#ifndef AGENT_IMAGES_IMAGE_WANTED_H
#define AGENT_IMAGES_IMAGE_WANTED_H

#include "protocol/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct registry_login; /* protocol/registry/login.h */

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
	/* The job's logins for registries, sealed for this node. For other
	 * registries the node's own file is used (registry_access.h).
	 */
	const struct registry_login *logins;
	size_t logins_count;
};

/* EINVAL: the reference or the build folder is not valid. has_folder: there is
 * an images folder to build from.
 */
int image_wanted_check(const struct image_wanted *wanted, bool has_folder,
		       struct error *err);

#endif
