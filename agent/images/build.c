/* build.c - makes an image from a folder: its Dockerfile, then its script.
 */
#include "agent/images/build.h"

#include "agent/docker/image_inspect.h"
#include "agent/docker/pull_progress.h"
#include "agent/images/build_context.h"
#include "agent/images/build_rights.h"
#include "agent/images/image_usage.h"
#include "agent/images/install.h"
#include "agent/images/pull.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/printable.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define LAST_MAX 120
#define BASE_MAX 200

struct build {
	const struct image_services *services;
	struct build_plan plan;
	char base_name[40]; /* name of the Dockerfile's image, if more is
			       installed */
	bool gone_login;    /* a login of the job was deleted */
	struct registry_access *access;
	char *auth; /* the header, or NULL */
	struct build_context *context;
	int copy; /* what was read of it, if more is installed; or -1 */
	struct engine_call *call;
	struct install *installing;
	struct pull_progress *sums;
	char last[LAST_MAX];     /* last line of the output */
	char base[BASE_MAX];     /* base image of the present step, or "" */
	char argument[BASE_MAX]; /* NAME=VALUE of the last ARG */
	struct image_news now;
	image_news_fn *news;
	build_done_fn *done;
	void *arg;
};

/* Ends and frees the build. */
static void build_finish(struct build *build, const struct error *err)
{
	build->done(build->arg, err);
	build_cancel(build);
}

static void build_fail(struct build *build, const struct error *why)
{
	struct error err = *why;
	char name[101];

	copy_end(name, sizeof(name), build->plan.name);
	error_prefix(&err, "build of %s", name);
	build_finish(build, &err);
}

static void build_tell(struct build *build)
{
	build->news(build->arg, &build->now);
}

/* The engine's part. */

/* The upload. If it differs from what was hashed, the last bytes are not sent,
 * and the engine builds nothing.
 */
static ssize_t context_read(void *arg, void *buffer, size_t size,
			    struct error *err)
{
	struct build *build = arg;
	struct tarball *tarball = build_context_tarball(build->context);
	ssize_t got = build_context_read(build->context, buffer, size, err);

	build->now.progress.done_bytes = tarball_size(tarball);
	if (got > 0 && build->copy >= 0 &&
	    file_write_all(build->copy, INSTALL_COPIES, buffer, (size_t)got,
			   err) < 0)
		return -1;
	if (got == 0 && strcmp(tarball_hash(tarball), build->plan.hash) != 0)
		return error_set(err, EIO,
				 "folder %s changed while being packed",
				 build->plan.name);
	return got;
}

static void installed(void *arg, const struct error *err)
{
	struct build *build = arg;

	build->installing = NULL;
	build_finish(build, err);
}

static void install(struct build *build)
{
	const struct install_plan plan = {
		.base = build->base_name,
		.name = strrchr(build->plan.folder, '/') + 1,
		.copy = build->copy,
		.bytes = build->plan.bytes,
		.target = build->plan.target,
	};
	struct error err = { EIO, "the engine has not read all of the folder" };
	char rest[1];

	/* An engine need not read behind the end of the archive. */
	if (!*tarball_hash(build_context_tarball(build->context)) &&
	    context_read(build, rest, sizeof(rest), &err) != 0) {
		build_fail(build, &err);
		return;
	}
	build->installing = install_begin(build->services, &plan, build->news,
					  build->arg, installed, build, &err);
	if (!build->installing)
		build_fail(build, &err);
}

static void build_call_done(void *arg, const struct error *err, cJSON *answer)
{
	struct build *build = arg;
	struct error failure;

	build->call = NULL;
	if (!err && build->plan.installs) {
		install(build);
		return;
	}
	if (!err) {
		build_finish(build, NULL);
		return;
	}
	failure = *err;
	if (failure.code == ENOENT)
		failure.code = EIO;
	if (failure.code == ENOSPC) {
		error_prefix(&failure, "disk full");
	} else if (build->base[0]) {
		error_prefix(&failure, "no base image %.160s", build->base);
	} else if (build->last[0]) {
		error_set(&failure, failure.code, "%.120s; its output: \"%s\"",
			  err->text, build->last);
	} else if (build->gone_login) {
		error_set(&failure, failure.code,
			  "the job's credentials were deleted; regatta retry "
			  "--registry-auth sends them again: %s",
			  err->text);
	}
	build_fail(build, &failure);
}

