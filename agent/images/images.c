/* images.c - the images of this node: what tasks need of them, and what the
 * controller asks to be done with them.
 */
#include "agent/images/images.h"

#include "agent/images/images_internal.h"

#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define STALL_MS 120000
#define PULL_RETRY_MS 1000
#define TELL_MS 500
#define RETRY_MS 2000
#define RETRIES_MAX 60 /* while the engine is away */
#define IMAGE_OPERATIONS_MAX 256

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
	TAILQ_REMOVE(&operation->images->operations, operation, next);
	operation->images->count--;
	engine_call_cancel(operation->call);
	loop_source_free(&operation->timer);
	if (operation->kind->clear)
		operation->kind->clear(operation);
	codec_clear(message_kinds[MESSAGE_IMAGE_DO].schema,
		    &operation->message);
	free(operation);
}

static void images_say(const struct images *images,
		       const struct message_image_state *state)
{
	const struct image_services *services = &images->services;
	struct message_image_state told = *state;

	told.by_itself = services->watermark &&
			 disk_watermark_state(services->watermark, state);
	services->say(services->arg, MESSAGE_IMAGE_STATE, &told, NULL, 0);
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
	images_say(operation->images, state);
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

	log_warning("image operation=%.12s %s failed: %s",
		    operation->message.spec.id,
		    image_kind_names[operation->message.spec.kind], err->text);
	state.progress.phase = (char *)"failed";
	state.code = err->code;
	state.text = (char *)err->text;
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
	loop_timer(operation->services->loop, &operation->timer, delay_ms,
		   image_operation_run_step, operation, NULL);
}

void image_operation_go_on(struct image_operation *operation, int rc,
			   const struct error *err)
{
	if (rc < 0)
		image_operation_fail(operation, err);
	else
		image_operation_step_in(operation, 0);
}

void image_operation_await(struct image_operation *operation,
			   struct engine_call *call, const struct error *err)
{
	operation->call = call;
	if (!call)
		image_operation_fail(operation, err);
}

bool image_operation_answered(struct image_operation *operation,
			      const struct error *err)
{
	operation->call = NULL;
	if (!err || !engine_away(err) || operation->retries++ >= RETRIES_MAX)
		return true;
	image_operation_step_in(operation, RETRY_MS);
	return false;
}

/* Can it begin? */
static int images_check_spec(const struct images *images,
			     const struct image_spec *spec, struct error *err)
{
	if (!blob_hash_valid(spec->id))
		return error_set(err, EPROTO,
				 "not the id of an image operation");
	if (!spec->image &&
	    (spec->kind == IMAGE_ENSURE || spec->kind == IMAGE_SAVE ||
	     spec->kind == IMAGE_REMOVE))
		return error_set(err, EPROTO, "%s: the image is missing",
				 image_kind_names[spec->kind]);
	if (images->count >= IMAGE_OPERATIONS_MAX)
		return error_set(err, EBUSY,
				 "%d image operations are already in progress "
				 "on this node",
				 IMAGE_OPERATIONS_MAX);
	return 0;
}

static struct image_operation *
image_operation_new(struct images *images, struct message_image_do *message,
		    struct error *err)
{
	const struct image_operation_kind *kind = kinds[message->spec.kind];
	struct image_operation *operation;

	if (images_check_spec(images, &message->spec, err) < 0)
		return NULL;
	operation = error_calloc(kind->size, "image", err);
	if (!operation)
		return NULL;
	operation->images = images;
	operation->services = &images->services;
	operation->kind = kind;
	operation->progress.phase = (char *)kind->phase;
	operation->message = *message;
	memset(message, 0, sizeof(*message));
	TAILQ_INSERT_TAIL(&images->operations, operation, next);
	images->count++;
	return operation;
}

void images_do(struct images *images, struct message_image_do *message)
{
	struct image_operation *operation;
	struct message_image_state state = {
		.operation = message->spec.id,
		.progress.phase = (char *)"failed",
	};
	struct error err;

	if (images->services.watermark)
		disk_watermark_answer(images->services.watermark,
				      &message->spec);
	TAILQ_FOREACH(operation, &images->operations, next) {
		if (!strcmp(operation->message.spec.id, message->spec.id)) {
			image_operation_tell(operation);
			return;
		}
	}
	operation = image_operation_new(images, message, &err);
	if (operation) {
		image_operation_step_in(operation, 0);
		return;
	}
	state.code = err.code;
	state.text = err.text;
	images_say(images, &state);
}

void images_touch(struct images *images)
{
	struct image_operation *operation;

	TAILQ_FOREACH(operation, &images->operations, next)
		if (operation->kind->touch)
			operation->kind->touch(operation);
}

/* Creation and release. */

struct images *images_new(const struct image_services *services,
			  struct error *err)
{
	owned(images_free) struct images *images =
		error_calloc(sizeof(*images), "images", err);
	struct image_services *own;

	if (!images)
		return NULL;
	TAILQ_INIT(&images->ensures);
	TAILQ_INIT(&images->operations);
	randombytes_buf(images->key, sizeof(images->key));
	own = &images->services;
	*own = *services;
	if (!own->stall_ms)
		own->stall_ms = STALL_MS;
	if (!own->retry_ms)
		own->retry_ms = PULL_RETRY_MS;
	own->usage = image_usage_new(own->loop, own->state, err);
	if (!own->usage)
		return NULL;
	if (free_space_is_set(&own->floor) &&
	    !(own->watermark = disk_watermark_new(own, err)))
		return NULL;
	return take(images);
}

void images_free(struct images *images)
{
	if (!images)
		return;
	while (!TAILQ_EMPTY(&images->operations))
		image_operation_free(TAILQ_FIRST(&images->operations));
	while (!TAILQ_EMPTY(&images->ensures))
		image_ensure_free(TAILQ_FIRST(&images->ensures));
	strings_clear(&images->asked);
	strings_clear(&images->confirmed);
	disk_watermark_free(images->services.watermark);
	image_usage_free(images->services.usage);
	free(images);
}
