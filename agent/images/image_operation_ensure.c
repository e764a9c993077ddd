/* image_operation_ensure.c - pulls or builds an image before a job asks for it,
 * in the same way.
 */
#include "agent/images/image_operations_internal.h"

#include "protocol/base/clock.h"

#include <errno.h>
#include <string.h>

#define OUTPUT_MAX (64 << 10) /* bytes told at once */
#define OUTPUT_MS 200

struct ensure {
	struct image_operation operation;
	struct image_wait *wait;
	struct buffer output; /* of a build, not yet told */
	bool due;             /* a step that reports it is planned */
	bool made;            /* false: the image existed */
};

static void ensure_clear(struct image_operation *operation)
{
	struct ensure *ensure = (struct ensure *)operation;

	image_release(ensure->wait);
	buffer_clear(&ensure->output);
}

static void ensure_tell(struct ensure *ensure)
{
	struct message_image_state state =
		image_operation_state(&ensure->operation);

	if (ensure->output.size)
		state.output = ensure->output.data;
	image_operation_say(&ensure->operation, &state);
	buffer_clear(&ensure->output);
}

/* Output is collected and reported at most five times a second. */
static void ensure_keep_output(struct ensure *ensure, const char *output)
{
	/* Output that does not fit at once is left out. */
	if (buffer_text(&ensure->output, output, NULL) < 0) {
		ensure_tell(ensure);
		buffer_text(&ensure->output, output, NULL);
	}
	if (clock_mono_ms() - ensure->operation.told_ms >= OUTPUT_MS) {
		ensure_tell(ensure);
	} else if (!ensure->due) {
		ensure->due = true;
		image_operation_step_in(&ensure->operation, OUTPUT_MS);
	}
}

static void ensure_take_news(void *arg, const struct image_news *news)
{
	struct ensure *ensure = arg;

	ensure->made = true;
	ensure->operation.progress = news->progress;
	ensure->operation.progress.moving_count = 0;
	if (news->output)
		ensure_keep_output(ensure, news->output);
	else
		ensure_tell(ensure);
}

static void on_done(void *arg, const struct error *err,
		    const struct image *image)
{
	struct ensure *ensure = arg;
	struct image_operation *operation = &ensure->operation;
	struct message_image_state state;
	char text[800];

	ensure->wait = NULL;
	if (ensure->output.size)
		ensure_tell(ensure);
	/* A build is tried once. After a time-out of the registry, the pull was
	 * already tried again.
	 */
	if (err && !operation->message.spec.build && err->code != ETIMEDOUT &&
	    image_operation_retry(operation, err))
		return;
	if (err) {
		image_operation_fail(operation, err);
		return;
	}
	snprintf(text, sizeof(text), "%s%s", image->reference,
		 ensure->made ? "" : ", which already existed");
	operation->progress.done_bytes = operation->progress.total_bytes =
		image->size_bytes;
	state = image_operation_state(operation);
	state.text = text;
	image_operation_succeed(operation, &state);
}

static void ensure_step(struct image_operation *operation)
{
	struct ensure *ensure = (struct ensure *)operation;
	const struct image_wanted wanted = {
		.reference = operation->message.spec.image,
		.build = operation->message.spec.build,
		.logins = operation->message.spec.logins,
		.logins_count = operation->message.spec.logins_count,
	};
	struct error err;

	ensure->due = false;
	if (ensure->wait) {
		ensure_tell(ensure);
		return;
	}
	buffer_init(&ensure->output, OUTPUT_MAX);
	image_operation_tell(operation);
	ensure->wait = image_ensure(operation->config->images, &wanted,
				    ensure_take_news, on_done, ensure, &err);
	if (!ensure->wait)
		image_operation_fail(operation, &err);
}

static int ensure_allowed(const struct image_operation *operation,
			  struct error *err)
{
	const struct node_policy *policy = operation->config->node_policy;
	const struct image_spec *spec = &operation->message.spec;

	return spec->build ? node_policy_build(policy, spec->image, spec->build,
					       err)
			   : policy_image_check(node_policy_rules(policy),
						spec->image, err);
}

const struct image_operation_kind image_operation_ensure = {
	.phase = "checking",
	.size = sizeof(struct ensure),
	.allowed = ensure_allowed,
	.step = ensure_step,
	.clear = ensure_clear,
};
