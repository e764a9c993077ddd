/* keeper.h - room for images on the disk, kept by the node itself.
 *
 * When less than the floor is free, or an image that is to come does not fit,
 * the controller is asked what must stay; its answer is an order to gc, which
 * then goes by this node's own floor and keep. Nothing is removed without a
 * controller. What was removed is told to it (message_image_state, by_itself).
 */
#ifndef AGENT_IMAGES_KEEPER_H
#define AGENT_IMAGES_KEEPER_H

#include "agent/engine/engine.h"
#include "protocol/base/owned.h"
#include "protocol/config/free_space.h"
#include "protocol/message/message.h"

#define KEEPER_FIRST_MS 2000   /* until the first look at the disk */
#define KEEPER_LOOK_MS 60000   /* between looks at the disk */
#define KEEPER_VAIN_MS 600000  /* after one that found nothing to remove */
#define KEEPER_ANSWER_MS 10000 /* that the controller has to answer */

/* All borrowed. */
struct keeper_config {
	sd_event *loop;
	struct engine *engine;   /* on this machine */
	struct free_space floor; /* of the engine's disk, which is to be free */
	uint32_t keep;           /* the newest of each repository */
	/* Ask the controller; -1: not now. */
	int (*ask)(void *arg, const struct message_image_room *room);
	void *arg;
};

struct keeper;
struct keeper *keeper_new(const struct keeper_config *config,
			  struct error *err);
void keeper_free(struct keeper *keeper); /* NULL is fine */
OWNED_POINTER(struct keeper, keeper_free)

/* An order came: one that answers a question of ours is completed. */
void keeper_order(struct keeper *keeper, struct message_image_do *order);

/* A state is about to be told: is it of our own act? It may be its end. */
bool keeper_state(struct keeper *keeper,
		  const struct message_image_state *state);

/* Make room until so many bytes are free (0: it is not known how many, the
 * floor must do). done() runs once, from the loop, unless it is cancelled;
 * made: something was removed. NULL: no memory.
 */
typedef void keeper_done_fn(void *arg, bool made);
struct keeper_wait;
struct keeper_wait *keeper_room(struct keeper *keeper, uint64_t bytes,
				keeper_done_fn *done, void *arg);
void keeper_cancel(struct keeper_wait *wait); /* NULL is fine */

#endif
