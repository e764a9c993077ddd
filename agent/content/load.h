/* load.h - images that come as contents, from a file, and go as contents.
 *
 * To load: the recipe is fetched, then its parts one after another, each also
 * from nodes that are still getting it (fetch.h); then they are given to the
 * engine as one tar file. What the engine has already is not fetched. To save:
 * the engine's tar file of an image becomes a content.
 */
#ifndef AGENT_CONTENT_LOAD_H
#define AGENT_CONTENT_LOAD_H

#include "agent/content/fetch.h"
#include "agent/engine/engine.h"
#include "agent/policy/guard.h"

struct loads;

/* All borrowed. */
struct load_config {
	sd_event *loop;
	struct engine *engine;
	struct contents *contents;
	struct fetches *fetches;
	const struct guard *guard; /* it may refuse */
	/* Tell the controller; one that is lost is told again. */
	void (*tell)(void *arg, const struct message_image_state *state);
	void *arg;
};

struct loads *loads_new(const struct load_config *config, struct error *err);
void loads_free(struct loads *loads);
OWNED_POINTER(struct loads, loads_free)

/* Orders may come twice: then it is told how far they are. What cannot be
 * begun is told as failed.
 */
void loads_load(struct loads *loads, const struct message_image_load *order);
void loads_save(struct loads *loads, const struct message_image_save *order);

/* Keep what is needed from being removed as unused. */
void loads_touch(struct loads *loads);

#endif
