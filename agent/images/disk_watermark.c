/* disk_watermark.c - keeps disk space free for images.
 */
#include "agent/images/disk_watermark.h"

#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/blob/blob_store.h"
#include "protocol/message/json_get.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define CALL_MS 30000

/* One caller that waits for space. */
struct disk_watermark_wait {
	struct disk_watermark *watermark;
	uint64_t bytes;
	bool asked; /* it waits for the present answer */
	disk_watermark_done_fn *done;
	void *arg;
	TAILQ_ENTRY(disk_watermark_wait) next;
};

struct disk_watermark {
	struct disk_watermark_config config;
	struct engine_call *call;
	sd_event_source *look;      /* next look at the disk */
	sd_event_source *soon;      /* asks for new waits */
	sd_event_source *late;      /* ends the wait for an answer */
	char id[CONTENT_HASH_SIZE]; /* of the present question; "": none */
	bool answered;
	TAILQ_HEAD(, disk_watermark_wait) waits;
};

static int watermark_look_run(sd_event_source *source, uint64_t usec,
			      void *arg);
static int watermark_soon_run(sd_event_source *source, uint64_t usec,
			      void *arg);

static void look_in(struct disk_watermark *watermark, uint64_t delay_ms)
{
	loop_timer(watermark->config.loop, &watermark->look, delay_ms,
		   watermark_look_run, watermark, NULL);
}

/* End the question and call back its waits. A callback may add or cancel waits.
 */
static void watermark_finish(struct disk_watermark *watermark, bool made)
{
	struct disk_watermark_wait *wait;

	look_in(watermark, watermark->answered && !made
				   ? DISK_WATERMARK_VAIN_MS
				   : DISK_WATERMARK_LOOK_MS);
	watermark->id[0] = 0;
	watermark->answered = false;
	loop_timer_stop(watermark->late);
	for (;;) {
		disk_watermark_done_fn *done;
		void *arg;

		TAILQ_FOREACH(wait, &watermark->waits, next)
		{
			if (wait->asked)
				break;
		}
		if (!wait)
			break;
		done = wait->done;
		arg = wait->arg;
		disk_watermark_cancel(wait);
		done(arg, made);
	}
	if (!TAILQ_EMPTY(&watermark->waits))
		loop_timer(watermark->config.loop, &watermark->soon, 0,
			   watermark_soon_run, watermark, NULL);
}

static int watermark_late_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct disk_watermark *watermark = arg;

	if (!watermark->answered) {
		log_warning("no images are removed: the controller did not "
			    "report which ones are needed");
		watermark_finish(watermark, false);
	}
	return 0;
}

static void watermark_ask(struct disk_watermark *watermark)
{
	unsigned char random[32];
	struct message_image_room room = { .operation = watermark->id };
	struct disk_watermark_wait *wait;

	if (watermark->id[0])
		return;
	randombytes_buf(random, sizeof(random));
	sodium_bin2hex(watermark->id, sizeof(watermark->id), random,
		       sizeof(random));
	TAILQ_FOREACH(wait, &watermark->waits, next)
	{
		wait->asked = true;
	}
	loop_timer(watermark->config.loop, &watermark->late,
		   watermark->config.ask(watermark->config.arg, &room) < 0
			   ? 0
			   : DISK_WATERMARK_ANSWER_MS,
		   watermark_late_run, watermark, NULL);
}

static int watermark_soon_run(sd_event_source *source, uint64_t usec, void *arg)
{
	watermark_ask(arg);
	return 0;
}

/* Looks at the disk. */

static void watermark_info_done(void *arg, const struct error *err,
				cJSON *answer)
{
	struct disk_watermark *watermark = arg;
	const char *root = json_get_text(answer, "DockerRootDir");
	uint64_t free_bytes, bytes, floor;

	watermark->call = NULL;
	look_in(watermark, DISK_WATERMARK_LOOK_MS);
	if (err || !root || free_space_of(root, &free_bytes, &bytes, NULL) < 0)
		return;
	floor = free_space_on(&watermark->config.floor, bytes);
	if (free_bytes >= floor)
		return;
	log_info("image floor: %" PRIu64 " MiB of %s are free, less than "
		 "%" PRIu64 " MiB",
		 free_bytes >> 20, root, floor >> 20);
	watermark_ask(watermark);
}

static int watermark_look_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct disk_watermark *watermark = arg;

	if (!watermark->call)
		watermark->call =
			engine_info(watermark->config.engine, CALL_MS,
				    watermark_info_done, watermark, NULL);
	if (!watermark->call)
		look_in(watermark, DISK_WATERMARK_LOOK_MS);
	return 0;
}

/* The answer. */

void disk_watermark_answer(struct disk_watermark *watermark,
			   struct image_spec *spec)
{
	const struct disk_watermark_wait *wait;

	if (!watermark->id[0] || strcmp(spec->id, watermark->id) != 0)
		return;
	watermark->answered = true;
	spec->keep = watermark->config.keep;
	spec->floor_bytes = watermark->config.floor.bytes;
	spec->floor_percent = watermark->config.floor.percent;
	spec->dry_run = false;
	TAILQ_FOREACH(wait, &watermark->waits, next)
	{
		if (wait->asked && wait->bytes > spec->floor_bytes)
			spec->floor_bytes = wait->bytes;
	}
}

bool disk_watermark_state(struct disk_watermark *watermark,
			  const struct message_image_state *state)
{
	bool made = false;

	if (!watermark->id[0] || strcmp(state->operation, watermark->id) != 0)
		return false;
	for (size_t i = 0; i < state->images_count; i++)
		made |= state->images[i].removed;
	if (!strcmp(state->progress.phase, "ready") ||
	    !strcmp(state->progress.phase, "failed"))
		watermark_finish(watermark, made);
	return true;
}

/* Waits. */

struct disk_watermark_wait *
disk_watermark_room(struct disk_watermark *watermark, uint64_t bytes,
		    disk_watermark_done_fn *done, void *arg)
{
	struct disk_watermark_wait *wait = calloc(1, sizeof(*wait));

	if (!wait)
		return NULL;
	wait->watermark = watermark;
	wait->bytes = bytes;
	wait->done = done;
	wait->arg = arg;
	TAILQ_INSERT_TAIL(&watermark->waits, wait, next);
	if (!watermark->id[0])
		loop_timer(watermark->config.loop, &watermark->soon, 0,
			   watermark_soon_run, watermark, NULL);
	return wait;
}

void disk_watermark_cancel(struct disk_watermark_wait *wait)
{
	if (!wait)
		return;
	TAILQ_REMOVE(&wait->watermark->waits, wait, next);
	free(wait);
}

/* Creation and release. */

struct disk_watermark *
disk_watermark_new(const struct disk_watermark_config *config,
		   struct error *err)
{
	struct disk_watermark *watermark =
		error_calloc(sizeof(*watermark), "images", err);

	if (!watermark)
		return NULL;
	TAILQ_INIT(&watermark->waits);
	watermark->config = *config;
	look_in(watermark, DISK_WATERMARK_FIRST_MS);
	return watermark;
}

void disk_watermark_free(struct disk_watermark *watermark)
{
	if (!watermark)
		return;
	while (!TAILQ_EMPTY(&watermark->waits))
		disk_watermark_cancel(TAILQ_FIRST(&watermark->waits));
	engine_call_cancel(watermark->call);
	loop_source_free(&watermark->look);
	loop_source_free(&watermark->soon);
	loop_source_free(&watermark->late);
	free(watermark);
}
