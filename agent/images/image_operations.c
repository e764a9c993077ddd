/* image_operations.c - carries out what people order for this node's images.
 */
#include "agent/images/id_error.h"
#include "agent/images/image_operations_internal.h"

#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TELL_MS 500
#define RETRY_MS 2000
#define RETRIES_MAX 60 /* while the engine is away */
#define IMAGE_OPERATIONS_MAX 256

struct image_operations {
	const struct image_operations_config *config;
	TAILQ_HEAD(, image_operation) list;
	size_t count;
};

static const struct image_operation_kind *const kinds[] = {
	&image_operation_load, &image_operation_save, &image_operation_build,
	&image_operation_pull, &image_operation_list, &image_operation_remove,
	&image_operation_gc,
};

static const struct schema *order_schema(void)
{
	return message_kinds[MESSAGE_IMAGE_DO].schema;
}

static void act_free(struct image_operation *act)
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

struct message_image_state
image_operation_state(const struct image_operation *act)
{
	return (struct message_image_state){
		.order = act->order.order,
		.phase = (char *)act->phase,
		.done_bytes = act->done,
		.total_bytes = act->total,
	};
}

void image_operation_say(struct image_operation *act,
			 const struct message_image_state *state)
{
	act->told_ms = clock_mono_ms();
	act->config->tell(act->config->arg, state);
}

void image_operation_tell(struct image_operation *act)
{
	struct message_image_state state = image_operation_state(act);

	image_operation_say(act, &state);
}

void image_operation_tell_sometimes(struct image_operation *act)
{
	if (clock_mono_ms() - act->told_ms >= TELL_MS)
		image_operation_tell(act);
}

void image_operation_fail(struct image_operation *act, const struct error *err)
{
	struct message_image_state state = image_operation_state(act);
	struct error why = *err;

	id_error_explain(&why);
	log_warning("image order=%.12s %s failed: %s", act->order.order,
		    act->kind->name, why.text);
	state.phase = (char *)"failed";
	state.code = why.code;
	state.text = why.text;
	image_operation_say(act, &state);
	act_free(act);
}

void image_operation_succeed(struct image_operation *act,
			     const struct message_image_state *given)
{
	struct message_image_state state =
		given ? *given : image_operation_state(act);

	log_info("image order=%.12s %s done%s%s", act->order.order,
		 act->kind->name, state.text ? ": " : "",
		 state.text ? state.text : "");
	state.phase = (char *)"ready";
	image_operation_say(act, &state);
	act_free(act);
}

static int step_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct image_operation *act = arg;
	struct error err;

	if (act->kind->allowed(act, &err) < 0)
		image_operation_fail(act, &err);
	else
		act->kind->step(act);
	return 0;
}

void image_operation_step_in(struct image_operation *act, uint64_t delay_ms)
{
	loop_timer(act->config->loop, &act->timer, delay_ms, step_run, act,
		   NULL);
}

bool image_operation_engine_away(const struct error *err)
{
	return err->code == ECONNREFUSED || err->code == ECONNRESET ||
	       err->code == ETIMEDOUT;
}

bool image_operation_retry(struct image_operation *act, const struct error *err)
{
	if (!image_operation_engine_away(err) || act->retries++ >= RETRIES_MAX)
		return false;
	if (act->kind->again)
		act->kind->again(act);
	image_operation_step_in(act, RETRY_MS);
	return true;
}

/* Orders. */

static const struct image_operation_kind *kind_named(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i]->name, name))
			return kinds[i];
	return NULL;
}

/* Is all there that the kind needs? */
static int check(const struct image_operations *acts,
		 const struct message_image_do *order,
		 const struct image_operation_kind *kind, struct error *err)
{
	if (!content_hash_valid(order->order))
		return error_set(err, EPROTO,
				 "not the name of an image request");
	if (!kind)
		return error_set(err, EPROTO,
				 "'%.40s' is not an image request that this "
				 "agent knows",
				 order->what);
	if ((!order->image &&
	     (kind == &image_operation_save || kind == &image_operation_pull ||
	      kind == &image_operation_remove)) ||
	    (kind == &image_operation_build && !(order->image && order->build)))
		return error_set(err, EPROTO, "%s: the image is missing",
				 kind->name);
	if (acts->count >= IMAGE_OPERATIONS_MAX)
		return error_set(err, EBUSY,
				 "%d image requests are already in progress on "
				 "this node",
				 IMAGE_OPERATIONS_MAX);
	return 0;
}

static void refuse(struct image_operations *acts,
		   const struct message_image_do *order,
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

void image_operations_do(struct image_operations *acts,
			 struct message_image_do *order)
{
	const struct image_operation_kind *kind = kind_named(order->what);
	struct error err;
	struct image_operation *act;

	TAILQ_FOREACH(act, &acts->list, next)
	{
		if (!strcmp(act->order.order, order->order)) {
			image_operation_tell(act);
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
	image_operation_step_in(act, 0);
}

void image_operations_touch(struct image_operations *acts)
{
	struct image_operation *act;

	TAILQ_FOREACH(act, &acts->list, next)
	{
		if (act->kind->touch)
			act->kind->touch(act);
	}
}

struct image_operations *
image_operations_new(const struct image_operations_config *config,
		     struct error *err)
{
	struct image_operations *acts = calloc(1, sizeof(*acts));

	if (!acts) {
		error_nomem(err, "images");
		return NULL;
	}
	TAILQ_INIT(&acts->list);
	acts->config = config;
	return acts;
}

void image_operations_free(struct image_operations *acts)
{
	if (!acts)
		return;
	while (!TAILQ_EMPTY(&acts->list))
		act_free(TAILQ_FIRST(&acts->list));
	free(acts);
}
