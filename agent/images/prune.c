/* prune.c - which images of a node may go, the least recently used first, and
 * when: the watermark of the disk.
 */
#include "agent/images/prune.h"

#include "agent/images/image_disk.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/blob/blob_store.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define CALL_MS 30000
#define ID_PREFIX "sha256:"
#define ID_DIGITS 64
#define WORD_DIGITS 4 /* of an id, at least */

uint64_t prune_candidates_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Names. */

/* Does the image have this name or id? */
static bool candidate_is_called(const struct image_info *image,
				const struct reference *parts)
{
	char name[REFERENCE_LISTED_SIZE];

	reference_listed(parts, name);
	return !strcmp(image->id, name) || strings_has(&image->tags, name) ||
	       strings_has(&image->digests, name);
}

/* The length of the repository in name:tag or name@digest. */
static size_t repository(const char *name)
{
	const char *end = strchr(name, '@');
	const char *slash = strrchr(name, '/');

	if (!end)
		end = strchr(slash ? slash : name, ':');
	return end ? (size_t)(end - name) : strlen(name);
}

static bool same_repository(const char *a, const char *b)
{
	size_t size = repository(a);

	return size == repository(b) && !strncmp(a, b, size);
}

static bool in_repository(const struct image_info *image, const char *name)
{
	for (size_t i = 0; i < image->tags.count; i++)
		if (same_repository(image->tags.items[i], name))
			return true;
	for (size_t i = 0; i < image->digests.count; i++)
		if (same_repository(image->digests.items[i], name))
			return true;
	return false;
}

/* Need. */

static bool meets(const struct image_info *image, const struct image_need *need)
{
	struct reference parts;

	if (reference_parse(need->reference, &parts, NULL) < 0)
		return false;
	/* A build without a tag, and an image that was pulled by digest, can
	 * only be matched by their repository.
	 */
	if (parts.name[0] && !parts.digest[0] &&
	    (need->build ? !parts.tag[0] : !image->tags.count))
		return in_repository(image, parts.name);
	return candidate_is_called(image, &parts);
}

int prune_candidates_needed(const struct image_info *image,
			    struct image_needs needs, char **needed,
			    struct error *err)
{
	*needed = NULL;
	for (size_t i = 0; i < needs.count; i++) {
		const struct image_need *need = &needs.list[i];
		int rc;

		if (!meets(image, need))
			continue;
		if (need->sweep)
			rc = asprintf(needed,
				      "sweep %" PRIu64 " has %" PRIu64
				      " job%s left that need%s it",
				      need->sweep, need->jobs,
				      need->jobs == 1 ? "" : "s",
				      need->jobs == 1 ? "s" : "");
		else
			rc = asprintf(needed, "a task on this node has it");
		if (rc >= 0)
			return 0;
		*needed = NULL;
		return error_nomem(err, "images");
	}
	return 0;
}

/* Names that a user gives. */

static bool is_id_word(const char *word)
{
	size_t size = strlen(word);

	return size >= WORD_DIGITS && size <= ID_DIGITS &&
	       strspn(word, "0123456789abcdef") == size;
}

int prune_candidates_find(const struct image_info *images, size_t count,
			  const char *word, size_t *found, struct error *err)
{
	struct reference parts;
	size_t matches = 0;

	if (reference_parse(word, &parts, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (candidate_is_called(&images[i], &parts)) {
			*found = i;
			return 0;
		}
	}
	for (size_t i = 0; is_id_word(word) && i < count; i++) {
		const char *id = images[i].id;

		if (!strncmp(id, ID_PREFIX, strlen(ID_PREFIX)) &&
		    !strncmp(id + strlen(ID_PREFIX), word, strlen(word))) {
			*found = i;
			matches++;
		}
	}
	if (matches == 1)
		return 0;
	return matches ? error_set(err, EINVAL,
				   "%s: the ids of %zu images start with this",
				   word, matches)
		       : error_set(err, ENOENT, "no image %s", word);
}

/* Choosing. */

/* How many images of ours are newer in that repository? */
static size_t newer(const struct image_info *images, size_t count, size_t at,
		    const char *name)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		const struct image_info *other = &images[i];

		if (i == at || !other->origin || !in_repository(other, name))
			continue;
		found += other->created_ms > images[at].created_ms ||
			 (other->created_ms == images[at].created_ms &&
			  (other->used_ms > images[at].used_ms ||
			   (other->used_ms == images[at].used_ms && i < at)));
	}
	return found;
}

static bool image_is_kept(const struct image_info *images, size_t count,
			  size_t at, uint32_t keep)
{
	const struct strings *lists[] = { &images[at].tags,
					  &images[at].digests };

	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < lists[i]->count; j++)
			if (newer(images, count, at, lists[i]->items[j]) < keep)
				return true;
	return false;
}

