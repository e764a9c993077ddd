/* engine_watch.h - asks the engine again and again whether it answers, so that
 * people learn within 5 s that it does not, and no job goes to the node.
 *
 * An engine is away when a question fails or is not answered within
 * ENGINE_ANSWER_MS, and back with the next answer. The question is
 * engine_ping(), so that a benchmark does not feel it.
 */
#pragma once

#include "agent/docker/engine.h"

#define ENGINE_ASK_MS 2000 /* between an answer and the next question */
#define ENGINE_ANSWER_MS 2500

typedef void engine_changed_fn(void *arg);

/* Arguments are borrowed. changed() runs when the engine went away or came
 * back. Free it before the engine.
 */
struct engine_watch;
struct engine_watch *engine_watch_new(sd_event *loop, struct engine *engine,
				      engine_changed_fn *changed, void *arg,
				      struct error *err);
void engine_watch_free(struct engine_watch *watch);
OWNED_POINTER(struct engine_watch, engine_watch_free)

/* Why the engine is away; NULL: it answers. */
const char *engine_watch_away(const struct engine_watch *watch);
