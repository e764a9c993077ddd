/* image_ensure.c - brings images to the node, by a pull, or by a build from a
 * folder.
 */
#include "agent/images/images_internal.h"

#include "agent/images/build.h"
#include "agent/images/build_context.h"
#include "agent/images/pull.h"
#include "protocol/base/clock.h"
#include "protocol/base/digest.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "protocol/base/printable.h"
#include "protocol/blob/tarball.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#define INSPECT_MS 30000
#define PROGRESS_MS 200
#define TARGET_MAX 640
#define TAG_DIGITS 12
#define BUILD_MAX 255
#define FOLDER_MAX 1024
#define ASKED_MAX 1000 /* digests that a registry was asked for */

struct image_wait {
	TAILQ_ENTRY(image_wait) entry;
	struct ensure *ensure;
	image_news_fn *news;
	image_done_fn *done;
	void *arg;
};
TAILQ_HEAD(image_waits, image_wait);

/* The work for one image, and its waits. */
struct ensure {
	TAILQ_ENTRY(ensure) entry;
	struct images *images;
	char *reference;         /* the requested one */
	char *build;             /* or NULL */
	char folder[PATH_MAX];   /* path of the build folder */
	char target[TARGET_MAX]; /* name for the engine */
	struct image_waits waits;
	struct engine_call *call;
	struct pull *pull;
	struct build_context *hashing;
	struct build *building;
	struct registry_login *logins; /* of the first caller */
	size_t logins_count;
	unsigned char who[REGISTRY_ACCESS_WHO_BYTES]; /* of the logins */
	char context_hash[DIGEST_HEX_SIZE];
	uint64_t context_bytes;
	struct image_news now;
	int64_t told_ms;
	char *noted; /* name given to image_usage_coming(), or NULL */
	char digest[IMAGE_CONTENT_SIZE]; /* that a registry is asked for */
	bool told;                       /* it told */
	bool local;                      /* no registry is asked */
	bool look;                       /* nothing is pulled or built */
	bool fetched;   /* pulled or built: a missing image is an error now */
	bool finishing; /* no longer in images */
};

static void image_ensure_inspect(struct ensure *ensure);

static void note_end(const struct ensure *ensure, const struct image *image)
{
	struct image_usage *usage = ensure->images->services.usage;

	if (image)
		image_usage_used(usage,
				 ensure->noted ? ensure->noted : ensure->target,
				 image->id);
	else if (ensure->noted)
		image_usage_failed(usage, ensure->noted);
}

/* An operation and its waits. */

static void drop_waits(struct ensure *ensure)
{
	struct image_wait *wait;

	while ((wait = TAILQ_FIRST(&ensure->waits))) {
		TAILQ_REMOVE(&ensure->waits, wait, entry);
		free(wait);
	}
}

void image_ensure_free(struct ensure *ensure)
{
	if (!ensure)
		return;
	if (ensure->images && !ensure->finishing)
		TAILQ_REMOVE(&ensure->images->ensures, ensure, entry);
	drop_waits(ensure);
	engine_call_cancel(ensure->call);
	pull_cancel(ensure->pull);
	build_context_free(ensure->hashing);
	build_cancel(ensure->building);
	logins_free(ensure->logins, ensure->logins_count);
	free(ensure->reference);
	free(ensure->build);
	free(ensure->noted);
	free(ensure);
}
OWNED_POINTER(struct ensure, image_ensure_free)

/* The end. Callbacks may release other waits, or ask anew. */
static void image_ensure_finish(struct ensure *ensure, const struct error *err,
				const struct image *image)
{
	struct image_wait *wait;

	note_end(ensure, image);
	TAILQ_REMOVE(&ensure->images->ensures, ensure, entry);
	ensure->finishing = true;
	while ((wait = TAILQ_FIRST(&ensure->waits))) {
		image_done_fn *done = wait->done;
		void *arg = wait->arg;

		TAILQ_REMOVE(&ensure->waits, wait, entry);
		free(wait);
		done(arg, err, image);
	}
	image_ensure_free(ensure);
}

