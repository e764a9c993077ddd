/* build.c - builds one image from a local folder by the engine.
 */
#include "agent/images/build.h"

#include "agent/images/build_context.h"
#include "agent/docker/pull_progress.h"
#include "agent/images/image_usage.h"
#include "agent/docker/registry_access.h"
#include "agent/images/id_error.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/printable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STALL_FACTOR 10 /* a build may be silent that much longer */
#define LAST_MAX 120
#define BASE_MAX 200

struct build {
	const struct pull_services *services;
	char *folder;
	char *name;
	char *target;
	char *hash;
	struct strings labels;
	struct registry_login *logins;
	size_t logins_count;
	bool gone_login; /* one of the job's own is no longer there */
	struct registry_access *access;
	char *auth; /* the header, or NULL */
	struct build_context *context;
	struct engine_call *call;
	sd_event_source *soon;
	struct pull_progress *sums;
	char last[LAST_MAX];     /* line that it printed */
	char base[BASE_MAX];     /* image that it asks for now, or "" */
	char argument[BASE_MAX]; /* NAME=VALUE, the last before it */
	struct image_progress now;
	bool *gone; /* set when it is freed under a callback */
	pull_progress_fn *progress;
	build_done_fn *done;
	void *arg;
};

/* The last thing: it is gone afterwards. */
static void finish(struct build *build, const struct error *err)
{
	build->done(build->arg, err);
	build_cancel(build);
}

static void failed(struct build *build, const struct error *why)
{
	struct error err = *why;
	char name[101];

	copy_end(name, sizeof(name), build->name);
	id_error_explain(&err);
	error_prefix(&err, "build of %s", name);
	finish(build, &err);
}

/* false: a callback has ended the build. */
static bool tell(struct build *build)
{
	bool gone = false;

	/* Reset below, unless the build is gone. */
	/* cppcheck-suppress autoVariables */
	build->gone = &gone;
	build->progress(build->arg, &build->now);
	if (gone)
		return false;
	build->gone = NULL;
	return true;
}

/* The engine's part. */

/* The upload. It must be what was hashed, or the tag would lie: the last bytes
 * are not sent otherwise, and the engine builds nothing.
 */
static ssize_t context_read(void *arg, void *buffer, size_t size,
			    struct error *err)
{
	struct build *build = arg;
	struct tarball *tarball = build_context_tarball(build->context);
	ssize_t got = tarball_read(tarball, buffer, size, err);

	build->now.bytes = tarball_size(tarball);
	if (got == 0 && strcmp(tarball_hash(tarball), build->hash) != 0)
		return error_set(err, EIO,
				 "folder %s changed while being packed",
				 build->name);
	return got;
}

static void built(void *arg, const struct error *err, cJSON *answer)
{
	struct build *build = arg;
	struct error failure;

	build->call = NULL;
	if (!err) {
		finish(build, NULL);
		return;
	}
	failure = *err;
	if (failure.code == ENOENT)
		failure.code = EIO;
	if (strstr(failure.text, "no space left on device")) {
		failure.code = ENOSPC;
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
	failed(build, &failure);
}

static const char *text_of(const cJSON *object, const char *name)
{
	const char *text = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(object, name));

	return text ? text : "";
}

/* "Step 1/3 : FROM name", where the name may be an argument's. */
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

/* Not the engine's own lines, "Step 2/3 : RUN ..." and " ---> ...". */
static void keep_last(struct build *build, const char *text)
{
	size_t size = strcspn(text, "\r\n");

	if (!size || !strncmp(text, "Step ", 5) || strstr(text, "--->") ||
	    !strncmp(text, "Removing intermediate", 21))
		return;
	snprintf(build->last, sizeof(build->last), "%.*s", (int)size, text);
	uncolour(build->last);
	printable(build->last, strlen(build->last));
}

/* A base that came with it is ours, too. The engine says which; a command of
 * the build cannot, as what it prints is another member.
 */
