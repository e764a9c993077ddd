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

static const struct image_operation_kind *const kinds[IMAGE_KINDS] = {
	[IMAGE_ENSURE] = &image_operation_ensure,
	[IMAGE_LOAD] = &image_operation_load,
	[IMAGE_SAVE] = &image_operation_save,
	[IMAGE_LIST] = &image_operation_prune,
	[IMAGE_REMOVE] = &image_operation_prune,
	[IMAGE_PRUNE] = &image_operation_prune,
};

static void image_operation_free(struct image_operation *operation)
{
	TAILQ_REMOVE(&operation->operations->list, operation, next);
	operation->operations->count--;
	engine_call_cancel(operation->call);
	loop_source_free(&operation->timer);
	if (operation->kind->clear)
		operation->kind->clear(operation);
	codec_clear(message_kinds[MESSAGE_IMAGE_DO].schema,
		    &operation->message);
	free(operation);
}

struct message_image_state
image_operation_state(const struct image_operation *operation)
{
	return (struct message_image_state){
		.operation = operation->message.spec.id,
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
	log_warning("image operation=%.12s %s failed: %s",
		    operation->message.spec.id,
		    image_kind_names[operation->message.spec.kind], why.text);
	state.progress.phase = (char *)"failed";
	state.code = why.code;
	state.text = why.text;
	image_operation_say(operation, &state);
	image_operation_free(operation);
}

void image_operation_succeed(struct image_operation *operation,
			     const struct message_image_state *given)
{
	struct message_image_state state =
		given ? *given : image_operation_state(operation);

	log_info("image operation=%.12s %s done%s%s",
		 operation->message.spec.id,
		 image_kind_names[operation->message.spec.kind],
		 state.text ? ": " : "", state.text ? state.text : "");
	state.progress.phase = (char *)"ready";
	image_operation_say(operation, &state);
	image_operation_free(operation);
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

/* Can it begin? */
static int operations_check_spec(const struct image_operations *operations,
				 const struct image_spec *spec,
				 struct error *err)
{
	if (!blob_hash_valid(spec->id))
		return error_set(err, EPROTO,
				 "not the id of an image operation");
	if (!spec->image &&
	    (spec->kind == IMAGE_ENSURE || spec->kind == IMAGE_SAVE ||
	     spec->kind == IMAGE_REMOVE))
		return error_set(err, EPROTO, "%s: the image is missing",
				 image_kind_names[spec->kind]);
	if (operations->count >= IMAGE_OPERATIONS_MAX)
		return error_set(err, EBUSY,
				 "%d image operations are already in progress "
				 "on this node",
				 IMAGE_OPERATIONS_MAX);
	return 0;
}

static struct image_operation *
image_operation_new(struct image_operations *operations,
		    struct message_image_do *message, struct error *err)
{
	const struct image_operation_kind *kind = kinds[message->spec.kind];
	struct image_operation *operation;

	if (operations_check_spec(operations, &message->spec, err) < 0)
		return NULL;
	operation = error_calloc(kind->size, "image", err);
	if (!operation)
		return NULL;
	operation->operations = operations;
	operation->config = operations->config;
	operation->kind = kind;
	operation->progress.phase = (char *)kind->phase;
	operation->message = *message;
	memset(message, 0, sizeof(*message));
	TAILQ_INSERT_TAIL(&operations->list, operation, next);
	operations->count++;
	return operation;
}

void image_operations_do(struct image_operations *operations,
			 struct message_image_do *message)
{
	struct image_operation *operation;
	struct message_image_state state = {
		.operation = message->spec.id,
		.progress.phase = (char *)"failed",
	};
	struct error err;

	TAILQ_FOREACH(operation, &operations->list, next)
	{
		if (!strcmp(operation->message.spec.id, message->spec.id)) {
			image_operation_tell(operation);
			return;
		}
	}
	operation = image_operation_new(operations, message, &err);
	if (operation) {
		image_operation_step_in(operation, 0);
		return;
	}
	state.code = err.code;
	state.text = err.text;
	operations->config->tell(operations->config->arg, &state);
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
		image_operation_free(TAILQ_FIRST(&operations->list));
	free(operations);
}