/* At most every PROGRESS_MS, unless it is urgent: a new phase, a new try, the
 * end.
 */
static void image_ensure_tell(struct ensure *ensure, bool urgent)
{
	struct image_wait *wait;

	if (!urgent && clock_mono_ms() - ensure->told_ms < PROGRESS_MS)
		return;
	ensure->told_ms = clock_mono_ms();
	TAILQ_FOREACH(wait, &ensure->waits, entry)
		if (wait->news)
			wait->news(wait->arg, &ensure->now);
}

/* The record of images. */

static int note_coming(struct ensure *ensure, const char *origin,
		       struct error *err)
{
	struct image_usage *usage = ensure->images->services.usage;

	ensure->noted = strdup(ensure->target);
	return ensure->noted
		       ? image_usage_coming(usage, ensure->noted, origin, err)
		       : error_nomem(err, "image");
}

/* Pull. */

static void pull_news(void *arg, const struct image_news *news)
{
	struct ensure *ensure = arg;
	const struct image_progress *now = &ensure->now.progress;
	bool urgent = strcmp(news->progress.phase, now->phase) != 0 ||
		      news->progress.tries != now->tries ||
		      !news->digest != !ensure->now.digest;

	ensure->now = *news;
	image_ensure_tell(ensure, urgent);
}

static void image_ensure_pulled(void *arg, const struct error *err,
				const char *target)
{
	struct ensure *ensure = arg;

	ensure->pull = NULL;
	if (err) {
		image_ensure_finish(ensure, err, NULL);
		return;
	}
	snprintf(ensure->target, sizeof(ensure->target), "%s", target);
	ensure->now.progress.moving_count = 0;
	if (ensure->now.digest)
		ensure->now.digest = ensure->target;
	ensure->fetched = true;
	image_ensure_tell(ensure, true);
	image_ensure_inspect(ensure);
}

static void pull(struct ensure *ensure)
{
	struct error err;

	if (note_coming(ensure, IMAGE_PULLED, &err) == 0)
		ensure->pull = pull_begin(&ensure->images->services,
					  ensure->target, ensure->logins,
					  ensure->logins_count, pull_news,
					  image_ensure_pulled, ensure, &err);
	if (ensure->pull)
		return;
	error_prefix(&err, "image %.100s", ensure->target);
	image_ensure_finish(ensure, &err, NULL);
}

/* Build. */

/* Is it built in a folder outside of the images folder? */
static bool installs(const struct ensure *ensure)
{
	return ensure->build && *ensure->build == '/';
}

static int find_folder(struct ensure *ensure, struct error *err)
{
	return installs(ensure)
		       ? file_path(ensure->folder, err, "%s", ensure->build)
		       : file_path(ensure->folder, err, "%s/%s",
				   ensure->images->services.folder,
				   ensure->build);
}

static void build_news(void *arg, const struct image_news *news)
{
	struct ensure *ensure = arg;

	ensure->now = *news;
	image_ensure_tell(ensure, news->output != NULL);
	ensure->now.output = NULL;
}

static void image_ensure_build_done(void *arg, const struct error *err)
{
	struct ensure *ensure = arg;

	ensure->building = NULL;
	if (err) {
		image_ensure_finish(ensure, err, NULL);
		return;
	}
	ensure->fetched = true;
	image_ensure_tell(ensure, true);
	image_ensure_inspect(ensure);
}

static void image_ensure_build(struct ensure *ensure)
{
	const struct build_plan plan = {
		.folder = ensure->folder,
		.name = ensure->build,
		.target = ensure->target,
		.hash = ensure->context_hash,
		.bytes = ensure->context_bytes,
		.installs = installs(ensure),
		.logins = ensure->logins,
		.logins_count = ensure->logins_count,
	};
	struct error err;

	if (note_coming(ensure, IMAGE_BUILT, &err) == 0)
		ensure->building =
			build_begin(&ensure->images->services, &plan,
				    build_news, image_ensure_build_done, ensure,
				    &err);
	if (ensure->building)
		return;
	error_prefix(&err, "build of %.100s", ensure->target);
	image_ensure_finish(ensure, &err, NULL);
}