/* "Step 1/3 : FROM name"; the name may be ${NAME} of an ARG. */
static void keep_step(struct build *build, const char *text)
{
	static const char from[] = "FROM ", argument[] = "ARG ";
	const char *step =
		strncmp(text, "Step ", 5) ? NULL : strstr(text, " : ");
	size_t size, blanks;

	if (!step)
		return;
	step += 3;
	size = strcspn(step, "\r\n");
	build->base[0] = 0;
	if (!strncasecmp(step, argument, strlen(argument)))
		snprintf(build->argument, sizeof(build->argument), "%.*s",
			 (int)(size - strlen(argument)),
			 step + strlen(argument));
	if (strncasecmp(step, from, strlen(from)) != 0)
		return;
	blanks = strspn(step + strlen(from), " ") + strlen(from);
	snprintf(build->base, sizeof(build->base), "%.*s", (int)(size - blanks),
		 step + blanks);
	size = strcspn(build->argument, "=");
	if (!strncmp(build->base, "${", 2) && build->argument[size] &&
	    !strncmp(build->base + 2, build->argument, size) &&
	    build->base[2 + size] == '}')
		snprintf(build->base, sizeof(build->base), "%s",
			 build->argument + size + 1);
}

/* Keep the last line of output, except lines of the engine itself, such as
 * "Step 2/3 : RUN ..." and " ---> ...".
 */
static void build_keep_last(struct build *build, const char *text)
{
	size_t size = strcspn(text, "\r\n");

	if (!size || !strncmp(text, "Step ", 5) || strstr(text, "--->") ||
	    !strncmp(text, "Removing intermediate", 21))
		return;
	snprintf(build->last, sizeof(build->last), "%.*s", (int)size, text);
	uncolour(build->last);
	printable(build->last, strlen(build->last));
}

/* Record a base image that the engine pulled for the build. A command cannot
 * fake this: its output is in another member.
 */
static void keep_base(struct build *build, const cJSON *object)
{
	static const char words[] = "Status: Downloaded newer image for ";
	const char *status = json_get_text_or_empty(object, "status");
	struct error err;

	if (strncmp(status, words, sizeof(words) - 1) != 0)
		return;
	if (image_usage_coming(build->services->usage,
			       status + sizeof(words) - 1, IMAGE_PULLED,
			       &err) < 0)
		log_warning("image=%.200s is never removed: %s",
			    status + sizeof(words) - 1, err.text);
}

static void build_object(void *arg, const cJSON *object)
{
	struct build *build = arg;
	const char *output = json_get_text_or_empty(object, "stream");

	keep_step(build, output);
	build_keep_last(build, output);
	keep_base(build, object);
	if (*output) {
		build->now.output = output;
		build_tell(build);
		build->now.output = NULL;
	}
	pull_progress_build(build->sums, object);
	pull_progress_sum(build->sums, &build->now.progress);
	build_tell(build);
}

static void engine_build(struct build *build)
{
	const struct build_plan *plan = &build->plan;
	const struct engine_build_limits limits = build_rights_limits(
		registries_policy(build->services->registries));
	struct error err;

	build_tell(build);
	build->context = build_context_new(plan->folder, &err);
	if (build->context && plan->installs)
		build->copy = install_open(build->services->state, &err);
	if (build->context && (build->copy >= 0 || !plan->installs))
		build->call =
			engine_image_build(build->services->engine,
					   plan->installs ? build->base_name
							  : plan->target,
					   CONTEXT_LABEL, plan->hash,
					   build->auth, &limits,
					   image_silence_ms(build->services),
					   context_read, build, build_object,
					   build_call_done, build, &err);
	if (!build->call)
		build_fail(build, &err);
}

/* The logins come first. */

static void build_access_found(void *arg, const struct error *err,
			       const struct registry_access_way *way)
{
	struct build *build = arg;

	build->access = NULL;
	if (!way) {
		build_fail(build, err);
		return;
	}
	build->gone_login = way->gone;
	build->auth = way->header ? strdup(way->header) : NULL;
	engine_build(build);
}

/* Creation and release. */

struct build *build_begin(const struct image_services *services,
			  const struct build_plan *plan, image_news_fn *news,
			  build_done_fn *done, void *arg, struct error *err)
{
	owned(build_cancel) struct build *build = calloc(1, sizeof(*build));

	if (!build)
		return error_null(error_nomem(err, "build"));
	build->copy = -1;
	build->sums = pull_progress_new(err);
	if (!build->sums)
		return NULL;
	build->services = services;
	build->plan = *plan;
	build->news = news;
	build->done = done;
	build->arg = arg;
	build->now.progress.tries = 1;
	build->now.progress.phase = (char *)"building";
	build->now.progress.total_bytes = plan->bytes;
	snprintf(build->base_name, sizeof(build->base_name),
		 INSTALL_BASE ":%08" PRIx32, randombytes_random());
	build->access = registry_access_begin(services->loop, services->engine,
					      services->registries, NULL,
					      plan->logins, plan->logins_count,
					      build_access_found, build, err);
	return build->access ? take(build) : NULL;
}

void build_cancel(struct build *build)
{
	if (!build)
		return;
	registry_access_cancel(build->access);
	engine_call_cancel(build->call);
	install_cancel(build->installing);
	build_context_free(build->context);
	if (build->copy >= 0)
		close(build->copy);
	pull_progress_free(build->sums);
	secret_free(build->auth);
	free(build);
}
