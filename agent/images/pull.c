/* pull.c - pulls one image from its registry to the engine.
 */
#include "agent/images/pull.h"

#include "agent/docker/pull_progress.h"
#include "agent/images/image_disk.h"
#include "agent/images/prune.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/printable.h"
#include "protocol/message/json_get.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SILENCE_FACTOR 10
#define RETRY_FACTOR 4
#define TRIES 3
#define PATIENCE 15 /* times the pause, after "too many requests" */
#define CALL_MS 30000
#define ASK_MS 10000 /* for the digest, which is optional */
#define TARGET_MAX (REFERENCE_MAX + 80)
#define PLAIN "server gave HTTP response to HTTPS client"
#define MIB 1048576.0
#define GIB (1024 * MIB)

struct pull {
	const struct image_services *services;
	char *reference;
	struct reference parts;
	char target[TARGET_MAX]; /* name for the engine */
	char host[REFERENCE_HOST_MAX + 1];
	char *auth;          /* the header, or NULL */
	char *root;          /* of the engine's images; NULL: not known */
	uint64_t free_bytes; /* free there when the engine's pull began */
	struct registry_login *logins;
	size_t logins_count;
	struct registry_access *access;
	bool access_known;
	bool asks;       /* it pulls nothing */
	bool gone_login; /* the login of the job was deleted */
	bool room_asked; /* disk_watermark_room() was called */
	struct disk_watermark_wait *waits;
	struct error full; /* why */
	struct engine_call *call;
	sd_event_source *timer;   /* the pause between two tries */
	sd_event_source *stalled; /* ends a try without progress */
	struct pull_progress *sums;
	struct pull_rate speed;
	struct image_news now;
	image_news_fn *news;
	pull_done_fn *done;
	void *arg;
};

uint32_t image_silence_ms(const struct image_services *services)
{
	return services->stall_ms < UINT32_MAX / SILENCE_FACTOR
		       ? services->stall_ms * SILENCE_FACTOR
		       : UINT32_MAX;
}

static void engine_pull(struct pull *pull);
static int begin_access(struct pull *pull, struct error *err);

/* Ends and frees the pull. */
static void pull_finish(struct pull *pull, const struct error *err)
{
	pull->done(pull->arg, err, pull->target);
	pull_cancel(pull);
}

static void pull_tell(struct pull *pull)
{
	if (pull->news)
		pull->news(pull->arg, &pull->now);
}

/* Failures. */

/* Whether a retry can help follows from the engine's text, not from its code.
 */
static void classify(struct error *err)
{
	static const struct {
		const char *words;
		int code;
	} table[] = {
		{ "toomanyrequests", EBUSY },
		{ "manifest unknown", ENOENT },
		{ "not found", ENOENT },
		{ "does not exist", ENOENT },
		{ "denied", ENOENT },
		{ "unauthorized", ENOENT },
		{ "no basic auth credentials", ENOENT },
		{ "no matching manifest", ENOENT },
		{ "x509:", EACCES },
		{ PLAIN, EACCES },
	};

	if (err->code != EIO && err->code != ENOENT && err->code != EACCES)
		return;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!strcasestr(err->text, table[i].words))
			continue;
		err->code = table[i].code;
		return;
	}
}

static bool final(const struct error *err)
{
	switch (err->code) {
	case ENOENT:
	case EINVAL:
	case EACCES:
	case EPERM:
	case EKEYREJECTED:
	case ENOSPC:
	case ENOMEM:
	case ENOTSUP:
		return true;
	}
	return false;
}

static uint64_t pause_ms(const struct pull *pull, const struct error *err)
{
	uint64_t pause = pull->services->retry_ms;

	if (err->code == EBUSY)
		pause *= PATIENCE;
	for (uint32_t i = 1; i < pull->now.progress.tries; i++)
		pause *= RETRY_FACTOR;
	return pause;
}

