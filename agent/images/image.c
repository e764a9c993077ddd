/* image.c - brings images to the node: by a pull, or a build from a folder.
 */
#include "agent/images/image.h"

#include "agent/docker/image_inspect.h"
#include "agent/images/registry_access.h"
#include "agent/images/build.h"
#include "agent/images/build_context.h"
#include "agent/images/image_usage.h"
#include "agent/images/pull.h"
#include "protocol/base/clock.h"
#include "protocol/base/digest.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "protocol/base/printable.h"
#include "protocol/blob/tarball.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#define STALL_MS 120000
#define RETRY_MS 1000
#define INSPECT_MS 30000
#define PROGRESS_MS 200
#define TARGET_MAX 640
#define TAG_DIGITS 12
#define BUILD_MAX 255
#define FOLDER_MAX 1024

struct image_wait {
	TAILQ_ENTRY(image_wait) entry;
	struct flight *flight;
	image_news_fn *news;
	image_done_fn *done;
	void *arg;
};
TAILQ_HEAD(image_waits, image_wait);

/* The work for one image, and its waits. */
struct flight {
	TAILQ_ENTRY(flight) entry;
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
	char *noted;    /* name given to image_usage_coming(), or NULL */
	bool fetched;   /* pulled or built: a missing image is an error now */
	bool finishing; /* no longer in images */
};
TAILQ_HEAD(flights, flight);

struct images {
	struct image_services services;
	unsigned char key[REGISTRY_ACCESS_KEY_BYTES]; /* makes `who` */
	struct flights flights;
};

static void image_flight_inspect(struct flight *flight);

static void note_end(const struct flight *flight, const struct image *image)
{
	struct image_usage *usage = flight->images->services.usage;

	if (!usage)
		return;
	if (image)
		image_usage_used(usage,
				 flight->noted ? flight->noted : flight->target,
				 image->id);
	else if (flight->noted)
		image_usage_failed(usage, flight->noted);
}

/* A flight and its waits. */

static void drop_waits(struct flight *flight)
{
	struct image_wait *wait;

	while ((wait = TAILQ_FIRST(&flight->waits))) {
		TAILQ_REMOVE(&flight->waits, wait, entry);
		free(wait);
	}
}

static void image_flight_free(struct flight *flight)
{
	if (!flight)
		return;
	if (flight->images && !flight->finishing)
		TAILQ_REMOVE(&flight->images->flights, flight, entry);
	drop_waits(flight);
	engine_call_cancel(flight->call);
	pull_cancel(flight->pull);
	build_context_free(flight->hashing);
	build_cancel(flight->building);
	logins_free(flight->logins, flight->logins_count);
	free(flight->reference);
	free(flight->build);
	free(flight->noted);
	free(flight);
}
OWNED_POINTER(struct flight, image_flight_free)

/* The end. Callbacks may release other waits, or ask anew. */
static void image_flight_finish(struct flight *flight, const struct error *err,
				const struct image *image)
{
	struct image_wait *wait;

	note_end(flight, image);
	TAILQ_REMOVE(&flight->images->flights, flight, entry);
	flight->finishing = true;
	while ((wait = TAILQ_FIRST(&flight->waits))) {
		image_done_fn *done = wait->done;
		void *arg = wait->arg;

		TAILQ_REMOVE(&flight->waits, wait, entry);
		free(wait);
		done(arg, err, image);
	}
	image_flight_free(flight);
}

/* At most every PROGRESS_MS, unless it is urgent: a new phase, a new try, the
 * end.
 */
static void image_flight_tell(struct flight *flight, bool urgent)
{
	struct image_wait *wait;

	if (!urgent && clock_mono_ms() - flight->told_ms < PROGRESS_MS)
		return;
	flight->told_ms = clock_mono_ms();
	TAILQ_FOREACH(wait, &flight->waits, entry)
	{
		if (wait->news)
			wait->news(wait->arg, &flight->now);
	}
}

/* The record of images. */

