/* image_request.h - an image order: its nodes, and how far each of them is.
 *
 * An order goes to some nodes, each of which is a stop. image_rollout.c decides
 * when a node is told, and when an order is over.
 */
#ifndef CONTROLLER_IMAGES_IMAGE_REQUEST_H
#define CONTROLLER_IMAGES_IMAGE_REQUEST_H

#include "protocol/blob/blob_store.h"
#include "protocol/message/message.h"
#include "protocol/message/reply_images.h"
#include "protocol/wire/key.h"

/* What can be ordered. */
struct image_request_kind {
	const char *name;
	bool durable;    /* goes on when nodes, and the controller, are back */
	bool one;        /* node after node, until one has it */
	bool needs;      /* told with what jobs need */
	bool takes_name; /* image must be given */
};

/* By name; NULL: there is none. */
const struct image_request_kind *image_request_kind(const char *name);

struct image_request;

/* Of what people ask for, or what was stored; names are copied. */
struct image_request *
image_request_new(const struct image_request_kind *kind,
		  const struct message_image_order *message,
		  const struct strings *nodes, struct error *err);
void image_request_free(struct image_request *order);
OWNED_POINTER(struct image_request, image_request_free)

/* The same is ordered once more: for these nodes, too, and with these logins.
 * What is under way goes on; nodes that had ended wait again.
 */
int image_request_again(struct image_request *order,
			const struct message_image_order *message,
			const struct strings *nodes, struct error *err);

const char *image_request_name(const struct image_request *order);
const struct image_request_kind *
image_request_kind_of(const struct image_request *order);
/* What nodes are told; without what jobs need. */
const struct message_image_do *
image_request_act(const struct image_request *order);
bool image_request_final(const struct image_request *order);

/* It is over: nobody needs its logins any more. */
void image_request_finish(struct image_request *order);

/* Lists of images that its nodes told. */
bool image_request_has_lists(const struct image_request *order);
void image_request_drop_lists(struct image_request *order);

/* Its nodes, by number, and by name: NULL: it is none of them. */
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

/* Of an order that asks one node after the other (`one`): the node that is
 * asked, or NULL: it asks all. What it has saved, or NULL. That can be had no
 * more. The next one is asked; false: it was the last.
 */
struct stop *image_request_asked(const struct image_request *order);
const char *image_request_saved(const struct image_request *order,
				uint64_t *bytes);
void image_request_lose(struct image_request *order, const char *why);
bool image_request_next(struct image_request *order);
/* Was the node out of reach each time for so long that it is given up? */
bool stop_is_away(struct stop *stop, bool in_reach);

/* What a node says; its images are moved. */
void image_request_heard(struct image_request *order, struct stop *stop,
			 struct message_image_state *state);

/* On disk: the order, and the nodes that are not done. */
int image_request_save(const struct image_request *order, const char *path,
		       struct error *err);
struct image_request *image_request_load(const char *path, struct error *err);

/* As image_rollout_describe(), but whether nodes are up. */
int image_request_describe(const struct image_request *order,
			   const struct message_query *query,
			   struct image_order_info *to, struct error *err);

#endif