/* Name the image by the hash of its context, unless it has a tag. */
static void name_target(struct ensure *ensure)
{
	struct reference parts;

	if (reference_parse(ensure->reference, &parts, NULL) == 0 &&
	    !parts.tag[0])
		snprintf(ensure->target, sizeof(ensure->target), "%s:%.*s",
			 parts.name, TAG_DIGITS, ensure->context_hash);
}

static void hashed(void *arg, const struct error *err, const char *hash,
		   uint64_t bytes)
{
	struct ensure *ensure = arg;

	if (err) {
		struct error failure = *err;
		char folder[81];

		copy_end(folder, sizeof(folder), ensure->build);
		error_prefix(&failure, "image %.80s: folder %s",
			     ensure->reference, folder);
		image_ensure_finish(ensure, &failure, NULL);
		return;
	}
	snprintf(ensure->context_hash, sizeof(ensure->context_hash), "%s",
		 hash);
	ensure->context_bytes = bytes;
	build_context_free(take(ensure->hashing));
	if (installs(ensure)) {
		image_ensure_build(ensure);
		return;
	}
	name_target(ensure);
	image_ensure_inspect(ensure);
}

static int begin_hash(struct ensure *ensure, struct error *err)
{
	ensure->hashing = build_context_new(ensure->folder, err);
	if (ensure->hashing &&
	    build_context_hash(ensure->hashing, ensure->images->services.loop,
			       hashed, ensure, err) == 0)
		return 0;
	return error_prefix(err, "image %.80s", ensure->reference);
}

/* The image is missing: hash its folder, if that has a Dockerfile. */
static void image_ensure_hash_folder(struct ensure *ensure)
{
	char path[PATH_MAX], end[101];
	struct error err;
	int rc = file_path(path, &err, "%s/Dockerfile", ensure->folder);

	if (rc == 0 && access(path, F_OK) < 0) {
		copy_end(end, sizeof(end), path);
		rc = error_set(&err, EINVAL,
			       "image %.80s is not on this node, and there is "
			       "no %s to build it from",
			       ensure->target, end);
	} else if (rc == 0) {
		rc = begin_hash(ensure, &err);
	}
	if (rc < 0)
		image_ensure_finish(ensure, &err, NULL);
}

/* Inspect. */

/* sha256:... of its name in a registry */
static const char *image_digest(const struct image *image)
{
	const char *at = strchr(image->digest, '@');

	return at ? at + 1 : image->digest;
}

static bool is_id(const char *target)
{
	struct reference parts;

	return reference_parse(target, &parts, NULL) == 0 && !parts.name[0];
}

/* Is the digest of a registry, and not one that the engine gave the image?
 * Docker does so in containerd's store, where it is the id, Podman always.
 */
static bool is_proven(const struct ensure *ensure, const struct image *image)
{
	const struct image_services *services = &ensure->images->services;
	const char *digest = image_digest(image);

	return (strcmp(digest, image->id) != 0 &&
		!engine_podman(services->engine)) ||
	       (ensure->fetched && !ensure->build) ||
	       reference_digest_is(ensure->reference, digest) ||
	       strings_has(&ensure->images->confirmed, digest) ||
	       !strcmp(image_usage_origin(services->usage, image->id),
		       IMAGE_PULLED);
}

static void registry_told(void *arg, const struct error *err,
			  const char *target)
{
	struct ensure *ensure = arg;
	struct images *images = ensure->images;

	ensure->pull = NULL;
	ensure->told = true;
	if (images->asked.count == ASKED_MAX) {
		strings_clear(&images->asked);
		strings_clear(&images->confirmed);
	}
	strings_add(&images->asked, ensure->digest, NULL);
	if (!err && reference_digest_is(target, ensure->digest))
		strings_add(&images->confirmed, ensure->digest, NULL);
	image_ensure_inspect(ensure);
}

