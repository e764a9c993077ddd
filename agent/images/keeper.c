/* keeper.c - room for images on the disk, kept by the node itself.
 */
#include "agent/images/keeper.h"

#include "agent/images/survey.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/blob/blob_store.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define CALL_MS 30000

/* Who waits for room. */
struct keeper_wait {
	struct keeper *keeper;
	uint64_t bytes;
	bool asked; /* the question that is under way is for it, too */
	keeper_done_fn *done;
	void *arg;
	TAILQ_ENTRY(keeper_wait) next;
};

struct keeper {
	struct keeper_config config;
	struct engine_call *call;
	sd_event_source *look;         /* at the disk, now and then */
	sd_event_source *soon;         /* a wait has come */
	sd_event_source *late;         /* no answer came */
	char order[CONTENT_HASH_SIZE]; /* "": nothing is asked */
	bool answered;
	TAILQ_HEAD(, keeper_wait) waits;
};

static int look_run(sd_event_source *source, uint64_t usec, void *arg);
static int soon_run(sd_event_source *source, uint64_t usec, void *arg);

static void look_in(struct keeper *keeper, uint64_t delay_ms)
{
	loop_timer(keeper->config.loop, &keeper->look, delay_ms, look_run,
		   keeper, NULL);
}

/* The question is over. Those who asked go on; a callback may come back, or
 * cancel others.
 */
static void finish(struct keeper *keeper, bool made)
{
	struct keeper_wait *wait;

	look_in(keeper,
		keeper->answered && !made ? KEEPER_VAIN_MS : KEEPER_LOOK_MS);
	keeper->order[0] = 0;
	keeper->answered = false;
	loop_timer_stop(keeper->late);
	for (;;) {
		keeper_done_fn *done;
		void *arg;

		TAILQ_FOREACH(wait, &keeper->waits, next)
		{
			if (wait->asked)
				break;
		}
		if (!wait)
			break;
		done = wait->done;
		arg = wait->arg;
		keeper_cancel(wait);
		done(arg, made);
	}
	if (!TAILQ_EMPTY(&keeper->waits))
		loop_timer(keeper->config.loop, &keeper->soon, 0, soon_run,
			   keeper, NULL);
}

static int late_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct keeper *keeper = arg;

	if (!keeper->answered) {
		log_warning("no room for images: the controller did not say "
			    "which ones must stay");
		finish(keeper, false);
	}
	return 0;
}

static void ask(struct keeper *keeper)
{
	unsigned char random[32];
	struct message_image_room room = { .order = keeper->order };
	struct keeper_wait *wait;

	if (keeper->order[0])
		return;
	randombytes_buf(random, sizeof(random));
	sodium_bin2hex(keeper->order, sizeof(keeper->order), random,
		       sizeof(random));
	TAILQ_FOREACH(wait, &keeper->waits, next)
	{
		wait->asked = true;
	}
	loop_timer(keeper->config.loop, &keeper->late,
		   keeper->config.ask(keeper->config.arg, &room) < 0
			   ? 0
			   : KEEPER_ANSWER_MS,
		   late_run, keeper, NULL);
}

static int soon_run(sd_event_source *source, uint64_t usec, void *arg)
{
	ask(arg);
	return 0;
}

/* Looking. */

static void info_done(void *arg, const struct error *err, cJSON *answer)
{
	struct keeper *keeper = arg;
	const char *root = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(answer, "DockerRootDir"));
	uint64_t free_bytes, bytes, floor;

	keeper->call = NULL;
	look_in(keeper, KEEPER_LOOK_MS);
	if (err || !root || survey_disk(root, &free_bytes, &bytes, NULL) < 0)
		return;
	floor = free_space_on(&keeper->config.floor, bytes);
	if (free_bytes >= floor)
		return;
	log_info("image floor: %" PRIu64 " MiB of %s are free, less than "
		 "%" PRIu64 " MiB",
		 free_bytes >> 20, root, floor >> 20);
	ask(keeper);
}

static int look_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct keeper *keeper = arg;

	if (!keeper->call)
		keeper->call = engine_info(keeper->config.engine, CALL_MS,
					   info_done, keeper, NULL);
	if (!keeper->call)
		look_in(keeper, KEEPER_LOOK_MS);
	return 0;
}

/* The answer, and what comes of it. */

void keeper_order(struct keeper *keeper, struct message_image_do *order)
{
	const struct keeper_wait *wait;

	if (!keeper->order[0] || strcmp(order->order, keeper->order) != 0)
		return;
	keeper->answered = true;
	order->keep = keeper->config.keep;
	order->floor_bytes = keeper->config.floor.bytes;
	order->floor_percent = keeper->config.floor.percent;
	order->dry_run = false;
	TAILQ_FOREACH(wait, &keeper->waits, next)
	{
		if (wait->asked && wait->bytes > order->floor_bytes)
			order->floor_bytes = wait->bytes;
	}
}

bool keeper_state(struct keeper *keeper,
		  const struct message_image_state *state)
{
	bool made = false;

	if (!keeper->order[0] || strcmp(state->order, keeper->order) != 0)
		return false;
	for (size_t i = 0; i < state->images_count; i++)
		made |= state->images[i].removed;
	if (!strcmp(state->phase, "ready") || !strcmp(state->phase, "failed"))
		finish(keeper, made);
	return true;
}

/* Waiting. */

struct keeper_wait *keeper_room(struct keeper *keeper, uint64_t bytes,
				keeper_done_fn *done, void *arg)
{
	struct keeper_wait *wait = calloc(1, sizeof(*wait));

	if (!wait)
		return NULL;
	wait->keeper = keeper;
	wait->bytes = bytes;
	wait->done = done;
	wait->arg = arg;
	TAILQ_INSERT_TAIL(&keeper->waits, wait, next);
	if (!keeper->order[0])
		loop_timer(keeper->config.loop, &keeper->soon, 0, soon_run,
			   keeper, NULL);
	return wait;
}

void keeper_cancel(struct keeper_wait *wait)
{
	if (!wait)
		return;
	TAILQ_REMOVE(&wait->keeper->waits, wait, next);
	free(wait);
}

/* Life. */

struct keeper *keeper_new(const struct keeper_config *config, struct error *err)
{
	struct keeper *keeper = calloc(1, sizeof(*keeper));

	if (!keeper) {
		error_nomem(err, "images");
		return NULL;
	}
	TAILQ_INIT(&keeper->waits);
	keeper->config = *config;
	look_in(keeper, KEEPER_FIRST_MS);
	return keeper;
}

void keeper_free(struct keeper *keeper)
{
	if (!keeper)
		return;
	while (!TAILQ_EMPTY(&keeper->waits))
		keeper_cancel(TAILQ_FIRST(&keeper->waits));
	engine_call_cancel(keeper->call);
	loop_source_free(&keeper->look);
	loop_source_free(&keeper->soon);
	loop_source_free(&keeper->late);
	free(keeper);
}
