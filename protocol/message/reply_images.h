/* reply_images.h - replies about images on nodes.
 */
#ifndef PROTOCOL_MESSAGE_REPLY_IMAGES_H
#define PROTOCOL_MESSAGE_REPLY_IMAGES_H

#include "protocol/message/image_info.h"

/* How far one node is with what was ordered. */
struct image_node {
	char *name;
	char *phase; /* message_image_state; "waiting": it said nothing yet */
	uint64_t done_bytes;
	uint64_t total_bytes;
	/* Of a pull, as in progress_info (reply_jobs.h). */
	bool partial;
	uint64_t silent_seconds;
	double rate;
	double eta_seconds;
	uint32_t layers;
	uint32_t layers_total;
	uint32_t tries;
	int64_t code;              /* errno value of a failure */
	char *text;                /* why it failed, NULL: it did not */
	struct image_info *images; /* only of the nodes that were asked for */
	size_t images_count;
	uint64_t left_out; /* images beyond those that fit a message */
	bool up;
};
extern const struct schema image_node_schema;

/* What a node printed while it built. */
struct image_output {
	char *node;
	char *text;
};

struct image_order_info {
	char *order;
	char *what;
	char *image; /* "": none is named */
	struct image_node *nodes;
	size_t nodes_count;
	char *content;  /* of an image that was saved, NULL: not yet */
	uint64_t bytes; /* of that content */
	struct image_output *output;
	size_t output_count;
	uint64_t after; /* where its output is read on */
	bool final;     /* all nodes are done, or failed */
};
extern const struct schema image_order_info_schema;

struct reply_image {
	uint64_t since;
	struct image_order_info image;
};

/* Of image-order and image-list: on which nodes. */
struct reply_image_order {
	struct strings nodes;
};

extern const struct schema reply_image_schema, reply_image_order_schema;

#endif