/* So Podman calls images that it built, imported or loaded without a registry.
 * Asking the one at localhost would take its three tries, of a second each.
 */
static bool is_podman_local(const struct engine *engine, const char *name)
{
	return engine_podman(engine) &&
	       !strncmp(name, "localhost/", strlen("localhost/"));
}

/* Ask whether it is the registry's, too. False: that cannot help. */
static bool ask_registry(struct ensure *ensure, const struct image *image)
{
	struct images *images = ensure->images;

	if (ensure->told || ensure->local || ensure->build ||
	    is_id(ensure->target) ||
	    is_podman_local(images->services.engine, image->digest) ||
	    *image_usage_origin(images->services.usage, image->id) ||
	    strings_has(&images->asked, image_digest(image)))
		return false;
	snprintf(ensure->digest, sizeof(ensure->digest), "%s",
		 image_digest(image));
	ensure->pull =
		pull_ask(&images->services, image->digest, ensure->logins,
			 ensure->logins_count, registry_told, ensure, NULL);
	return ensure->pull;
}

static void image_ensure_found(struct ensure *ensure, const cJSON *answer)
{
	const char *name = ensure->build ? ensure->target : ensure->reference;
	struct image image;
	struct error err;

	if (image_inspect_read(answer, ensure->target, &image, &err) < 0) {
		image_ensure_finish(ensure, &err, NULL);
		return;
	}
	image.reference = name;
	if (image.digest && !is_proven(ensure, &image)) {
		if (ask_registry(ensure, &image))
			return;
		image.digest = NULL;
	}
	image_ensure_finish(ensure, NULL, &image);
}

/* Was the image built from an earlier state of its folder? */
static bool stale(const struct ensure *ensure, const cJSON *answer)
{
	const char *hash = image_inspect_label(answer, CONTEXT_LABEL);

	return ensure->build && !installs(ensure) && *hash &&
	       strcmp(hash, ensure->context_hash);
}

static void image_ensure_inspected(void *arg, const struct error *err,
				   cJSON *answer)
{
	struct ensure *ensure = arg;
	struct error failure;

	ensure->call = NULL;
	if (!err && (ensure->fetched || !stale(ensure, answer))) {
		image_ensure_found(ensure, answer);
		return;
	}
	if (!err ||
	    (err->code == ENOENT && !ensure->fetched && !ensure->local &&
	     !ensure->look && !is_id(ensure->target))) {
		if (installs(ensure))
			image_ensure_hash_folder(ensure);
		else if (ensure->build)
			image_ensure_build(ensure);
		else
			pull(ensure);
		return;
	}
	failure = *err;
	if (failure.code == ENOENT && ensure->fetched)
		failure.code = EIO;
	error_prefix(&failure, "image %.100s", ensure->target);
	image_ensure_finish(ensure, &failure, NULL);
}

static int begin_inspect(struct ensure *ensure, struct error *err)
{
	ensure->call =
		engine_image_inspect(ensure->images->services.engine,
				     ensure->target, INSPECT_MS,
				     image_ensure_inspected, ensure, err);
	return ensure->call ? 0 : -1;
}

static void image_ensure_inspect(struct ensure *ensure)
{
	struct error err;

	if (begin_inspect(ensure, &err) == 0)
		return;
	error_prefix(&err, "image %.100s", ensure->target);
	image_ensure_finish(ensure, &err, NULL);
}

/* Waits. */

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

/* has_folder: there is an images folder to build from. */
static int image_check_wanted(const struct image_wanted *wanted,
			      bool has_folder, struct error *err)
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