/* Put the needed and the free space in front of the engine's text. */
static void say_room(const struct pull *pull, struct error *err)
{
	uint64_t needed = pull->now.progress.total_bytes;
	bool large = needed >= GIB;
	double unit = large ? GIB : MIB;
	const char *name = large ? "GiB" : "MiB";
	char need[100] = "", root[44];

	if (!pull->root) {
		error_prefix(err, "disk full");
		return;
	}
	if (needed)
		snprintf(need, sizeof(need),
			 "the pull needs %s%.1f %s and the same again to "
			 "unpack; ",
			 pull->now.progress.partial ? "more than " : "",
			 (double)needed / unit, name);
	copy_end(root, sizeof(root), pull->root);
	error_prefix(err, "disk full: %s%s had %.1f %s free", need, root,
		     (double)pull->free_bytes / unit, name);
}

static bool pull_make_room(struct pull *pull, const struct error *why);
static void pull_fail(struct pull *pull, const struct error *failure);

static int again(sd_event_source *source, uint64_t usec, void *arg)
{
	struct pull *pull = arg;
	struct error err;

	pull->now.progress.tries++;
	pull_progress_reset(pull->sums);
	if (pull->access_known)
		engine_pull(pull);
	else if (begin_access(pull, &err) < 0)
		pull_fail(pull, &err);
	return 0;
}

/* The deleted credentials of the job may be the reason. */
static void tell_gone(const struct pull *pull, struct error *err)
{
	struct error why = *err;

	if (pull->gone_login && err->code != ENOSPC && err->code != ENOMEM)
		error_set(err, why.code,
			  "the job's credentials were deleted; regatta retry "
			  "--registry-auth sends them again: %s",
			  why.text);
}

static void pull_fail(struct pull *pull, const struct error *failure)
{
	struct error err = *failure;
	uint64_t pause;

	if (pull->asks) {
		pull_finish(pull, failure);
		return;
	}
	classify(&err);
	if (strstr(err.text, PLAIN))
		error_prefix(&err,
			     "the registry has no TLS; it must be listed in "
			     "the "
			     "engine's insecure-registries, since Docker 29.10 "
			     "also one on this machine");
	if (err.code == ENOSPC && pull_make_room(pull, failure))
		return;
	if (err.code == ENOSPC)
		say_room(pull, &err);
	tell_gone(pull, &err);
	pause = pause_ms(pull, &err);
	if (!final(&err) && pull->now.progress.tries < TRIES &&
	    loop_timer(pull->services->loop, &pull->timer, pause, again, pull,
		       NULL) == 0) {
		log_info("image=%s is pulled again in %.1f s: %s",
			 pull->reference, (double)pause / 1000, err.text);
		return;
	}
	if (pull->now.progress.tries > 1)
		error_prefix(&err, "image %.100s: after %u tries",
			     pull->reference, pull->now.progress.tries);
	else
		error_prefix(&err, "image %.100s", pull->reference);
	pull_finish(pull, &err);
}

/* Disk space. */

static void room_made(void *arg, bool made)
{
	struct pull *pull = arg;

	pull->waits = NULL;
	if (made) {
		pull_progress_reset(pull->sums);
		engine_pull(pull);
	} else {
		pull_fail(pull, &pull->full);
	}
}

/* Ask for space, once. False: it cannot be made. */
static bool pull_make_room(struct pull *pull, const struct error *why)
{
	uint64_t needed = pull->now.progress.total_bytes;

	if (!pull->services->watermark || pull->room_asked)
		return false;
	pull->room_asked = true;
	pull->full = *why;
	pull->waits = disk_watermark_room(pull->services->watermark,
					  needed > UINT64_MAX / 2 ? UINT64_MAX
								  : needed * 2,
					  room_made, pull);
	return pull->waits;
}

/* The engine's part. */

static void tagged(void *arg, const struct error *err, cJSON *answer)
{
	struct pull *pull = arg;

	pull->call = NULL;
	if (err)
		log_warning("image=%s cannot be tagged: %s", pull->target,
			    err->text);
	pull_finish(pull, NULL);
}

