/* acts.c - what people order to be done with this node's images.
 */
#include "agent/images/act.h"

#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TELL_MS 500
#define RETRY_MS 2000
#define RETRIES_MAX 60 /* while the engine is away */
#define ACTS_MAX 256

struct acts {
	const struct acts_config *config;
	TAILQ_HEAD(, act) list;
	size_t count;
};

static const struct act_kind *const kinds[] = {
	&act_load, &act_save, &act_build, &act_list, &act_remove, &act_gc,
};

static const struct schema *order_schema(void)
{
	return message_kinds[MESSAGE_IMAGE_DO].schema;
}

static void act_free(struct act *act)
{
	TAILQ_REMOVE(&act->acts->list, act, next);
	act->acts->count--;
	if (act->call)
		engine_call_cancel(act->call);
	loop_source_free(&act->timer);
	if (act->kind->clear)
		act->kind->clear(act);
	codec_clear(order_schema(), &act->order);
	free(act);
}

struct message_image_state act_state(const struct act *act)
{
	return (struct message_image_state){
		.order = act->order.order,
		.phase = (char *)act->phase,
		.done_bytes = act->done,
		.total_bytes = act->total,
	};
}

void act_say(struct act *act, const struct message_image_state *state)
{
	act->told_ms = clock_mono_ms();
	act->config->tell(act->config->arg, state);
}

void act_tell(struct act *act)
{
	struct message_image_state state = act_state(act);

	act_say(act, &state);
}

void act_tell_sometimes(struct act *act)
{
	if (clock_mono_ms() - act->told_ms >= TELL_MS)
		act_tell(act);
}

void act_fail(struct act *act, const struct error *err)
{
	struct message_image_state state = act_state(act);

	log_warning("image order=%.12s %s failed: %s", act->order.order,
		    act->kind->name, err->text);
	state.phase = (char *)"failed";
	state.code = err->code;
	state.text = (char *)err->text;
	act_say(act, &state);
	act_free(act);
}

void act_succeed(struct act *act, const struct message_image_state *given)
{
	struct message_image_state state = given ? *given : act_state(act);

	log_info("image order=%.12s %s done%s%s", act->order.order,
		 act->kind->name, state.text ? ": " : "",
		 state.text ? state.text : "");
	state.phase = (char *)"ready";
	act_say(act, &state);
	act_free(act);
}

static int step_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct act *act = arg;
	struct error err;

	if (act->kind->allowed(act, &err) < 0)
		act_fail(act, &err);
	else
		act->kind->step(act);
	return 0;
}

void act_step_in(struct act *act, uint64_t delay_ms)
{
	loop_timer(act->config->loop, &act->timer, delay_ms, step_run, act,
		   NULL);
}

bool act_engine_away(const struct error *err)
{
	return err->code == ECONNREFUSED || err->code == ECONNRESET ||
	       err->code == ETIMEDOUT;
}

bool act_retry(struct act *act, const struct error *err)
{
	if (!act_engine_away(err) || act->retries++ >= RETRIES_MAX)
		return false;
	if (act->kind->again)
		act->kind->again(act);
	act_step_in(act, RETRY_MS);
	return true;
}

/* Orders. */

static const struct act_kind *kind_named(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i]->name, name))
			return kinds[i];
	return NULL;
}

/* Is all there that the kind needs? */
static int check(const struct acts *acts, const struct message_image_do *order,
		 const struct act_kind *kind, struct error *err)
{
	if (!content_hash_valid(order->order))
		return error_set(err, EPROTO, "not the name of an order");
	if (!kind)
		return error_set(err, EPROTO,
				 "'%.40s' is nothing that this agent does with "
				 "images",
				 order->what);
	if ((!order->image && (kind == &act_save || kind == &act_remove)) ||
	    (kind == &act_build && !(order->image && order->build)))
		return error_set(err, EPROTO, "%s: of which image?",
				 kind->name);
	if (acts->count >= ACTS_MAX)
		return error_set(err, EBUSY,
				 "%d image orders are under way here already",
				 ACTS_MAX);
	return 0;
}

static void refuse(struct acts *acts, const struct message_image_do *order,
		   const struct error *err)
{
	struct message_image_state state = {
		.order = order->order,
		.phase = (char *)"failed",
		.code = err->code,
		.text = (char *)err->text,
	};

	acts->config->tell(acts->config->arg, &state);
}

void acts_do(struct acts *acts, struct message_image_do *order)
{
	const struct act_kind *kind = kind_named(order->what);
	struct error err;
	struct act *act;

	TAILQ_FOREACH(act, &acts->list, next)
	{
		if (!strcmp(act->order.order, order->order)) {
			act_tell(act);
			return;
		}
	}
	if (check(acts, order, kind, &err) < 0) {
		refuse(acts, order, &err);
		return;
	}
	act = calloc(1, kind->size);
	if (!act) {
		error_nomem(&err, "image");
		refuse(acts, order, &err);
		return;
	}
	act->acts = acts;
	act->config = acts->config;
	act->kind = kind;
	act->phase = kind->phase;
	act->order = *order;
	memset(order, 0, sizeof(*order));
	TAILQ_INSERT_TAIL(&acts->list, act, next);
	acts->count++;
	act_step_in(act, 0);
}

void acts_touch(struct acts *acts)
{
	struct act *act;

	TAILQ_FOREACH(act, &acts->list, next)
	{
		if (act->kind->touch)
			act->kind->touch(act);
	}
}

struct acts *acts_new(const struct acts_config *config, struct error *err)
{
	struct acts *acts = calloc(1, sizeof(*acts));

	if (!acts) {
		error_nomem(err, "images");
		return NULL;
	}
	TAILQ_INIT(&acts->list);
	acts->config = config;
	return acts;
}

void acts_free(struct acts *acts)
{
	if (!acts)
		return;
	while (!TAILQ_EMPTY(&acts->list))
		act_free(TAILQ_FIRST(&acts->list));
	free(acts);
}
