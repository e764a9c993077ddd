/* build_context.c - the build context of a folder, as a tar stream.
 */
#include "agent/images/build_context.h"

#include "protocol/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define IGNORE_FILE ".dockerignore"
#define IGNORE_FILE_MAX (1 << 20)

struct build_context {
	struct ignore *ignore;
	struct tarball *tarball;
};

static int read_ignore(struct ignore *ignore, const char *folder,
		       struct error *err)
{
	owned(buffer_clear) struct buffer text;
	owned_free char *path = NULL;
	struct error why;

	buffer_init(&text, IGNORE_FILE_MAX);
	if (asprintf(&path, "%s/" IGNORE_FILE, folder) < 0) {
		path = NULL;
		return error_nomem(err, "context");
	}
	if (file_read(AT_FDCWD, path, &text, &why) < 0)
		return why.code == ENOENT
			       ? 0
			       : error_set(err, EINVAL, "%s", why.text);
	if (ignore_docker_lines(ignore, text.data, err) < 0)
		return error_prefix(err, IGNORE_FILE);
	return ignore_docker_lines(ignore, "!Dockerfile\n!" IGNORE_FILE "\n",
				   err);
}

struct build_context *build_context_new(const char *folder, struct error *err)
{
	owned(build_context_free) struct build_context *context =
		calloc(1, sizeof(*context));

	if (!context) {
		error_nomem(err, "context");
		return NULL;
	}
	context->ignore = ignore_new(err);
	if (!context->ignore || read_ignore(context->ignore, folder, err) < 0)
		return NULL;
	context->tarball = tarball_new(folder, context->ignore, err);
	return context->tarball ? take(context) : NULL;
}

void build_context_free(struct build_context *context)
{
	if (!context)
		return;
	tarball_free(context->tarball);
	ignore_free(context->ignore);
	free(context);
}

struct tarball *build_context_tarball(struct build_context *context)
{
	return context->tarball;
}