static void keep_base(struct build *build, const cJSON *object)
{
	static const char words[] = "Status: Downloaded newer image for ";
	const char *status = text_of(object, "status");
	struct error err;

	if (!build->services->usage ||
	    strncmp(status, words, sizeof(words) - 1) != 0)
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

	keep_step(build, text_of(object, "stream"));
	keep_last(build, text_of(object, "stream"));
	keep_base(build, object);
	if (*text_of(object, "stream")) {
		build->now.output = text_of(object, "stream");
		if (!tell(build))
			return;
		build->now.output = NULL;
	}
	pull_progress_build(build->sums, object);
	pull_progress_sum(build->sums, &build->now);
	tell(build);
}

static void engine_build(struct build *build)
{
	uint32_t stall_ms = build->services->stall_ms;
	struct error err;

	stall_ms = stall_ms < UINT32_MAX / STALL_FACTOR
			   ? stall_ms * STALL_FACTOR
			   : UINT32_MAX;
	build->context = build_context_new(build->folder, &err);
	if (build->context)
		build->call =
			engine_image_build(build->services->engine,
					   build->target, &build->labels,
					   build->auth, stall_ms, context_read,
					   build, build_object, built, build,
					   &err);
	if (!build->call)
		failed(build, &err);
}

/* Before it: who we are to the registries of its bases. */

static void access_found(void *arg, const struct error *err,
			 const struct registry_access_way *way)
{
	struct build *build = arg;

	build->access = NULL;
	if (!way) {
		failed(build, err);
		return;
	}
	build->gone_login = way->gone;
	build->auth = way->header ? strdup(way->header) : NULL;
	engine_build(build);
}

static void find_access(struct build *build)
{
	const struct pull_services *services = build->services;
	struct error err;

	build->access =
		registry_access_begin(services->loop, services->engine,
				      services->registries, NULL, build->logins,
				      build->logins_count, access_found, build,
				      &err);
	if (!build->access)
		failed(build, &err);
}

static int start(sd_event_source *source, uint64_t usec, void *arg)
{
	struct build *build = arg;

	if (!tell(build))
		return 0;
	if (build->services->registries)
		find_access(build);
	else
		engine_build(build);
	return 0;
}

/* Life. */

static int copy_plan(struct build *build, const struct build_plan *plan,
		     struct error *err)
{
	build->folder = strdup(plan->folder);
	build->name = strdup(plan->name);
	build->target = strdup(plan->target);
	build->hash = strdup(plan->hash);
	if (!build->folder || !build->name || !build->target || !build->hash)
		return error_nomem(err, "build");
	build->sums = pull_progress_new(err);
	return build->sums && strings_copy(&build->labels, plan->labels, err) ==
				       0
		       ? logins_copy(&build->logins, &build->logins_count,
				     plan->logins, plan->logins_count, err)
		       : -1;
}

struct build *build_begin(const struct pull_services *services,
			  const struct build_plan *plan,
			  pull_progress_fn *progress, build_done_fn *done,
			  void *arg, struct error *err)
{
	owned(build_cancel) struct build *build = calloc(1, sizeof(*build));

	if (!build) {
		error_nomem(err, "build");
		return NULL;
	}
	if (copy_plan(build, plan, err) < 0)
		return NULL;
	build->services = services;
	build->progress = progress;
	build->done = done;
	build->arg = arg;
	build->now.attempt = 1;
	build->now.phase = IMAGE_BUILDING;
	build->now.bytes_total = plan->bytes;
	if (loop_timer(services->loop, &build->soon, 0, start, build, err) < 0)
		return NULL;
	return take(build);
}

void build_cancel(struct build *build)
{
	if (!build)
		return;
	if (build->gone)
		*build->gone = true;
	loop_source_free(&build->soon);
	registry_access_cancel(build->access);
	engine_call_cancel(build->call);
	build_context_free(build->context);
	pull_progress_free(build->sums);
	logins_free(build->logins, build->logins_count);
	secret_free(build->auth);
	strings_clear(&build->labels);
	free(build->folder);
	free(build->name);
	free(build->target);
	free(build->hash);
	free(build);
}