static int note_coming(struct flight *flight, enum image_origin origin,
		       struct error *err)
{
	struct image_usage *usage = flight->images->services.usage;

	if (!usage)
		return 0;
	flight->noted = strdup(flight->target);
	return flight->noted
		       ? image_usage_coming(usage, flight->noted, origin, err)
		       : error_nomem(err, "image");
}

/* Pull. */

static void pull_news(void *arg, const struct image_news *news)
{
	struct flight *flight = arg;
	const struct image_progress *now = &flight->now.progress;
	bool urgent = strcmp(news->progress.phase, now->phase) != 0 ||
		      news->progress.tries != now->tries ||
		      !news->digest != !flight->now.digest;

	flight->now = *news;
	image_flight_tell(flight, urgent);
}

static void image_flight_pulled(void *arg, const struct error *err,
				const char *target)
{
	struct flight *flight = arg;

	flight->pull = NULL;
	if (err) {
		image_flight_finish(flight, err, NULL);
		return;
	}
	snprintf(flight->target, sizeof(flight->target), "%s", target);
	flight->now.progress.moving_count = 0;
	if (flight->now.digest)
		flight->now.digest = flight->target;
	flight->fetched = true;
	image_flight_tell(flight, true);
	image_flight_inspect(flight);
}

static void pull(struct flight *flight)
{
	struct error err;

	if (note_coming(flight, IMAGE_PULLED, &err) == 0)
		flight->pull = pull_begin(&flight->images->services,
					  flight->target, flight->logins,
					  flight->logins_count, pull_news,
					  image_flight_pulled, flight, &err);
	if (flight->pull)
		return;
	error_prefix(&err, "image %.100s", flight->target);
	image_flight_finish(flight, &err, NULL);
}

/* Build. */

/* Is it built in a folder outside of the images folder? */
static bool installs(const struct flight *flight)
{
	return flight->build && *flight->build == '/';
}

static int find_folder(struct flight *flight, struct error *err)
{
	return installs(flight)
		       ? file_path(flight->folder, err, "%s", flight->build)
		       : file_path(flight->folder, err, "%s/%s",
				   flight->images->services.folder,
				   flight->build);
}

static void build_news(void *arg, const struct image_news *news)
{
	struct flight *flight = arg;

	flight->now = *news;
	image_flight_tell(flight, news->output != NULL);
	flight->now.output = NULL;
}

static void image_flight_build_done(void *arg, const struct error *err)
{
	struct flight *flight = arg;

	flight->building = NULL;
	if (err) {
		image_flight_finish(flight, err, NULL);
		return;
	}
	flight->fetched = true;
	image_flight_tell(flight, true);
	image_flight_inspect(flight);
}

static void image_flight_build(struct flight *flight)
{
	const struct build_plan plan = {
		.folder = flight->folder,
		.name = flight->build,
		.target = flight->target,
		.hash = flight->context_hash,
		.bytes = flight->context_bytes,
		.installs = installs(flight),
		.logins = flight->logins,
		.logins_count = flight->logins_count,
	};
	struct error err;

	if (note_coming(flight, IMAGE_BUILT, &err) == 0)
		flight->building =
			build_begin(&flight->images->services, &plan,
				    build_news, image_flight_build_done, flight,
				    &err);
	if (flight->building)
		return;
	error_prefix(&err, "build of %.100s", flight->target);
	image_flight_finish(flight, &err, NULL);
}

/* Name the image by the hash of its context, unless it has a tag. */
static void name_target(struct flight *flight)
{
	struct reference parts;

	if (reference_parse(flight->reference, &parts, NULL) == 0 &&
	    !parts.tag[0])
		snprintf(flight->target, sizeof(flight->target), "%s:%.*s",
			 parts.name, TAG_DIGITS, flight->context_hash);
}

