/* order.h - an image order: its nodes, how far each is, what they print.
 *
 * For carry.c, which says when a node is told, and when an order is over.
 */
#ifndef CONTROLLER_CONTENT_ORDER_H
#define CONTROLLER_CONTENT_ORDER_H

#include "controller/cluster/cluster.h"
#include "protocol/blob/blob_store.h"

#define ORDER_OUTPUT_MAX (1 << 20)    /* bytes kept; older ones go */
#define ORDER_OUTPUT_TOLD (256 << 10) /* bytes in one answer */

/* What can be ordered. */
struct order_kind {
	const char *name;
	bool durable;    /* goes on when nodes, and the controller, are back */
	bool one;        /* node after node, until one has it */
	bool needs;      /* told with what jobs need */
	bool takes_name; /* image must be given */
};

/* By name; NULL: there is none. */
const struct order_kind *order_kind(const char *name);

/* What one node says of an order. */
struct stop {
	char name[KEY_NAME_SIZE];
	char phase[16]; /* "waiting", then as in message_image_state */
	uint64_t done, total;
	int64_t code;    /* errno value behind a failure */
	int64_t away_ms; /* `one`: since when it is out of reach; 0: it is not
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

struct order {
	char name[CONTENT_HASH_SIZE];
	const struct order_kind *kind;
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
	TAILQ_ENTRY(order) entry;
};

/* Of what people ask for, or what was stored; names are copied. */
struct order *order_new(const struct order_kind *kind,
			const struct message_image_order *message,
			const struct strings *nodes, struct error *err);
void order_free(struct order *order);
OWNED_POINTER(struct order, order_free)

/* The same is ordered once more: for these nodes, too, and with these logins.
 * What is under way goes on; nodes that had ended wait again.
 */
int order_again(struct order *order, const struct message_image_order *message,
		const struct strings *nodes, struct error *err);

struct stop *order_stop(const struct order *order, const char *node);
bool stop_final(const struct stop *stop);
void stop_set(struct stop *stop, const char *phase, const char *text);
void stop_drop_images(struct stop *stop);

/* What a node says; its images are moved. */
void order_heard(struct order *order, struct stop *stop,
		 struct message_image_state *state);

/* On disk: the order, and the nodes that are not done. */
int order_save(const struct order *order, const char *path, struct error *err);
struct order *order_load(const char *path, struct error *err);

/* As carry_describe(), but whether nodes are up, and final. */
cJSON *order_describe(const struct order *order,
		      const struct message_query *query);

#endif
