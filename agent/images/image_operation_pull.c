/* image_operation_pull.c - an image pulled before a job asks for it, in the
 * very same way.
 */
#include "agent/images/image_operations_internal.h"

#include "protocol/base/file.h"

#include <errno.h>
#include <stdio.h>

struct pull_operation {
	struct image_operation act;
	struct image_wait *wait;
	struct image_progress now;
	bool pulled; /* else it was there already */
};

static void pull_clear(struct image_operation *act)
{
	struct pull_operation *pull = (struct pull_operation *)act;

	image_release(pull->wait);
}

static void tell_progress(struct pull_operation *pull)
{
	const struct image_progress *now = &pull->now;
	struct image_operation *act = &pull->act;
	bool extracting = now->phase == IMAGE_EXTRACTING;
	struct message_image_state state;

	act->phase = image_phase_name(now->phase);
	act->done = extracting ? now->extracted : now->bytes;
	act->total = now->bytes_total;
	state = image_operation_state(act);
	state.partial = now->partial;
	state.rate = now->rate;
	state.layers = now->layers;
	state.layers_total = now->layers_total;
	state.tries = now->attempt;
	image_operation_say(act, &state);
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
	struct image_operation *act = &pull->act;
	struct message_image_state state;
	char text[800];

	pull->wait = NULL;
	/* A time-out is the registry's: it was tried again already. */
	if (err && err->code != ETIMEDOUT && image_operation_retry(act, err))
		return;
	if (err) {
		image_operation_fail(act, err);
		return;
	}
	snprintf(text, sizeof(text), "%s%s", image->reference,
		 pull->pulled ? "" : ", which already existed");
	act->done = act->total = image->size_bytes;
	state = image_operation_state(act);
	state.text = text;
	image_operation_succeed(act, &state);
}

static void pull_step(struct image_operation *act)
{
	struct pull_operation *pull = (struct pull_operation *)act;
	const struct image_wanted wanted = {
		.reference = act->order.image,
		.logins = act->order.logins,
		.logins_count = act->order.logins_count,
	};
	struct error err;

	image_operation_tell(act);
	pull->wait = image_ensure(act->config->images, &wanted, on_progress,
				  on_done, pull, &err);
	if (!pull->wait)
		image_operation_fail(act, &err);
}

static int pull_allowed(const struct image_operation *act, struct error *err)
{
	return node_policy_pull(act->config->node_policy, act->order.image,
				err);
}

const struct image_operation_kind image_operation_pull = {
	.name = "pull",
	.phase = "checking",
	.size = sizeof(struct pull_operation),
	.allowed = pull_allowed,
	.step = pull_step,
	.clear = pull_clear,
};