static void hashed(void *arg, const struct error *err, const char *hash,
		   uint64_t bytes)
{
	struct flight *flight = arg;

	if (err) {
		struct error failure = *err;
		char folder[81];

		copy_end(folder, sizeof(folder), flight->build);
		error_prefix(&failure, "image %.80s: folder %s",
			     flight->reference, folder);
		image_flight_finish(flight, &failure, NULL);
		return;
	}
	snprintf(flight->context_hash, sizeof(flight->context_hash), "%s",
		 hash);
	flight->context_bytes = bytes;
	build_context_free(take(flight->hashing));
	if (installs(flight)) {
		image_flight_build(flight);
		return;
	}
	name_target(flight);
	image_flight_inspect(flight);
}

static int begin_hash(struct flight *flight, struct error *err)
{
	flight->hashing = build_context_new(flight->folder, err);
	if (flight->hashing &&
	    build_context_hash(flight->hashing, flight->images->services.loop,
			       hashed, flight, err) == 0)
		return 0;
	return error_prefix(err, "image %.80s", flight->reference);
}

/* The image is missing: hash its folder, if that has a Dockerfile. */
static void image_flight_hash_folder(struct flight *flight)
{
	char path[PATH_MAX], end[101];
	struct error err;
	int rc = file_path(path, &err, "%s/Dockerfile", flight->folder);

	if (rc == 0 && access(path, F_OK) < 0) {
		copy_end(end, sizeof(end), path);
		rc = error_set(&err, EINVAL,
			       "image %.80s is not on this node, and there is "
			       "no %s to build it from",
			       flight->target, end);
	} else if (rc == 0) {
		rc = begin_hash(flight, &err);
	}
	if (rc < 0)
		image_flight_finish(flight, &err, NULL);
}

/* Inspect. */

/* Is the digest of a registry, and not one that the engine gave the image? */
static bool is_pulled(const struct flight *flight, const struct image *image)
{
	const struct image_usage *usage = flight->images->services.usage;

	return !reference_digest_is(image->digest, image->id) ||
	       (flight->fetched && !flight->build) ||
	       (usage && image_usage_pulled(usage, image->id));
}

static void image_flight_found(struct flight *flight, const cJSON *answer)
{
	const char *name = flight->build ? flight->target : flight->reference;
	struct image image;
	struct error err;

	if (image_inspect_read(answer, flight->target, &image, &err) < 0) {
		image_flight_finish(flight, &err, NULL);
		return;
	}
	image.reference = name;
	if (image.digest && !is_pulled(flight, &image))
		image.digest = NULL;
	image_flight_finish(flight, NULL, &image);
}

/* Was the image built from an earlier state of its folder? */
static bool stale(const struct flight *flight, const cJSON *answer)
{
	const char *hash = image_inspect_label(answer, CONTEXT_LABEL);

	return flight->build && !installs(flight) && *hash &&
	       strcmp(hash, flight->context_hash);
}

static bool is_id(const char *target)
{
	struct reference parts;

	return reference_parse(target, &parts, NULL) == 0 && !parts.name[0];
}

static void image_flight_inspected(void *arg, const struct error *err,
				   cJSON *answer)
{
	struct flight *flight = arg;
	struct error failure;

	flight->call = NULL;
	if (!err && (flight->fetched || !stale(flight, answer))) {
		image_flight_found(flight, answer);
		return;
	}
	if (!err || (err->code == ENOENT && !flight->fetched &&
		     !is_id(flight->target))) {
		if (installs(flight))
			image_flight_hash_folder(flight);
		else if (flight->build)
			image_flight_build(flight);
		else
			pull(flight);
		return;
	}
	failure = *err;
	if (failure.code == ENOENT && flight->fetched)
		failure.code = EIO;
	error_prefix(&failure, "image %.100s", flight->target);
	image_flight_finish(flight, &failure, NULL);
}

static int begin_inspect(struct flight *flight, struct error *err)
{
	flight->call =
		engine_image_inspect(flight->images->services.engine,
				     flight->target, INSPECT_MS,
				     image_flight_inspected, flight, err);
	return flight->call ? 0 : -1;
}

