/* image_request.h - an image order: its nodes, and the progress of each.
 *
 * An order is for some nodes, each of which is a stop. image_rollout.c decides
 * when a node gets the order, and when the order has ended.
 */
#ifndef CONTROLLER_IMAGES_IMAGE_REQUEST_H
#define CONTROLLER_IMAGES_IMAGE_REQUEST_H

#include "protocol/blob/blob_store.h"
#include "protocol/message/message.h"
#include "protocol/message/reply_images.h"
#include "protocol/wire/key.h"

/* The kinds of orders. */
struct image_request_kind {
	const char *name;
	bool durable;    /* waits for disconnected nodes; survives a restart */
	bool one;        /* asks one node after the other, until one has it */
	bool needs;      /* nodes get the images that jobs need with it */
	bool takes_name; /* the message must name an image */
};

/* By name; NULL: there is none. */
const struct image_request_kind *image_request_kind(const char *name);

struct image_request;

/* From a person's message, or a stored one; names are copied. */
struct image_request *
image_request_new(const struct image_request_kind *kind,
		  const struct message_image_order *message,
		  const struct strings *nodes, struct error *err);
void image_request_free(struct image_request *order);
OWNED_POINTER(struct image_request, image_request_free)

/* The order is repeated: add these nodes, and use these logins. Nodes that work
 * on it continue; nodes that had ended wait again.
 */
int image_request_again(struct image_request *order,
			const struct message_image_order *message,
			const struct strings *nodes, struct error *err);

const char *image_request_name(const struct image_request *order);
const struct image_request_kind *
image_request_kind_of(const struct image_request *order);
/* The message for nodes, without the images that jobs need. */
const struct message_image_do *
image_request_operation(const struct image_request *order);
bool image_request_final(const struct image_request *order);

/* The order has ended: release its logins. */
void image_request_finish(struct image_request *order);

/* Has it lists of images of its nodes? Release them. */
bool image_request_has_lists(const struct image_request *order);
void image_request_drop_lists(struct image_request *order);

/* Its nodes, by number, and by name; NULL: no such node. */
struct stop;
size_t image_request_stops(const struct image_request *order);
struct stop *image_request_stop_at(const struct image_request *order,
				   size_t index);
struct stop *image_request_stop(const struct image_request *order,
				const char *node);

const char *stop_name(const struct stop *stop);
/* "waiting", then as in message_image_state. */
const char *stop_phase(const struct stop *stop);
/* Why it failed; or NULL. */
const char *stop_text(const struct stop *stop);
/* "ready" or "failed" */
bool stop_final(const struct stop *stop);
bool stop_failed(const struct stop *stop);
void stop_set(struct stop *stop, const char *phase, const char *text);

/* For an order that asks one node after the other (`one`): the node that is
 * asked at present (NULL: the order is not of that kind); the hash of the image
 * that it has saved, or NULL; that content cannot be fetched any more; ask the
 * next node (false: there is none).
 */
struct stop *image_request_asked(const struct image_request *order);
const char *image_request_saved(const struct image_request *order,
				uint64_t *bytes);
void image_request_lose(struct image_request *order, const char *why);
bool image_request_next(struct image_request *order);
/* Was the node disconnected for so long that it is given up? */
bool stop_is_away(struct stop *stop, bool in_reach);

/* A report of a node; its images are moved. */
void image_request_heard(struct image_request *order, struct stop *stop,
			 struct message_image_state *state);

/* Store and load the order with the nodes that are not done. */
int image_request_save(const struct image_request *order, const char *path,
		       struct error *err);
struct image_request *image_request_load(const char *path, struct error *err);

/* As image_rollout_describe(), without image_node.up. */
int image_request_describe(const struct image_request *order,
			   const struct message_query *query,
			   struct image_order_info *to, struct error *err);

#endif
