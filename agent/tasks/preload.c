/* preload.c - what later jobs need is brought while another one runs.
 */
#include "agent/tasks/preload.h"

#include "protocol/log.h"
#include "protocol/loop.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum phase {
	WAITING,
	BRINGING_IMAGE,
	BRINGING_WORKSPACE,
	READY,
	FAILED,
};

struct preload {
	struct preload_spec spec;
	enum phase phase;
	struct message_preloaded state; /* as told last; its texts are owned */
};

struct preloads {
	struct preload_room room;
	struct preload items[PRELOADS_MAX];
	size_t count;
	uint64_t rate;            /* of images; 0: no bound */
	struct image_wait *image; /* of the item that is being brought */
	struct fetch_wait *fetch;
	sd_event_source *next;
};

static void go_on(struct preloads *preloads);

static void preload_clear(struct preload *preload)
{
	codec_clear(&preload_spec_schema, &preload->spec);
	free(preload->state.image_pin);
	free(preload->state.text);
	*preload = (struct preload){ 0 };
}

static bool is_under_way(const struct preload *preload)
{
	return preload->phase == BRINGING_IMAGE ||
	       preload->phase == BRINGING_WORKSPACE;
}

/* There is none, or one. */
static struct preload *under_way(struct preloads *preloads)
{
	for (size_t i = 0; i < preloads->count; i++)
		if (is_under_way(&preloads->items[i]))
			return &preloads->items[i];
	return NULL;
}

static void tell(struct preloads *preloads, struct preload *preload)
{
	preload->state.job = preload->spec.job;
	if (preload->state.phase)
		preloads->room.tell(preloads->room.arg, &preload->state);
}

static void leave(struct preloads *preloads)
{
	if (preloads->image)
		image_release(take(preloads->image));
	if (preloads->fetch)
		fetch_release(take(preloads->fetch));
}

static int next_run(sd_event_source *source, uint64_t usec, void *arg)
{
	go_on(arg);
	return 0;
}

/* One is over: the next one follows in a turn of its own. */
static void end(struct preloads *preloads, struct preload *preload,
		const struct error *err)
{
	preload->phase = err ? FAILED : READY;
	preload->state.phase = err ? (char *)"failed" : (char *)"ready";
	if (err) {
		free(preload->state.text);
		preload->state.text = strdup(err->text);
		log_warning("not brought ahead job=%" PRIu64 ": %s",
			    preload->spec.job, err->text);
	} else if (preload->state.moved) {
		log_info("brought ahead job=%" PRIu64 " image=%s",
			 preload->spec.job,
			 preload->spec.image ? preload->spec.image : "");
	}
	tell(preloads, preload);
	loop_timer(preloads->room.loop, &preloads->next, 0, next_run, preloads,
		   NULL);
}

/* Workspaces. */

static void set_progress(struct preload *preload, enum image_phase phase,
			 uint64_t bytes, uint64_t total)
{
	preload->state.phase = (char *)image_phase_name(phase);
	preload->state.done_bytes = bytes;
	preload->state.total_bytes = total;
	preload->state.moved |= phase != IMAGE_CHECKING;
}

static void fetch_progress(void *arg, uint64_t bytes, uint64_t total)
{
	struct preloads *preloads = arg;
	struct preload *preload = under_way(preloads);

	set_progress(preload, IMAGE_FETCHING, bytes, total);
	tell(preloads, preload);
}

static void fetch_done(void *arg, const struct error *err)
{
	struct preloads *preloads = arg;

	preloads->fetch = NULL;
	end(preloads, under_way(preloads), err);
}

static void bring_workspace(struct preloads *preloads, struct preload *preload)
{
	struct error err;

	preload->phase = BRINGING_WORKSPACE;
	if (!preload->spec.workspace) {
		end(preloads, preload, NULL);
		return;
	}
	preloads->fetch =
		fetch_begin(preloads->room.fetches, preload->spec.workspace,
			    false, fetch_progress, fetch_done, preloads, &err);
	if (!preloads->fetch)
		end(preloads, preload, &err);
}

/* Images. */

static void keep_pin(struct preload *preload, const char *pin)
{
	char *copy = pin && *pin ? strdup(pin) : NULL;

	if (!copy)
		return;
	free(preload->state.image_pin);
	preload->state.image_pin = copy;
}

static void image_progress(void *arg, const struct image_progress *progress)
{
	struct preloads *preloads = arg;
	struct preload *preload = under_way(preloads);
	bool unpacks = progress->phase == IMAGE_EXTRACTING;

	keep_pin(preload, progress->digest);
	set_progress(preload, progress->phase,
		     unpacks ? progress->extracted : progress->bytes,
		     progress->bytes_total);
	tell(preloads, preload);
}