/* An image that was pulled by digest has no tag yet. */
static void pull_call_done(void *arg, const struct error *failure,
			   cJSON *answer)
{
	struct pull *pull = arg;
	const char *tag = pull->parts.tag[0] ? pull->parts.tag : "latest";
	struct error err;

	pull->call = NULL;
	loop_timer_stop(pull->stalled);
	if (failure) {
		pull_fail(pull, failure);
		return;
	}
	if (pull->parts.digest[0] || !pull->now.digest) {
		pull_finish(pull, NULL);
		return;
	}
	pull->call = engine_image_tag(pull->services->engine, pull->target,
				      pull->parts.name, tag, CALL_MS, tagged,
				      pull, &err);
	if (!pull->call)
		tagged(pull, &err, NULL);
}

static bool pull_unpacks(const struct pull *pull)
{
	return !strcmp(pull->now.progress.phase, "extracting");
}

/* The engine may go on reporting while nothing moves. */
static int pull_stalled(sd_event_source *source, uint64_t usec, void *arg)
{
	struct pull *pull = arg;
	struct error err;

	engine_call_cancel(take(pull->call));
	error_set(&err, ETIMEDOUT, "engine: the pull makes no progress; %s",
		  pull_unpacks(pull) ? "no layer was unpacked for a long time"
				     : "no byte of the image arrived in time");
	pull_fail(pull, &err);
	return 0;
}

/* Something has moved. An engine that unpacks may tell only the time. */
static void pull_watch(struct pull *pull)
{
	loop_timer(pull->services->loop, &pull->stalled,
		   pull_unpacks(pull) ? image_silence_ms(pull->services)
				      : pull->services->stall_ms,
		   pull_stalled, pull, NULL);
}

static void pull_object(void *arg, const cJSON *object)
{
	struct pull *pull = arg;
	struct image_progress *now = &pull->now.progress;
	const char *before = now->phase;
	bool moved = pull_progress_pull(pull->sums, object);

	pull_progress_sum(pull->sums, now);
	if (moved)
		pull_watch(pull);
	if (strcmp(now->phase, before) != 0)
		pull->speed = (struct pull_rate){ 0 };
	now->rate = (double)rate_feed(&pull->speed, clock_mono_ms(),
				      now->done_bytes);
	pull_tell(pull);
}

static uint32_t pull_ask_ms(const struct pull *pull)
{
	return pull->services->stall_ms < ASK_MS ? pull->services->stall_ms
						 : ASK_MS;
}

static void engine_pull(struct pull *pull)
{
	uint64_t bytes;
	struct error err;

	pull->now.progress.phase = (char *)"pulling";
	pull->now.progress.moving_count = 0;
	if (pull->root)
		free_space_of(pull->root, &pull->free_bytes, &bytes, NULL);
	pull_tell(pull);
	pull->call = engine_image_pull(pull->services->engine, pull->target,
				       pull->auth,
				       pull->asks ? pull_ask_ms(pull)
						  : pull->services->stall_ms,
				       pull_object, pull_call_done, pull, &err);
	if (!pull->call)
		pull_fail(pull, &err);
}

/* The login and the digest come first. */

static void keep_digest(struct pull *pull, const char *digest)
{
	struct reference parts;
	char text[TARGET_MAX];

	snprintf(text, sizeof(text), "%s@%s", pull->parts.name, digest);
	if (reference_parse(text, &parts, NULL) < 0)
		return;
	snprintf(pull->target, sizeof(pull->target), "%s", text);
	pull->now.digest = pull->target;
}

/* The end of pull_ask(). */
static void pull_told(struct pull *pull, const struct error *err)
{
	struct error none;

	if (!err && !pull->now.digest) {
		error_set(&none, ENOTSUP, "the engine does not tell a digest");
		err = &none;
	}
	pull_finish(pull, err);
}

