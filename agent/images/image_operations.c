/* image_operations.c - carries out requests for this node's images.
 */
#include "agent/images/id_error.h"
#include "agent/images/image_operations_internal.h"

#include "protocol/base/clock.h"
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

static void operation_free(struct image_operation *operation)
{
	TAILQ_REMOVE(&operation->operations->list, operation, next);
	operation->operations->count--;
	engine_call_cancel(operation->call);
	loop_source_free(&operation->timer);
	if (operation->kind->clear)
		operation->kind->clear(operation);
	codec_clear(order_schema(), &operation->order);
	free(operation);
}

struct message_image_state
image_operation_state(const struct image_operation *operation)
{
	return (struct message_image_state){
		.order = operation->order.order,
		.progress = operation->progress,
	};
}

void image_operation_say(struct image_operation *operation,
			 const struct message_image_state *state)
{
	operation->told_ms = clock_mono_ms();
	operation->config->tell(operation->config->arg, state);
}

void image_operation_tell(struct image_operation *operation)
{
	struct message_image_state state = image_operation_state(operation);

	image_operation_say(operation, &state);
}

void image_operation_tell_sometimes(struct image_operation *operation)
{
	if (clock_mono_ms() - operation->told_ms >= TELL_MS)
		image_operation_tell(operation);
}

void image_operation_fail(struct image_operation *operation,
			  const struct error *err)
{
	struct message_image_state state = image_operation_state(operation);
	struct error why = *err;

	id_error_explain(&why);
	log_warning("image request=%.12s %s failed: %s", operation->order.order,
		    operation->kind->name, why.text);
	state.progress.phase = (char *)"failed";
	state.code = why.code;
	state.text = why.text;
	image_operation_say(operation, &state);
	operation_free(operation);
}

void image_operation_succeed(struct image_operation *operation,
			     const struct message_image_state *given)
{
	struct message_image_state state =
		given ? *given : image_operation_state(operation);

	log_info("image request=%.12s %s done%s%s", operation->order.order,
		 operation->kind->name, state.text ? ": " : "",
		 state.text ? state.text : "");
	state.progress.phase = (char *)"ready";
	image_operation_say(operation, &state);
	operation_free(operation);
}

static int image_operation_run_step(sd_event_source *source, uint64_t usec,
				    void *arg)
{
	struct image_operation *operation = arg;
	struct error err;

	if (operation->kind->allowed &&
	    operation->kind->allowed(operation, &err) < 0)
		image_operation_fail(operation, &err);
	else
		operation->kind->step(operation);
	return 0;
}

void image_operation_step_in(struct image_operation *operation,
			     uint64_t delay_ms)
{
	loop_timer(operation->config->loop, &operation->timer, delay_ms,
		   image_operation_run_step, operation, NULL);
}

bool image_operation_retry(struct image_operation *operation,
			   const struct error *err)
{
	if (!engine_away(err) || operation->retries++ >= RETRIES_MAX)
		return false;
	if (operation->kind->again)
		operation->kind->again(operation);
	image_operation_step_in(operation, RETRY_MS);
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

/* Is the order valid, and is there a free place for it? */
static int operations_check_order(const struct image_operations *operations,
				  const struct message_image_do *order,
				  const struct image_operation_kind *kind,
				  struct error *err)
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
	if (operations->count >= IMAGE_OPERATIONS_MAX)
		return error_set(err, EBUSY,
				 "%d image requests are already in progress on "
				 "this node",
				 IMAGE_OPERATIONS_MAX);
	return 0;
}

static void operations_refuse_order(struct image_operations *operations,
				    const struct message_image_do *order,
				    const struct error *err)
{
	struct message_image_state state = {
		.order = order->order,
		.progress.phase = (char *)"failed",
		.code = err->code,
		.text = (char *)err->text,
	};

	operations->config->tell(operations->config->arg, &state);
}

void image_operations_do(struct image_operations *operations,
			 struct message_image_do *order)
{
	const struct image_operation_kind *kind = kind_named(order->what);
	struct error err;
	struct image_operation *operation;

	TAILQ_FOREACH(operation, &operations->list, next)
	{
		if (!strcmp(operation->order.order, order->order)) {
			image_operation_tell(operation);
			return;
		}
	}
	if (operations_check_order(operations, order, kind, &err) < 0) {
		operations_refuse_order(operations, order, &err);
		return;
	}
	operation = calloc(1, kind->size);
	if (!operation) {
		error_nomem(&err, "image");
		operations_refuse_order(operations, order, &err);
		return;
	}
	operation->operations = operations;
	operation->config = operations->config;
	operation->kind = kind;
	operation->progress.phase = (char *)kind->phase;
	operation->order = *order;
	memset(order, 0, sizeof(*order));
	TAILQ_INSERT_TAIL(&operations->list, operation, next);
	operations->count++;
	image_operation_step_in(operation, 0);
}

void image_operations_touch(struct image_operations *operations)
{
	struct image_operation *operation;

	TAILQ_FOREACH(operation, &operations->list, next)
	{
		if (operation->kind->touch)
			operation->kind->touch(operation);
	}
}

struct image_operations *
image_operations_new(const struct image_operations_config *config,
		     struct error *err)
{
	struct image_operations *operations =
		error_calloc(sizeof(*operations), "images", err);

	if (!operations)
		return NULL;
	TAILQ_INIT(&operations->list);
	operations->config = config;
	return operations;
}

void image_operations_free(struct image_operations *operations)
{
	if (!operations)
		return;
	while (!TAILQ_EMPTY(&operations->list))
		operation_free(TAILQ_FIRST(&operations->list));
	free(operations);
}
