/* image_operation_pull.c - an image pulled before a job asks for it, in the
 * very same way.
 */
#include "agent/images/image_operations_internal.h"

#include "protocol/base/file.h"

#include <errno.h>
#include <stdio.h>

struct pull_operation {
	struct image_operation operation;
	struct image_wait *wait;
	struct image_progress now;
	bool pulled; /* else it was there already */
};

static void pull_clear(struct image_operation *operation)
{
	struct pull_operation *pull = (struct pull_operation *)operation;

	image_release(pull->wait);
}

static void tell_progress(struct pull_operation *pull)
{
	const struct image_progress *now = &pull->now;
	struct image_operation *operation = &pull->operation;
	bool extracting = now->phase == IMAGE_EXTRACTING;
	struct message_image_state state;

	operation->phase = image_phase_name(now->phase);
	operation->done = extracting ? now->extracted : now->bytes;
	operation->total = now->bytes_total;
	state = image_operation_state(operation);
	state.partial = now->partial;
	state.rate = now->rate;
	state.layers = now->layers;
	state.layers_total = now->layers_total;
	state.tries = now->attempt;
	image_operation_say(operation, &state);
}

/* It comes at most five times a second. */
static void on_progress(void *arg, const struct image_progress *progress)
{
	struct pull_operation *pull = arg;

	pull->now = *progress;
	pull->pulled = true;
	tell_progress(pull);
}

static void on_done(void *arg, const struct error *err,
		    const struct image *image)
{
	struct pull_operation *pull = arg;
	struct image_operation *operation = &pull->operation;
	struct message_image_state state;
	char text[800];

	pull->wait = NULL;
	/* A time-out is the registry's: it was tried again already. */
	if (err && err->code != ETIMEDOUT &&
	    image_operation_retry(operation, err))
		return;
	if (err) {
		image_operation_fail(operation, err);
		return;
	}
	snprintf(text, sizeof(text), "%s%s", image->reference,
		 pull->pulled ? "" : ", which already existed");
	operation->done = operation->total = image->size_bytes;
	state = image_operation_state(operation);
	state.text = text;
	image_operation_succeed(operation, &state);
}

static void pull_step(struct image_operation *operation)
{
	struct pull_operation *pull = (struct pull_operation *)operation;
	const struct image_wanted wanted = {
		.reference = operation->order.image,
		.logins = operation->order.logins,
		.logins_count = operation->order.logins_count,
	};
	struct error err;

	image_operation_tell(operation);
	pull->wait = image_ensure(operation->config->images, &wanted,
				  on_progress, on_done, pull, &err);
	if (!pull->wait)
		image_operation_fail(operation, &err);
}

static int pull_allowed(const struct image_operation *operation,
			struct error *err)
{
	return node_policy_pull(operation->config->node_policy,
				operation->order.image, err);
}

const struct image_operation_kind image_operation_pull = {
	.name = "pull",
	.phase = "checking",
	.size = sizeof(struct pull_operation),
	.allowed = pull_allowed,
	.step = pull_step,
	.clear = pull_clear,
};
