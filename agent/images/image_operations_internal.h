/* image_operations_internal.h - what the kinds of acts share: for the files of
 * this room alone.
 *
 * A kind does its work in steps, from the loop: each one begins a call and
 * returns. An act ends with image_operation_fail() or
 * image_operation_succeed(), and is gone then.
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
	struct image_operations *acts;
	const struct image_operations_config *config;
	const struct image_operation_kind *kind;
	struct message_image_do order;
	const char *phase;
	struct engine_call *call;
	sd_event_source *timer;
	unsigned int retries;
	int64_t told_ms;
	uint64_t done, total; /* bytes */
	TAILQ_ENTRY(image_operation) next;
};

struct image_operation_kind {
	const char *name;
	const char *phase; /* at first */
	size_t size;       /* of its struct, which begins with an act */
	/* Does the policy allow it? It may be another since the last step. */
	int (*allowed)(const struct image_operation *act, struct error *err);
	void (*step)(struct image_operation *act);
	void (*again)(
		struct image_operation *act); /* before a retry; may be NULL */
	void (*touch)(struct image_operation *act); /* may be NULL */
	void (*clear)(struct image_operation *act); /* may be NULL */
};

extern const struct image_operation_kind image_operation_load,
	image_operation_save, image_operation_build, image_operation_pull,
	image_operation_list, image_operation_remove, image_operation_gc;

/* How far it is: now, or if that was not told just now. */
void image_operation_tell(struct image_operation *act);
void image_operation_tell_sometimes(struct image_operation *act);
/* Fill what all states have in common; image_operation_say() sends it. */
struct message_image_state
image_operation_state(const struct image_operation *act);
void image_operation_say(struct image_operation *act,
			 const struct message_image_state *state);

void image_operation_fail(struct image_operation *act, const struct error *err);
/* state: as image_operation_state() gave it, with what the kind has to say; or
 * NULL. */
void image_operation_succeed(struct image_operation *act,
			     const struct message_image_state *state);

/* The next step, in delay_ms. */
void image_operation_step_in(struct image_operation *act, uint64_t delay_ms);

/* The engine could not be reached, or broke off. */
bool image_operation_engine_away(const struct error *err);
/* The engine is away: the step is tried again. False: that was often enough. */
bool image_operation_retry(struct image_operation *act,
			   const struct error *err);

#endif
