/* image_request.h - a request for images on nodes, and its progress on each.
 *
 * A request is for some nodes, its targets. image_rollout.c decides when a node
 * gets the request, and when the request has ended; it reads the fields.
 */
#ifndef CONTROLLER_IMAGES_IMAGE_REQUEST_H
#define CONTROLLER_IMAGES_IMAGE_REQUEST_H

#include "protocol/blob/blob_store.h"
#include "protocol/message/message.h"
#include "protocol/message/reply_images.h"
#include "protocol/wire/key.h"

#include <sys/queue.h>

#define IMAGE_REQUEST_OUTPUT_MAX (1 << 20)  /* bytes kept; the newest */
#define IMAGE_REQUEST_REPLY_MAX (256 << 10) /* bytes of it in one reply */

/* The kinds of requests. */
struct image_request_kind {
	const char *name;
	bool durable;    /* waits for disconnected nodes; survives a restart */
	bool one;        /* asks one node after the other, until one has it */
	bool needs;      /* nodes get the images that jobs need with it */
	bool takes_name; /* the message must name an image */
};

/* By name; NULL: there is none. */
const struct image_request_kind *image_request_kind(const char *name);

/* A node of a request. */
struct image_target {
	char node[KEY_NAME_SIZE];
	struct message_image_state state; /* as reported last; its phase is
					     "waiting" before */
	struct image_transfer *transfer;  /* its progress; NULL: none yet */
	int64_t lost_ms; /* `one`: monotonic; since when it is disconnected;
			    0: it is not */
};

struct image_request {
	const struct image_request_kind *kind;
	struct message_image_order message; /* from a person, or stored */
	struct image_target *targets;
	size_t count;
	size_t asked; /* `one`: the target that is asked at present */
	char content[CONTENT_HASH_SIZE]; /* `one`: what that target saved */
	uint64_t bytes;                  /* of that content */
	/* What nodes printed, in pieces that are numbered as they arrive. */
	TAILQ_HEAD(, image_request_piece) output;
	size_t output_bytes;
	uint64_t output_first, output_next; /* number of the first, and of the
					       next to arrive */
	bool final;
};

/* From a person's message, or a stored one; both are copied. */
struct image_request *
image_request_new(const struct message_image_order *message,
		  const struct strings *nodes, struct error *err);
void image_request_free(struct image_request *request);
OWNED_POINTER(struct image_request, image_request_free)

/* The request is repeated: add these nodes, and use the logins of this message.
 * Nodes that work on it continue; nodes that had ended wait again.
 */
int image_request_again(struct image_request *request,
			const struct message_image_order *message,
			const struct strings *nodes, struct error *err);

/* The request has ended: release its logins. */
void image_request_finish(struct image_request *request);

/* By the node's name; NULL: it is not for that node. */
struct image_target *image_request_target(const struct image_request *request,
					  const char *node);

/* "ready" or "failed" */
bool image_target_final(const struct image_target *target);
bool image_target_failed(const struct image_target *target);
/* No image came from this node, or can come: why. */
void image_target_fail(struct image_target *target, const char *why);

/* Release its list of images; false: it has none. */
bool image_target_drop_list(struct image_target *target);

/* A report of a node; its images and output are moved. */
void image_request_report(struct image_request *request,
			  struct image_target *target,
			  struct message_image_state *state);

/* Store and load the request with the nodes that are not done. */
int image_request_save(const struct image_request *request, const char *path,
		       struct error *err);
struct image_request *image_request_load(const char *path, struct error *err);

/* As image_rollout_describe(), without image_node.up. As much output as fits in
 * one reply.
 */
int image_request_describe(const struct image_request *request,
			   const struct message_query *query,
			   struct image_order_info *to, struct error *err);

#endif
