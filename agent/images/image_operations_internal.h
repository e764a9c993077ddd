/* image_operations_internal.h - what the kinds of operations share. Only for
 * the files of this folder.
 *
 * A kind works in steps that run from the loop: each starts a call of the
 * engine and returns. image_operation_fail() or image_operation_succeed() ends
 * the operation and frees it.
 */
#ifndef AGENT_IMAGES_IMAGE_OPERATIONS_INTERNAL_H
#define AGENT_IMAGES_IMAGE_OPERATIONS_INTERNAL_H

#include "agent/images/image_operations.h"
#include "protocol/blob/image_bundle.h"

#include <sys/queue.h>

#define IMAGE_OPERATION_CALL_MS 30000
#define IMAGE_OPERATION_STALL_MS                                               \
	600000 /* the engine unpacks a layer without a byte */

struct image_operation {
	struct image_operations *operations;
	const struct image_operations_config *config;
	const struct image_operation_kind *kind;
	struct message_image_do message;
	struct image_progress progress; /* without moving layers */
	struct engine_call *call;
	sd_event_source *timer;
	unsigned int retries;
	int64_t told_ms;
	TAILQ_ENTRY(image_operation) next;
};

struct image_operation_kind {
	const char *phase; /* at first */
	size_t size; /* of its struct, whose first member is the operation */
	/* Does the policy allow it? Asked before each step: the policy may have
	 * changed. NULL: always.
	 */
	int (*allowed)(const struct image_operation *operation,
		       struct error *err);
	void (*step)(struct image_operation *operation);
	void (*again)(struct image_operation
			      *operation); /* before a retry; may be NULL */
	void (*touch)(struct image_operation *operation); /* may be NULL */
	void (*clear)(struct image_operation *operation); /* may be NULL */
};

extern const struct image_operation_kind image_operation_ensure,
	image_operation_load, image_operation_save, image_operation_prune;

/* Report the progress: now, or unless it was reported just now. */
void image_operation_tell(struct image_operation *operation);
void image_operation_tell_sometimes(struct image_operation *operation);
/* The state with the fields that all kinds have; image_operation_say() sends
 * it.
 */
struct message_image_state
image_operation_state(const struct image_operation *operation);
void image_operation_say(struct image_operation *operation,
			 const struct message_image_state *state);

void image_operation_fail(struct image_operation *operation,
			  const struct error *err);
/* state: from image_operation_state(), with the fields of the kind; or NULL. */
void image_operation_succeed(struct image_operation *operation,
			     const struct message_image_state *state);

/* Run the next step in delay_ms. */
void image_operation_step_in(struct image_operation *operation,
			     uint64_t delay_ms);

/* Try the step again after an error of the connection to the engine. False: the
 * retries are used up.
 */
bool image_operation_retry(struct image_operation *operation,
			   const struct error *err);

#endif