/* Set image->needed to the reason why it stays; NULL: it may be removed. */
static int set_reason(struct image_info *images, size_t count, size_t at,
		      struct image_needs needs, uint32_t keep,
		      struct error *err)
{
	struct image_info *image = &images[at];
	int rc = 0;

	free(image->needed);
	if (prune_candidates_needed(image, needs, &image->needed, err) < 0)
		return -1;
	if (image->needed)
		return 0;
	if (image->containers)
		rc = asprintf(&image->needed, "%u container%s made from it",
			      image->containers,
			      image->containers == 1 ? " is" : "s are");
	else if (image_is_kept(images, count, at, keep))
		rc = asprintf(&image->needed, "one of the %u newest", keep);
	if (rc >= 0)
		return 0;
	image->needed = NULL;
	return error_nomem(err, "images");
}

static int by_use(const void *a, const void *b, void *arg)
{
	const struct image_info *images = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	uint64_t x = images[i].used_ms, y = images[j].used_ms;

	/* The time of creation counts for an unused image. */
	if (!x)
		x = images[i].created_ms;
	if (!y)
		y = images[j].created_ms;
	if (x != y)
		return x < y ? -1 : 1;
	return i < j ? -1 : i > j;
}

long prune_candidates_make(struct image_info *images, size_t count,
			   struct image_needs needs, uint32_t keep,
			   size_t *order, struct error *err)
{
	long found = 0;

	for (size_t i = 0; i < count; i++) {
		if (!images[i].origin)
			continue;
		if (set_reason(images, count, i, needs, keep, err) < 0)
			return -1;
		if (!images[i].needed)
			order[found++] = i;
	}
	qsort_r(order, (size_t)found, sizeof(*order), by_use, images);
	return found;
}

/* The watermark. */

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
	const struct image_services *with;
	struct engine_call *call;
	sd_event_source *look;   /* next look at the disk */
	sd_event_source *late;   /* ends the wait for an answer */
	char id[BLOB_HASH_SIZE]; /* of the present question; "": none */
	bool answered;
	bool blind; /* at the last look, the folder was unknown */
	TAILQ_HEAD(, disk_watermark_wait) waits;
};

static int watermark_look_run(sd_event_source *source, uint64_t usec,
			      void *arg);
static void watermark_ask(struct disk_watermark *watermark);

static void look_in(struct disk_watermark *watermark, uint64_t delay_ms)
{
	loop_timer(watermark->with->loop, &watermark->look, delay_ms,
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
			if (wait->asked)
				break;
		if (!wait)
			break;
		done = wait->done;
		arg = wait->arg;
		disk_watermark_cancel(wait);
		done(arg, made);
	}
	if (!TAILQ_EMPTY(&watermark->waits))
		watermark_ask(watermark);
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

/* Unless an answer is awaited: then it follows. */
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
		wait->asked = true;
	loop_timer(watermark->with->loop, &watermark->late,
		   watermark->with->say(watermark->with->arg,
					MESSAGE_IMAGE_ROOM, &room, NULL, 0) < 0
			   ? 0
			   : DISK_WATERMARK_ANSWER_MS,
		   watermark_late_run, watermark, NULL);
}

/* Looks at the disk. */

static void watermark_info_done(void *arg, const struct error *err,
				cJSON *answer)
{
	struct disk_watermark *watermark = arg;
	owned_free char *root = err ? NULL : image_disk_folder(answer);
	uint64_t free_bytes, bytes, floor;

	watermark->call = NULL;
	look_in(watermark, DISK_WATERMARK_LOOK_MS);
	if (!err && !root && !watermark->blind)
		log_warning("image floor: the folder of the engine's images is "
			    "unknown; its disk is not watched");
	watermark->blind = !err && !root;
	if (!root || free_space_of(root, &free_bytes, &bytes, NULL) < 0)
		return;
	floor = free_space_on(&watermark->with->floor, bytes);
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
			engine_info(watermark->with->engine, CALL_MS,
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
	spec->keep = watermark->with->keep;
	spec->floor_bytes = watermark->with->floor.bytes;
	spec->floor_percent = watermark->with->floor.percent;
	spec->dry_run = false;
	TAILQ_FOREACH(wait, &watermark->waits, next)
		if (wait->asked && wait->bytes > spec->floor_bytes)
			spec->floor_bytes = wait->bytes;
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
	watermark_ask(watermark);
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

struct disk_watermark *disk_watermark_new(const struct image_services *services,
					  struct error *err)
{
	struct disk_watermark *watermark =
		error_calloc(sizeof(*watermark), "images", err);

	if (!watermark)
		return NULL;
	TAILQ_INIT(&watermark->waits);
	watermark->with = services;
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
	loop_source_free(&watermark->late);
	free(watermark);
}
