/* image_operation_save.c - stores the engine's tar file of an image as a
 * content.
 */
#include "agent/images/image_inventory.h"
#include "agent/images/images_internal.h"
#include "protocol/blob/incoming.h"

struct save {
	struct image_operation operation;
	struct incoming *incoming;
	bool known; /* the policy was checked */
	bool checking;
};

static void save_clear(struct image_operation *operation)
{
	struct save *save = (struct save *)operation;

	incoming_free(save->incoming);
}

static void check_saved(struct save *save)
{
	struct image_operation *operation = &save->operation;
	struct message_image_state state;
	char hash[BLOB_HASH_SIZE];
	struct error err = { 0 };
	int rc = incoming_finish(save->incoming, hash, &err);

	if (rc) {
		image_operation_go_on(operation, rc, &err);
	} else {
		operation->progress.done_bytes =
			operation->progress.total_bytes =
				incoming_length(save->incoming);
		state = image_operation_state(operation);
		state.content = hash;
		image_operation_succeed(operation, &state);
	}
}

static int save_take_data(void *arg, const void *data, size_t size,
			  struct error *err)
{
	struct save *save = arg;

	save->operation.progress.done_bytes += size;
	image_operation_tell_sometimes(&save->operation);
	return incoming_write(save->incoming, data, size, err);
}

static void saved(void *arg, const struct error *err, cJSON *answer)
{
	struct save *save = arg;

	if (!image_operation_answered(&save->operation, err))
		return;
	save->checking = true;
	image_operation_go_on(&save->operation, err ? -1 : 0, err);
}

/* Only images that Regatta brought, or that a job used, may be saved, unless
 * the policy allows all.
 */
static void save_inspected(void *arg, const struct error *err, cJSON *answer)
{
	struct save *save = arg;
	struct image_operation *operation = &save->operation;
	const struct policy *policy =
		registries_policy(operation->services->registries);
	struct error refused;

	if (!image_operation_answered(operation, err))
		return;
	if (!err && !image_is_ours(operation->services->usage, answer, true) &&
	    policy_image_check_save(policy, operation->message.spec.image,
				    &refused) < 0)
		err = &refused;
	save->known = true;
	image_operation_go_on(operation, err ? -1 : 0, err);
}

static void save_step(struct image_operation *operation)
{
	struct save *save = (struct save *)operation;
	struct error err;

	if (save->checking) {
		check_saved(save);
		return;
	}
	if (!save->known) {
		image_operation_await(
			operation,
			engine_image_inspect(operation->services->engine,
					     operation->message.spec.image,
					     IMAGE_OPERATION_CALL_MS,
					     save_inspected, save, &err),
			&err);
		return;
	}
	operation->progress.done_bytes = 0;
	incoming_free(save->incoming);
	save->incoming = incoming_new(operation->services->blobs, NULL,
				      BLOB_BYTES_MAX, &err);
	image_operation_await(
		operation,
		save->incoming
			? engine_image_save(operation->services->engine,
					    operation->message.spec.image,
					    IMAGE_OPERATION_STALL_MS,
					    save_take_data, saved, save, &err)
			: NULL,
		&err);
}

static int save_allowed(const struct image_operation *operation,
			struct error *err)
{
	const struct policy *policy =
		registries_policy(operation->services->registries);

	return policy_image_check(policy, operation->message.spec.image, err);
}

const struct image_operation_kind image_operation_save = {
	.phase = "saving",
	.size = sizeof(struct save),
	.allowed = save_allowed,
	.step = save_step,
	.clear = save_clear,
};
