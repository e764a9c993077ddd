/* engine_watch.c - asks the engine again and again whether it answers, so that
 * people learn within 5 s that it does not, and no job goes to the node.
 */
#include "agent/engine_watch.h"

#include "protocol/base/log.h"
#include "protocol/base/loop.h"

#include <stdlib.h>

struct engine_watch {
	sd_event *loop;
	struct engine *engine;
	engine_changed_fn *changed;
	void *arg;
	struct engine_call *call;
	sd_event_source *timer;
	bool away;
	struct error why;
};

static void engine_watch_later(struct engine_watch *watch);

static void engine_watch_answered(void *arg, const struct error *err,
				  cJSON *answer)
{
	struct engine_watch *watch = arg;
	bool was = watch->away;

	watch->call = NULL;
	watch->away = err && engine_away(err);
	if (watch->away)
		watch->why = *err;
	engine_watch_later(watch);
	if (watch->away == was)
		return;
	if (watch->away)
		log_warning("the engine is away: %s", err->text);
	else
		log_info("the engine is back");
	watch->changed(watch->arg);
}

static int engine_watch_ask(sd_event_source *source, uint64_t usec, void *arg)
{
	struct engine_watch *watch = arg;

	watch->call = engine_ping(watch->engine, ENGINE_ANSWER_MS,
				  engine_watch_answered, watch, NULL);
	if (!watch->call)
		engine_watch_later(watch);
	return 0;
}

static void engine_watch_later(struct engine_watch *watch)
{
	loop_timer(watch->loop, &watch->timer, ENGINE_ASK_MS, engine_watch_ask,
		   watch, NULL);
}

struct engine_watch *engine_watch_new(sd_event *loop, struct engine *engine,
				      engine_changed_fn *changed, void *arg,
				      struct error *err)
{
	struct engine_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return error_null(error_nomem(err, "engine watch"));
	watch->loop = loop;
	watch->engine = engine;
	watch->changed = changed;
	watch->arg = arg;
	engine_watch_later(watch);
	return watch;
}

void engine_watch_free(struct engine_watch *watch)
{
	if (!watch)
		return;
	engine_call_cancel(watch->call);
	loop_source_free(&watch->timer);
	free(watch);
}

const char *engine_watch_away(const struct engine_watch *watch)
{
	return watch->away ? watch->why.text : NULL;
}
