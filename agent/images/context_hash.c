/* context_hash.c - the SHA-256 of a build context.
 */
#include "agent/images/context_hash.h"

#include "agent/images/build_context.h"
#include "protocol/base/clock.h"
#include "protocol/base/loop.h"

#include <stdlib.h>

#define TURN_MS 20
#define PIECE (64 << 10)

struct context_hash {
	struct build_context *context;
	sd_event_source *source;
	context_hash_fn *done;
	void *arg;
};

static int read_some(sd_event_source *source, void *arg)
{
	struct context_hash *reading = arg;
	struct tarball *tarball = build_context_tarball(reading->context);
	int64_t until = clock_mono_ms() + TURN_MS;
	struct error err;
	char piece[PIECE];
	ssize_t got;

	do {
		got = tarball_read(tarball, piece, sizeof(piece), &err);
	} while (got > 0 && clock_mono_ms() < until);
	if (got > 0)
		sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	else if (got < 0)
		reading->done(reading->arg, &err, NULL, 0);
	else
		reading->done(reading->arg, NULL, tarball_hash(tarball),
			      tarball_size(tarball));
	return 0;
}

struct context_hash *context_hash_begin(sd_event *loop, const char *folder,
					context_hash_fn *done, void *arg,
					struct error *err)
{
	owned(context_hash_cancel) struct context_hash *reading =
		calloc(1, sizeof(*reading));
	int rc;

	if (!reading) {
		error_nomem(err, "image");
		return NULL;
	}
	reading->done = done;
	reading->arg = arg;
	reading->context = build_context_new(folder, err);
	if (!reading->context)
		return NULL;
	rc = sd_event_add_defer(loop, &reading->source, read_some, reading);
	if (rc < 0) {
		error_set(err, -rc, "event loop");
		return NULL;
	}
	return take(reading);
}

void context_hash_cancel(struct context_hash *reading)
{
	if (!reading)
		return;
	loop_source_free(&reading->source);
	build_context_free(reading->context);
	free(reading);
}