/* For a pull only the login of the image's registry counts. */
static void find_who(const struct images *images,
		     const struct image_wanted *wanted, unsigned char *who)
{
	char host[REFERENCE_HOST_MAX + 1], path[REFERENCE_PATH_MAX + 1];
	struct reference parts;

	memset(who, 0, REGISTRY_ACCESS_WHO_BYTES);
	if (reference_parse(wanted->reference, &parts, NULL) < 0)
		return;
	reference_place(&parts, host, path);
	registry_access_who(images->services.registries,
			    wanted->build ? NULL : host, wanted->logins,
			    wanted->logins_count, images->key, who);
}

static struct ensure *image_ensure_find(struct images *images,
					const struct image_wanted *wanted,
					const unsigned char *who)
{
	const char *build_folder = wanted->build;
	struct ensure *ensure;

	TAILQ_FOREACH(ensure, &images->ensures, entry) {
		if (strcmp(ensure->reference, wanted->reference) != 0 ||
		    ensure->local != wanted->local ||
		    ensure->look != wanted->look ||
		    memcmp(ensure->who, who, REGISTRY_ACCESS_WHO_BYTES) != 0)
			continue;
		if (!ensure->build == !build_folder &&
		    (!build_folder || !strcmp(ensure->build, build_folder)))
			return ensure;
	}
	return NULL;
}

static struct ensure *image_ensure_new(struct images *images,
				       const struct image_wanted *wanted,
				       const unsigned char *who,
				       struct error *err)
{
	owned(image_ensure_free) struct ensure *ensure =
		error_calloc(sizeof(*ensure), "image", err);
	int rc;

	if (!ensure)
		return NULL;
	TAILQ_INIT(&ensure->waits);
	ensure->images = images;
	ensure->local = wanted->local;
	ensure->look = wanted->look;
	TAILQ_INSERT_TAIL(&images->ensures, ensure, entry);
	ensure->now.progress.phase = (char *)"checking";
	ensure->now.progress.tries = 1;
	memcpy(ensure->who, who, REGISTRY_ACCESS_WHO_BYTES);
	ensure->reference = strdup(wanted->reference);
	if (wanted->build)
		ensure->build = strdup(wanted->build);
	if (!ensure->reference || (wanted->build && !ensure->build))
		return error_null(error_nomem(err, "image"));
	snprintf(ensure->target, sizeof(ensure->target), "%s",
		 wanted->reference);
	if (logins_copy(&ensure->logins, &ensure->logins_count, wanted->logins,
			wanted->logins_count, err) < 0)
		return NULL;
	if (ensure->build && find_folder(ensure, err) < 0)
		return NULL;
	rc = ensure->build && !installs(ensure) ? begin_hash(ensure, err)
						: begin_inspect(ensure, err);
	return rc < 0 ? NULL : take(ensure);
}

struct image_wait *image_ensure(struct images *images,
				const struct image_wanted *wanted,
				image_news_fn *news, image_done_fn *done,
				void *arg, struct error *err)
{
	owned_free struct image_wait *wait =
		error_calloc(sizeof(*wait), "image", err);
	unsigned char who[REGISTRY_ACCESS_WHO_BYTES];
	struct ensure *ensure;

	if (!wait)
		return NULL;
	if (image_check_wanted(wanted, images->services.folder != NULL, err) <
	    0)
		return NULL;
	find_who(images, wanted, who);
	ensure = image_ensure_find(images, wanted, who);
	if (!ensure)
		ensure = image_ensure_new(images, wanted, who, err);
	if (!ensure)
		return NULL;
	wait->ensure = ensure;
	wait->news = news;
	wait->done = done;
	wait->arg = arg;
	TAILQ_INSERT_TAIL(&ensure->waits, wait, entry);
	return take(wait);
}

void image_release(struct image_wait *wait)
{
	struct ensure *ensure;

	if (!wait)
		return;
	ensure = wait->ensure;
	TAILQ_REMOVE(&ensure->waits, wait, entry);
	free(wait);
	/* image_ensure_finish() frees an operation that is finishing. */
	if (TAILQ_EMPTY(&ensure->waits) && !ensure->finishing)
		image_ensure_free(ensure);
}
