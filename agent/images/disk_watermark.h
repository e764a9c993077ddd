/* disk_watermark.h - keeps disk space free for images.
 *
 * When less space than the threshold is free, or an image does not fit, it asks
 * the controller which images must stay. The answer is an operation to prune,
 * completed by this node's own threshold and number of images to keep. Nothing
 * is removed without a controller. Removed images are reported to it
 * (message_image_state, by_itself).
 */
#ifndef AGENT_IMAGES_DISK_WATERMARK_H
#define AGENT_IMAGES_DISK_WATERMARK_H

#include "agent/docker/engine.h"
#include "protocol/base/owned.h"
#include "protocol/config/free_space.h"
#include "protocol/message/message.h"

#define DISK_WATERMARK_FIRST_MS 2000 /* until the first look at the disk */
#define DISK_WATERMARK_LOOK_MS 60000 /* between looks at the disk */
#define DISK_WATERMARK_VAIN_MS                                                 \
	600000 /* after one that found nothing to remove */
#define DISK_WATERMARK_ANSWER_MS 10000 /* that the controller has to answer */

/* All borrowed. */
struct disk_watermark_config {
	sd_event *loop;
	struct engine *engine;   /* on this machine */
	struct free_space floor; /* free space to keep on the engine's disk */
	uint32_t keep; /* so many of the newest of each repository stay */
	/* Ask the controller; -1: not now. */
	int (*ask)(void *arg, const struct message_image_room *room);
	void *arg;
};

struct disk_watermark;
struct disk_watermark *
disk_watermark_new(const struct disk_watermark_config *config,
		   struct error *err);
void disk_watermark_free(struct disk_watermark *watermark); /* NULL is fine */
OWNED_POINTER(struct disk_watermark, disk_watermark_free)

/* Complete an operation that answers our question; others stay as they are. */
void disk_watermark_answer(struct disk_watermark *watermark,
			   struct image_spec *spec);

/* Call it for each state before it is reported. True: it is of an operation
 * that the watermark started.
 */
bool disk_watermark_state(struct disk_watermark *watermark,
			  const struct message_image_state *state);

/* Remove images until so many bytes are free (0: unknown, then until the
 * threshold is). done() runs once, from the loop, unless it is cancelled; made:
 * something was removed. NULL: ENOMEM.
 */
typedef void disk_watermark_done_fn(void *arg, bool made);
struct disk_watermark_wait;
struct disk_watermark_wait *
disk_watermark_room(struct disk_watermark *watermark, uint64_t bytes,
		    disk_watermark_done_fn *done, void *arg);
void disk_watermark_cancel(struct disk_watermark_wait *wait); /* NULL is fine */

#endif
