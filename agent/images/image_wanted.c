/* image_wanted.c - the description of a requested image.
 */
#include "agent/images/image_wanted.h"

#include "protocol/registry/reference.h"

#include <errno.h>
#include <string.h>

#define BUILD_MAX 255
#define FOLDER_MAX 1024

/* A folder outside of the images folder: its image needs a full name. */
static int folder_check(const char *build, const struct reference *parts,
			struct error *err)
{
	if (strlen(build) > FOLDER_MAX || strstr(build, "/.."))
		return error_set(err, EINVAL,
				 "build: \"%.80s\" is not valid here; expected "
				 "an absolute path of at most %d bytes without "
				 "\"..\"",
				 build, FOLDER_MAX);
	return parts->tag[0] ? 0
			     : error_set(err, EINVAL,
					 "image: \"%.80s\" is not valid here; "
					 "expected name:tag for an image that "
					 "is built from %.80s",
					 parts->name, build);
}

/* Below the images folder: components without "..". */
static int build_check(const char *build, struct error *err)
{
	const char *at = build;
	size_t size;

	if (strlen(build) > BUILD_MAX)
		return error_set(err, EINVAL,
				 "build: %zu bytes; expected at most %d",
				 strlen(build), BUILD_MAX);
	do {
		size = strcspn(at, "/");
		if (!size || *at == '.')
			return error_set(err, EINVAL,
					 "build: \"%.80s\" is not valid here; "
					 "expected a folder below the images "
					 "folder, such as cpu or nvidia/torch",
					 build);
		at += size + 1;
	} while (at[-1]);
	return 0;
}

int image_wanted_check(const struct image_wanted *wanted, bool has_folder,
		       struct error *err)
{
	struct reference parts;

	if (reference_parse(wanted->reference, &parts, err) < 0)
		return -1;
	if (!wanted->build)
		return 0;
	if (!has_folder && *wanted->build != '/')
		return error_set(err, EINVAL,
				 "image %.80s: this agent has no images folder",
				 wanted->reference);
	if (parts.digest[0])
		return error_set(err, EINVAL,
				 "image: \"%.80s\" is not valid here; expected "
				 "name[:tag] for an image that is built",
				 wanted->reference);
	return *wanted->build == '/' ? folder_check(wanted->build, &parts, err)
				     : build_check(wanted->build, err);
}
