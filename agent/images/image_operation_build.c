/* image_operation_build.c - an image built before a job asks for it, in the
 * very same way.
 */
#include "agent/images/image_operations_internal.h"

#include "protocol/base/clock.h"

#include <inttypes.h>
#include <string.h>

#define OUTPUT_MAX (64 << 10) /* bytes told at once */
#define OUTPUT_MS 200

struct build_operation {
	struct image_operation operation;
	struct image_wait *wait;
	struct buffer output; /* not yet told */
	bool due;             /* a step is coming, to tell it */
	bool built;           /* else it was there already */
};

static void build_clear(struct image_operation *operation)
{
	struct build_operation *build = (struct build_operation *)operation;

	image_release(build->wait);
	buffer_clear(&build->output);
}

static void tell_output(struct build_operation *build)
{
	struct message_image_state state =
		image_operation_state(&build->operation);

	if (build->output.size)
		state.output = build->output.data;
	image_operation_say(&build->operation, &state);
	buffer_clear(&build->output);
}

static void on_progress(void *arg, const struct image_progress *progress)
{
	struct build_operation *build = arg;
	struct image_operation *operation = &build->operation;

	if (progress->phase == IMAGE_BUILDING) {
		build->built = true;
		operation->phase = "building";
	}
	if (progress->output) {
		/* What is too much at once is lost; it is the node's words. */
		if (buffer_text(&build->output, progress->output, NULL) < 0) {
			tell_output(build);
			buffer_text(&build->output, progress->output, NULL);
		}
	} else {
		operation->done = progress->bytes;
		operation->total = progress->bytes_total;
	}
	if (clock_mono_ms() - operation->told_ms >= OUTPUT_MS) {
		tell_output(build);
	} else if (!build->due) {
		build->due = true;
		image_operation_step_in(operation, OUTPUT_MS);
	}
}

static void on_done(void *arg, const struct error *err,
		    const struct image *image)
{
	struct build_operation *build = arg;
	struct image_operation *operation = &build->operation;
	struct message_image_state state;
	char text[800];

	build->wait = NULL;
	if (build->output.size)
		tell_output(build);
	if (err) {
		image_operation_fail(operation, err);
		return;
	}
	snprintf(text, sizeof(text), "%s%s", image->reference,
		 build->built ? "" : ", which already existed");
	operation->done = operation->total = image->size_bytes;
	state = image_operation_state(operation);
	state.text = text;
	image_operation_succeed(operation, &state);
}

static void build_step(struct image_operation *operation)
{
	struct build_operation *build = (struct build_operation *)operation;
	const struct image_wanted wanted = {
		.reference = operation->order.image,
		.build = operation->order.build,
		.logins = operation->order.logins,
		.logins_count = operation->order.logins_count,
	};
	struct error err;

	if (build->wait) {
		build->due = false;
		tell_output(build);
		return;
	}
	buffer_init(&build->output, OUTPUT_MAX);
	image_operation_tell(operation);
	build->wait = image_ensure(operation->config->images, &wanted,
				   on_progress, on_done, build, &err);
	if (!build->wait)
		image_operation_fail(operation, &err);
}

static int build_allowed(const struct image_operation *operation,
			 struct error *err)
{
	return node_policy_build(operation->config->node_policy,
				 operation->order.image, operation->order.build,
				 err);
}

const struct image_operation_kind image_operation_build = {
	.name = "build",
	.phase = "checking",
	.size = sizeof(struct build_operation),
	.allowed = build_allowed,
	.step = build_step,
	.clear = build_clear,
};