static void image_flight_inspect(struct flight *flight)
{
	struct error err;

	if (begin_inspect(flight, &err) == 0)
		return;
	error_prefix(&err, "image %.100s", flight->target);
	image_flight_finish(flight, &err, NULL);
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

static struct flight *image_flight_find(struct images *images,
					const struct image_wanted *wanted,
					const unsigned char *who)
{
	const char *build_folder = wanted->build;
	struct flight *flight;

	TAILQ_FOREACH(flight, &images->flights, entry)
	{
		if (strcmp(flight->reference, wanted->reference) != 0 ||
		    memcmp(flight->who, who, REGISTRY_ACCESS_WHO_BYTES) != 0)
			continue;
		if (!flight->build == !build_folder &&
		    (!build_folder || !strcmp(flight->build, build_folder)))
			return flight;
	}
	return NULL;
}

static struct flight *image_flight_new(struct images *images,
				       const struct image_wanted *wanted,
				       const unsigned char *who,
				       struct error *err)
{
	owned(image_flight_free) struct flight *flight =
		error_calloc(sizeof(*flight), "image", err);
	int rc;

	if (!flight)
		return NULL;
	TAILQ_INIT(&flight->waits);
	flight->images = images;
	TAILQ_INSERT_TAIL(&images->flights, flight, entry);
	flight->now.progress.phase = (char *)"checking";
	flight->now.progress.tries = 1;
	memcpy(flight->who, who, REGISTRY_ACCESS_WHO_BYTES);
	flight->reference = strdup(wanted->reference);
	if (wanted->build)
		flight->build = strdup(wanted->build);
	if (!flight->reference || (wanted->build && !flight->build))
		return error_null(error_nomem(err, "image"));
	snprintf(flight->target, sizeof(flight->target), "%s",
		 wanted->reference);
	if (logins_copy(&flight->logins, &flight->logins_count, wanted->logins,
			wanted->logins_count, err) < 0)
		return NULL;
	if (flight->build && find_folder(flight, err) < 0)
		return NULL;
	rc = flight->build && !installs(flight) ? begin_hash(flight, err)
						: begin_inspect(flight, err);
	return rc < 0 ? NULL : take(flight);
}

struct image_wait *image_ensure(struct images *images,
				const struct image_wanted *wanted,
				image_news_fn *news, image_done_fn *done,
				void *arg, struct error *err)
{
	owned_free struct image_wait *wait =
		error_calloc(sizeof(*wait), "image", err);
	unsigned char who[REGISTRY_ACCESS_WHO_BYTES];
	struct flight *flight;

	if (!wait)
		return NULL;
	if (image_check_wanted(wanted, images->services.folder != NULL, err) <
	    0)
		return NULL;
	find_who(images, wanted, who);
	flight = image_flight_find(images, wanted, who);
	if (!flight)
		flight = image_flight_new(images, wanted, who, err);
	if (!flight)
		return NULL;
	wait->flight = flight;
	wait->news = news;
	wait->done = done;
	wait->arg = arg;
	TAILQ_INSERT_TAIL(&flight->waits, wait, entry);
	return take(wait);
}

void image_release(struct image_wait *wait)
{
	struct flight *flight;

	if (!wait)
		return;
	flight = wait->flight;
	TAILQ_REMOVE(&flight->waits, wait, entry);
	free(wait);
	/* image_flight_finish() frees a flight that is finishing. */
	if (TAILQ_EMPTY(&flight->waits) && !flight->finishing)
		image_flight_free(flight);
}

/* Creation and release. */

struct images *images_new(const struct image_services *services,
			  struct error *err)
{
	struct images *images = error_calloc(sizeof(*images), "images", err);

	if (!images)
		return NULL;
	TAILQ_INIT(&images->flights);
	randombytes_buf(images->key, sizeof(images->key));
	images->services = *services;
	if (!services->stall_ms)
		images->services.stall_ms = STALL_MS;
	if (!services->retry_ms)
		images->services.retry_ms = RETRY_MS;
	return images;
}

void images_free(struct images *images)
{
	struct flight *flight;

	if (!images)
		return;
	while ((flight = TAILQ_FIRST(&images->flights)))
		image_flight_free(flight);
	free(images);
}
