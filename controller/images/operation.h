/* operation.h - one image operation: the nodes that carry it out, and what they
 * report.
 *
 * operations.c decides when a node gets the operation, and when it has ended;
 * it reads the fields.
 */
#pragma once

#include "protocol/blob/image_bundle.h"
#include "protocol/message/message.h"
#include "protocol/message/reply_images.h"
#include "protocol/wire/key.h"

#include <sys/queue.h>

#define OPERATION_OUTPUT_MAX (1 << 20)  /* bytes kept; the newest */
#define OPERATION_REPLY_MAX (256 << 10) /* bytes of it in one reply */

/* A node of an operation. */
struct operation_target {
	struct image_node node; /* as reported last; its phase is "waiting"
				   before */
	int64_t moved_ms;       /* monotonic; when its progress changed last */
	int64_t away_ms; /* monotonic; since when it is away; 0: it is not */
};

struct operation {
	bool shared; /* ensure, load: the same again joins what runs, and nodes
			that are away are waited for a while */
	bool one;    /* save: asks one node after the other */
	struct image_spec spec; /* the logins are sealed for the controller */
	struct operation_target *targets;
	size_t count;
	size_t asked; /* `one`: the target that is asked at present */
	struct image_bundle bundle;   /* load: until it has ended */
	char content[BLOB_HASH_SIZE]; /* `one`: what that target saved */
	uint64_t bytes;               /* of that blob */
	/* What nodes printed, in pieces that are numbered as they arrive. */
	TAILQ_HEAD(, operation_piece) output;
	size_t output_bytes;
	uint64_t output_first, output_next; /* number of the first, and of the
					       next to arrive */
	bool final;
};

/* The word that people use: pull, build, load, save, list, remove or gc. */
const char *operation_word(const struct image_spec *spec);

/* spec: copied. NULL: ENOMEM. */
struct operation *operation_new(const struct image_spec *spec,
				const struct strings *nodes, struct error *err);
void operation_free(struct operation *operation);
OWNED_POINTER(struct operation, operation_free)

/* The same operation again: add these nodes, and use the logins of this spec.
 * Nodes that work on it continue; nodes that had ended wait again.
 */
int operation_join(struct operation *operation, const struct image_spec *spec,
		   const struct strings *nodes, struct error *err);

/* It has ended: release its logins. */
void operation_finish(struct operation *operation);

/* By the node's name; NULL: it is not for that node. */
struct operation_target *operation_target(const struct operation *operation,
					  const char *node);

/* "ready" or "failed" */
bool operation_target_final(const struct operation_target *target);
bool operation_target_failed(const struct operation_target *target);
/* No image came from this node, or can come: why. */
void operation_target_fail(struct operation_target *target, const char *why);

/* Release its list of images; false: it has none. */
bool operation_target_drop_list(struct operation_target *target);

/* A report of a node, whose contents are moved. */
void operation_report(struct operation *operation,
		      struct operation_target *target,
		      struct message_image_state *state, int64_t now_ms);

/* As operations_describe(), without image_node.up. As much output as fits in
 * one reply.
 */
int operation_describe(const struct operation *operation,
		       const struct message_query *query, int64_t now_ms,
		       struct image_operation_info *to, struct error *err);
