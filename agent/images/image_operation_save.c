/* image_operation_save.c - an image becomes a content: the tar file that the
 * engine makes.
 */
#include "agent/images/image_names.h"
#include "agent/images/image_operations_internal.h"
#include "protocol/blob/incoming.h"

#include <errno.h>

struct save {
	struct image_operation act;
	struct incoming *incoming;
	bool known; /* whose it is */
	bool checking;
};

static void save_again(struct image_operation *act)
{
	struct save *save = (struct save *)act;

	incoming_free(take(save->incoming));
}

static void check_saved(struct save *save)
{
	struct image_operation *act = &save->act;
	struct message_image_state state;
	char hash[CONTENT_HASH_SIZE];
	struct error err = { 0 };
	int rc = incoming_finish(save->incoming, hash, &err);

	if (rc > 0) {
		image_operation_step_in(act, 0);
	} else if (rc < 0) {
		image_operation_fail(act, &err);
	} else {
		act->done = act->total = incoming_length(save->incoming);
		state = image_operation_state(act);
		state.content = hash;
		image_operation_succeed(act, &state);
	}
}

static int take_data(void *arg, const void *data, size_t size,
		     struct error *err)
{
	struct save *save = arg;

	save->act.done += size;
	image_operation_tell_sometimes(&save->act);
	return incoming_write(save->incoming, data, size, err);
}

static void saved(void *arg, const struct error *err, cJSON *answer)
{
	struct save *save = arg;

	save->act.call = NULL;
	if (!err) {
		save->checking = true;
		check_saved(save);
	} else if (!image_operation_retry(&save->act, err)) {
		image_operation_fail(&save->act, err);
	}
}

/* The engine says what the name is: only what is Regatta's leaves, or what a
 * job used; else what the policy lets.
 */
static void inspected(void *arg, const struct error *err, cJSON *answer)
{
	struct save *save = arg;
	struct image_operation *act = &save->act;
	struct error refused;

	act->call = NULL;
	if (err && image_operation_retry(act, err))
		return;
	if (err) {
		image_operation_fail(act, err);
	} else if (!image_is_ours(act->config->record, answer, true) &&
		   node_policy_save_any(act->config->node_policy,
					act->order.image, &refused) < 0) {
		image_operation_fail(act, &refused);
	} else {
		save->known = true;
		image_operation_step_in(act, 0);
	}
}

static void save_step(struct image_operation *act)
{
	struct save *save = (struct save *)act;
	struct error err;

	if (save->checking) {
		check_saved(save);
		return;
	}
	if (!save->known) {
		act->call = engine_image_inspect(act->config->engine,
						 act->order.image,
						 IMAGE_OPERATION_CALL_MS,
						 inspected, save, &err);
		if (!act->call)
			image_operation_fail(act, &err);
		return;
	}
	act->done = 0;
	save->incoming = incoming_new(act->config->contents, NULL,
				      CONTENT_BYTES_MAX, &err);
	if (save->incoming)
		act->call =
			engine_image_save(act->config->engine, act->order.image,
					  IMAGE_OPERATION_STALL_MS, take_data,
					  saved, save, &err);
	if (!act->call)
		image_operation_fail(act, &err);
}

static int save_allowed(const struct image_operation *act, struct error *err)
{
	return node_policy_save(act->config->node_policy, act->order.image,
				err);
}

const struct image_operation_kind image_operation_save = {
	.name = "save",
	.phase = "saving",
	.size = sizeof(struct save),
	.allowed = save_allowed,
	.step = save_step,
	.again = save_again,
	.clear = save_again,
};
