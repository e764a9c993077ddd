/* build_context.c - the build context of a folder, as a tar stream.
 */
#include "agent/images/build_context.h"

#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define IGNORE_FILE ".dockerignore"
#define IGNORE_FILE_MAX (1 << 20)
#define TURN_MS 20
#define PIECE (64 << 10)

struct build_context {
	struct ignore *ignore;
	struct tarball *tarball;
	sd_event_source *source; /* of build_context_hash() */
	build_context_hash_fn *done;
	void *arg;
};

static int read_ignore(struct ignore *ignore, const char *folder,
		       struct error *err)
{
	owned(buffer_clear) struct buffer text;
	char path[PATH_MAX];
	struct error why;

	buffer_init(&text, IGNORE_FILE_MAX);
	if (file_path(path, err, "%s/" IGNORE_FILE, folder) < 0)
		return -1;
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
		error_calloc(sizeof(*context), "context", err);

	if (!context)
		return NULL;
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
	loop_source_free(&context->source);
	tarball_free(context->tarball);
	ignore_free(context->ignore);
	free(context);
}

struct tarball *build_context_tarball(struct build_context *context)
{
	return context->tarball;
}

static int build_context_read(sd_event_source *source, void *arg)
{
	struct build_context *context = arg;
	int64_t until = clock_mono_ms() + TURN_MS;
	struct error err;
	char piece[PIECE];
	ssize_t got;

	do {
		got = tarball_read(context->tarball, piece, sizeof(piece),
				   &err);
	} while (got > 0 && clock_mono_ms() < until);
	if (got > 0)
		loop_defer_run(source);
	else if (got < 0)
		context->done(context->arg, &err, NULL, 0);
	else
		context->done(context->arg, NULL,
			      tarball_hash(context->tarball),
			      tarball_size(context->tarball));
	return 0;
}

int build_context_hash(struct build_context *context, sd_event *loop,
		       build_context_hash_fn *done, void *arg,
		       struct error *err)
{
	context->done = done;
	context->arg = arg;
	if (loop_defer(loop, &context->source, build_context_read, context,
		       err) < 0)
		return -1;
	loop_defer_run(context->source);
	return 0;
}
