/* acts.h - what people order to be done with this node's images.
 *
 * An act is one order under way: to load, save, build, list or remove images,
 * or to remove those that nobody needs (gc). It tells the controller how far it
 * is, and what came of it. Orders may come twice: then it is told again how far
 * they are.
 */
#ifndef AGENT_IMAGES_ACTS_H
#define AGENT_IMAGES_ACTS_H

#include "agent/content/fetch.h"
#include "agent/engine/image.h"
#include "agent/images/record.h"
#include "agent/policy/guard.h"

struct acts;

/* What the agent's own tasks need now: a list that the caller of needs() frees,
 * with texts that are borrowed until it returns to the loop. -1: no memory.
 */
typedef int acts_needs_fn(void *arg, struct image_need **list, size_t *count,
			  struct error *err);

/* All borrowed. */
struct acts_config {
	sd_event *loop;
	struct engine *engine;
	bool local; /* the engine's folder is on this machine */
	struct blob_store *contents;
	struct fetches *fetches;
	struct images *images;
	struct record *record;
	const struct guard *guard; /* it may refuse */
	acts_needs_fn *needs;
	/* Tell the controller; one that is lost is told again. */
	void (*tell)(void *arg, const struct message_image_state *state);
	void *arg;
};

struct acts *acts_new(const struct acts_config *config, struct error *err);
void acts_free(struct acts *acts);
OWNED_POINTER(struct acts, acts_free)

/* The order is moved. What cannot be begun is told as failed. */
void acts_do(struct acts *acts, struct message_image_do *order);

/* Keep contents that are needed from being removed as unused. */
void acts_touch(struct acts *acts);

#endif
