/* disk_watermark.h - keeps room for images on the disk.
 *
 * When less than the floor is free, or an image that is to come does not fit,
 * the controller is asked what must stay; its answer is an order to gc, which
 * then goes by this node's own floor and keep. Nothing is removed without a
 * controller. What was removed is told to it (message_image_state, by_itself).
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
	struct free_space floor; /* of the engine's disk, which is to be free */
	uint32_t keep;           /* the newest of each repository */
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

/* An order came: one that answers a question of ours is completed. */
void disk_watermark_order(struct disk_watermark *watermark,
			  struct message_image_do *order);

/* A state is about to be told: is it of our own act? It may be its end. */
bool disk_watermark_state(struct disk_watermark *watermark,
			  const struct message_image_state *state);

/* Make room until so many bytes are free (0: it is not known how many, the
 * floor must do). done() runs once, from the loop, unless it is cancelled;
 * made: something was removed. NULL: no memory.
 */
typedef void disk_watermark_done_fn(void *arg, bool made);
struct disk_watermark_wait;
struct disk_watermark_wait *
disk_watermark_room(struct disk_watermark *watermark, uint64_t bytes,
		    disk_watermark_done_fn *done, void *arg);
void disk_watermark_cancel(struct disk_watermark_wait *wait); /* NULL is fine */

#endif
