/* images_internal.h - what ensure and the kinds of operations share. Only for
 * the files of this folder.
 *
 * A kind works in steps that run from the loop: each starts a call of the
 * engine and returns. image_operation_fail() or image_operation_succeed() ends
 * the operation and frees it.
 */
#pragma once

#include "agent/blobs/fetch.h"
#include "agent/images/image_usage.h"
#include "agent/images/images.h"
#include "agent/images/prune.h"
#include "agent/policy/node_policy.h"
#include "protocol/blob/image_bundle.h"

#include <sys/queue.h>

#define IMAGE_OPERATION_CALL_MS 30000
#define IMAGE_OPERATION_STALL_MS                                               \
	600000 /* the engine unpacks a layer without a byte */

struct images {
	struct image_services services;
	unsigned char key[REGISTRY_ACCESS_KEY_BYTES]; /* of waits' logins */
	TAILQ_HEAD(, ensure) ensures;
	TAILQ_HEAD(, image_operation) operations;
	size_t count; /* of the operations */
	/* Digests that a registry was asked for, and that it confirmed. */
	struct strings asked, confirmed;
};

void image_ensure_free(struct ensure *ensure);

struct image_operation {
	struct images *images;
	const struct image_services *services;
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

/* Run the next step in delay_ms; go on at once, or rc is -1: fail. */
void image_operation_step_in(struct image_operation *operation,
			     uint64_t delay_ms);
void image_operation_go_on(struct image_operation *operation, int rc,
			   const struct error *err);

/* Wait for the call of the engine; NULL: fail. Its callback asks first whether
 * it was answered; false: after an error of the connection to the engine, the
 * step is tried again.
 */
void image_operation_await(struct image_operation *operation,
			   struct engine_call *call, const struct error *err);
bool image_operation_answered(struct image_operation *operation,
			      const struct error *err);
