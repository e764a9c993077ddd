/* reply_images.h - replies about images on nodes.
 */
#pragma once

#include "protocol/message/image_info.h"

/* The progress of an image operation on one node. */
struct image_node {
	char *name;
	struct image_progress progress;
	int64_t code;              /* errno value of a failure */
	char *text;                /* why it failed; NULL: it did not */
	struct image_info *images; /* only of the nodes in the query's keys */
	size_t images_count;
	uint64_t left_out; /* images that did not fit into the message */
	bool up;           /* the node is connected */
};
extern const struct schema image_node_schema;

/* Output of a build on a node. */
struct image_output {
	char *node;
	char *text;
};

struct image_operation_info {
	char *operation; /* its id */
	char *what;  /* for people: pull, build, load, save, list, remove, gc */
	char *image; /* "": none is named */
	struct image_node *nodes;
	size_t nodes_count;
	char *content;  /* of a saved image; NULL: not yet */
	uint64_t bytes; /* of that blob */
	struct image_output *output;
	size_t output_count;
	uint64_t after; /* of the next query: continues its output */
	bool final;     /* all nodes are done, or failed */
};
extern const struct schema image_operation_info_schema;

struct reply_image {
	uint64_t since;
	struct image_operation_info image;
};

/* Of image-operation and image-list: the nodes that carry it out. */
struct reply_image_operation {
	struct strings nodes;
};

extern const struct schema reply_image_schema, reply_image_operation_schema;
