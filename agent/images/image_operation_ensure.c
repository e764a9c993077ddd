/* image_operation_ensure.c - waits for the operation ensure as a task does, and
 * reports it to the controller.
 */
#include "agent/images/images_internal.h"

#include "protocol/base/clock.h"

#include <errno.h>
#include <string.h>

#define OUTPUT_MAX (64 << 10) /* bytes told at once */
#define OUTPUT_MS 200

struct ensure_report {
	struct image_operation operation;
	struct image_wait *wait;
	struct buffer output; /* of a build, not yet told */
	bool due;             /* a step that reports it is planned */
	bool made;            /* false: the image existed */
};

static void ensure_report_clear(struct image_operation *operation)
{
	struct ensure_report *report = (struct ensure_report *)operation;

	image_release(report->wait);
	buffer_clear(&report->output);
}

/* Output is reported in whole lines, except the last one, and one that does not
 * fit.
 */
static void ensure_report_tell(struct ensure_report *report, bool all)
{
	struct message_image_state state =
		image_operation_state(&report->operation);
	struct buffer *output = &report->output;
	size_t size = output->size;
	char next;

	while (!all && size && !strchr("\r\n", output->data[size - 1]))
		size--;
	if (!size) {
		image_operation_say(&report->operation, &state);
		return;
	}
	next = output->data[size];
	output->data[size] = 0;
	state.output = output->data;
	image_operation_say(&report->operation, &state);
	output->data[size] = next;
	buffer_consume(output, size);
}

/* Output is collected and reported at most five times a second. */
static void ensure_report_keep_output(struct ensure_report *report,
				      const char *output)
{
	/* Output that does not fit at once is left out. */
	if (buffer_text(&report->output, output, NULL) < 0) {
		ensure_report_tell(report, true);
		buffer_text(&report->output, output, NULL);
	}
	if (clock_mono_ms() - report->operation.told_ms >= OUTPUT_MS) {
		ensure_report_tell(report, false);
	} else if (!report->due) {
		report->due = true;
		image_operation_step_in(&report->operation, OUTPUT_MS);
	}
}

static void ensure_report_take_news(void *arg, const struct image_news *news)
{
	struct ensure_report *report = arg;

	report->made = true;
	report->operation.progress = news->progress;
	report->operation.progress.moving_count = 0;
	if (news->output)
		ensure_report_keep_output(report, news->output);
	else
		ensure_report_tell(report, false);
}

static void on_done(void *arg, const struct error *err,
		    const struct image *image)
{
	struct ensure_report *report = arg;
	struct image_operation *operation = &report->operation;
	struct message_image_state state;
	char text[800];

	report->wait = NULL;
	if (report->output.size)
		ensure_report_tell(report, true);
	/* A build is tried once. After a time-out of the registry, the pull was
	 * already tried again.
	 */
	if (err && !operation->message.spec.build && err->code != ETIMEDOUT &&
	    !image_operation_answered(operation, err))
		return;
	if (err) {
		image_operation_fail(operation, err);
		return;
	}
	snprintf(text, sizeof(text), "%s%s", image->reference,
		 report->made ? "" : ", which already existed");
	operation->progress.done_bytes = operation->progress.total_bytes =
		image->size_bytes;
	state = image_operation_state(operation);
	state.text = text;
	image_operation_succeed(operation, &state);
}

static void ensure_report_step(struct image_operation *operation)
{
	struct ensure_report *report = (struct ensure_report *)operation;
	const struct image_wanted wanted = {
		.reference = operation->message.spec.image,
		.build = operation->message.spec.build,
		.logins = operation->message.spec.logins,
		.logins_count = operation->message.spec.logins_count,
	};
	struct error err;

	report->due = false;
	if (report->wait) {
		ensure_report_tell(report, false);
		return;
	}
	buffer_init(&report->output, OUTPUT_MAX);
	image_operation_tell(operation);
	report->wait =
		image_ensure(operation->images, &wanted,
			     ensure_report_take_news, on_done, report, &err);
	if (!report->wait)
		image_operation_fail(operation, &err);
}

static int ensure_report_allowed(const struct image_operation *operation,
				 struct error *err)
{
	const struct node_policy *policy =
		operation->services->registries->node_policy;
	const struct image_spec *spec = &operation->message.spec;

	return spec->build ? node_policy_build(policy, spec->image, spec->build,
					       err)
			   : policy_image_check(node_policy_rules(policy),
						spec->image, err);
}

const struct image_operation_kind image_operation_ensure = {
	.phase = "checking",
	.size = sizeof(struct ensure_report),
	.allowed = ensure_report_allowed,
	.step = ensure_report_step,
	.clear = ensure_report_clear,
};
