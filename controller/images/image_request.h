/* image_request.h - an image order: its nodes, how far each is, what they
 * print.
 *
 * For image_rollout.c, which says when a node is told, and when an order is
 * over.
 */
#ifndef CONTROLLER_IMAGES_IMAGE_REQUEST_H
#define CONTROLLER_IMAGES_IMAGE_REQUEST_H

#include "protocol/blob/blob_store.h"
#include "protocol/message/message.h"
#include "protocol/message/reply_images.h"
#include "protocol/wire/key.h"

#include <sys/queue.h>

#define IMAGE_REQUEST_OUTPUT_MAX (1 << 20)    /* bytes kept; older ones go */
#define IMAGE_REQUEST_OUTPUT_TOLD (256 << 10) /* bytes in one answer */

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

/* What one node says of an order. */
struct stop {
	char name[KEY_NAME_SIZE];
	char phase[16]; /* "waiting", then as in message_image_state */
	uint64_t done, total;
	/* pull: as in message_image_state */
	bool partial;
	uint64_t rate;
	uint32_t layers, layers_total, tries;
	int64_t moved_ms; /* when any of these changed last */
	int64_t code;     /* errno value behind a failure */
	int64_t away_ms;  /* `one`: since when it is out of reach; 0: it is not
			   */
	char *text;
	struct image_info *images;
	size_t images_count;
	uint64_t left_out;
};

/* What a node printed. */
struct printed {
	size_t stop;
	char *text;
	TAILQ_ENTRY(printed) entry;
};

struct image_request {
	char name[CONTENT_HASH_SIZE];
	const struct image_request_kind *kind;
	struct message_image_do act; /* what nodes are told; no needs */
	struct stop *stops;
	size_t count;
	size_t next;                     /* `one`: the node that is asked */
	char content[CONTENT_HASH_SIZE]; /* saved */
	uint64_t bytes;
	TAILQ_HEAD(, printed) output;
	size_t output_bytes;
	uint64_t output_first; /* number of the first piece that is kept */
	uint64_t output_next;  /* and of the one to come */
	bool final;
	TAILQ_ENTRY(image_request) entry;
};

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

struct stop *image_request_stop(const struct image_request *order,
				const char *node);
bool stop_final(const struct stop *stop);
void stop_set(struct stop *stop, const char *phase, const char *text);
void stop_drop_images(struct stop *stop);

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