static void digest_told(void *arg, const struct error *err, cJSON *answer)
{
	struct pull *pull = arg;
	const cJSON *descriptor = json_get(answer, "Descriptor");
	const char *digest = json_get_text(descriptor, "digest");

	pull->call = NULL;
	if (digest)
		keep_digest(pull, digest);
	else if (!pull->asks)
		log_debug("image=%s is pulled by its name: %s", pull->reference,
			  err ? err->text
			      : "the engine does not report a digest");
	if (pull->asks)
		pull_told(pull, err);
	else
		engine_pull(pull);
}

/* A failure is not reported here, because the pull meets it as well. Podman
 * tells no digest, but a pull by that of an image which is there fetches only
 * the manifest.
 */
static void ask_digest(struct pull *pull)
{
	bool asks = pull->asks && !engine_podman(pull->services->engine);

	if (asks || !pull->parts.digest[0])
		pull->call = engine_distribution(pull->services->engine,
						 pull->reference, pull->auth,
						 pull_ask_ms(pull), digest_told,
						 pull, NULL);
	if (pull->call)
		return;
	if (asks)
		pull_told(pull, NULL);
	else
		engine_pull(pull);
}

static void pull_access_found(void *arg, const struct error *failure,
			      const struct registry_access_way *way)
{
	struct pull *pull = arg;

	pull->access = NULL;
	if (failure) {
		pull_fail(pull, failure);
		return;
	}
	pull->access_known = true;
	pull->gone_login = way->gone;
	pull->auth = way->header ? strdup(way->header) : NULL;
	if (pull->services->registries->local) {
		free(pull->root);
		pull->root = image_disk_folder(way->info);
	}
	ask_digest(pull);
}

static int begin_access(struct pull *pull, struct error *err)
{
	const struct image_services *services = pull->services;

	pull->access = registry_access_begin(services->loop, services->engine,
					     services->registries, pull->host,
					     pull->logins, pull->logins_count,
					     pull_access_found, pull, err);
	return pull->access ? 0 : -1;
}

/* Creation and release. */

struct pull *pull_begin(const struct image_services *services,
			const char *reference,
			const struct registry_login *logins, size_t count,
			image_news_fn *news, pull_done_fn *done, void *arg,
			struct error *err)
{
	owned(pull_cancel) struct pull *pull = calloc(1, sizeof(*pull));
	char path[REFERENCE_PATH_MAX + 1];

	if (!pull || !(pull->reference = strdup(reference)) ||
	    !(pull->sums = pull_progress_new(err)))
		return error_null(error_nomem(err, "image"));
	if (reference_parse(reference, &pull->parts, err) < 0 ||
	    logins_copy(&pull->logins, &pull->logins_count, logins, count,
			err) < 0)
		return NULL;
	pull->services = services;
	pull->news = news;
	pull->done = done;
	pull->arg = arg;
	pull->now.progress.tries = 1;
	snprintf(pull->target, sizeof(pull->target), "%s", reference);
	reference_place(&pull->parts, pull->host, path);
	return begin_access(pull, err) < 0 ? NULL : take(pull);
}

struct pull *pull_ask(const struct image_services *services,
		      const char *reference,
		      const struct registry_login *logins, size_t count,
		      pull_done_fn *done, void *arg, struct error *err)
{
	struct pull *pull = pull_begin(services, reference, logins, count, NULL,
				       done, arg, err);

	if (pull)
		pull->asks = true;
	return pull;
}

void pull_cancel(struct pull *pull)
{
	if (!pull)
		return;
	registry_access_cancel(pull->access);
	engine_call_cancel(pull->call);
	disk_watermark_cancel(pull->waits);
	loop_source_free(&pull->timer);
	loop_source_free(&pull->stalled);
	pull_progress_free(pull->sums);
	logins_free(pull->logins, pull->logins_count);
	secret_free(pull->auth);
	free(pull->root);
	free(pull->reference);
	free(pull);
}