static void image_done(void *arg, const struct error *err,
		       const struct image *image)
{
	struct preloads *preloads = arg;
	struct preload *preload = under_way(preloads);

	preloads->image = NULL;
	if (err) {
		end(preloads, preload, err);
		return;
	}
	bring_workspace(preloads, preload);
}

/* A pin that the policy does not take for the name leaves it to this node to
 * find out, as it does for the job.
 */
static void bring_image(struct preloads *preloads, struct preload *preload)
{
	const struct preload_room *room = &preloads->room;
	const struct preload_spec *spec = &preload->spec;
	struct image_wanted wanted = {
		.reference = spec->image,
		.logins = spec->logins,
		.logins_count = spec->logins_count,
		.rate = preloads->rate,
	};
	struct error err;

	if (!spec->image) {
		bring_workspace(preloads, preload);
		return;
	}
	preload->phase = BRINGING_IMAGE;
	if (spec->pin && guard_pin_allowed(room->guard, spec->image, spec->pin))
		wanted.reference = spec->pin;
	if (guard_preload(room->guard, spec->owner, spec->image, spec->pin,
			  &err) == 0)
		preloads->image =
			image_ensure(room->images, &wanted, image_progress,
				     image_done, preloads, &err);
	if (!preloads->image)
		end(preloads, preload, &err);
}

static void go_on(struct preloads *preloads)
{
	if (under_way(preloads))
		return;
	for (size_t i = 0; i < preloads->count; i++) {
		if (preloads->items[i].phase != WAITING)
			continue;
		bring_image(preloads, &preloads->items[i]);
		return;
	}
}

/* The list. */

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* What its image means may have become known, and it may be another job that
 * comes first: it is the same all the same.
 */
static bool is_same(const struct preload_spec *a, const struct preload_spec *b)
{
	return same_text(a->image, b->image) &&
	       same_text(a->workspace, b->workspace);
}

static bool still_wanted(struct preload *preload,
			 const struct message_preload *wanted)
{
	for (size_t i = 0; i < wanted->items_count; i++) {
		if (!is_same(&preload->spec, &wanted->items[i]))
			continue;
		preload->spec.job = wanted->items[i].job;
		return true;
	}
	return false;
}

static void drop_unwanted(struct preloads *preloads,
			  const struct message_preload *wanted)
{
	size_t kept = 0;

	for (size_t i = 0; i < preloads->count; i++) {
		struct preload *preload = &preloads->items[i];

		if (still_wanted(preload, wanted)) {
			struct preload moved = *preload;

			*preload = (struct preload){ 0 };
			preloads->items[kept++] = moved;
			continue;
		}
		if (is_under_way(preload)) {
			leave(preloads);
			log_info("no longer brought ahead job=%" PRIu64,
				 preload->spec.job);
		}
		preload_clear(preload);
	}
	preloads->count = kept;
}

static bool is_there(const struct preloads *preloads,
		     const struct preload_spec *spec)
{
	for (size_t i = 0; i < preloads->count; i++)
		if (is_same(&preloads->items[i].spec, spec))
			return true;
	return false;
}

void preloads_session(struct preloads *preloads)
{
	for (size_t i = 0; i < preloads->count; i++)
		tell(preloads, &preloads->items[i]);
}

void preloads_set(struct preloads *preloads, struct message_preload *wanted)
{
	drop_unwanted(preloads, wanted);
	preloads_session(preloads);
	preloads->rate = wanted->rate;
	if (preloads->image)
		image_rate(preloads->image, preloads->rate);
	for (size_t i = 0; i < wanted->items_count; i++) {
		struct preload_spec *spec = &wanted->items[i];

		if (preloads->count == PRELOADS_MAX || is_there(preloads, spec))
			continue;
		preloads->items[preloads->count++].spec = *spec;
		*spec = (struct preload_spec){ 0 };
	}
	go_on(preloads);
}

void preloads_touch(const struct preloads *preloads)
{
	for (size_t i = 0; i < preloads->count; i++)
		contents_touch(preloads->room.contents,
			       preloads->items[i].spec.workspace);
}

/* Life. */

struct preloads *preloads_new(const struct preload_room *room,
			      struct error *err)
{
	struct preloads *preloads = calloc(1, sizeof(*preloads));

	if (!preloads)
		error_nomem(err, "preload");
	else
		preloads->room = *room;
	return preloads;
}

void preloads_free(struct preloads *preloads)
{
	if (!preloads)
		return;
	leave(preloads);
	loop_source_free(&preloads->next);
	for (size_t i = 0; i < preloads->count; i++)
		preload_clear(&preloads->items[i]);
	free(preloads);
}
