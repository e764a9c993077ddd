/* node_output.h - keeps the newest output of the nodes of an image order.
 *
 * Pieces of text are numbered in the order of their arrival. Readers ask for
 * the pieces after the last one that they have. When all together are longer
 * than NODE_OUTPUT_MAX, the oldest ones are dropped.
 */
#ifndef CONTROLLER_IMAGES_NODE_OUTPUT_H
#define CONTROLLER_IMAGES_NODE_OUTPUT_H

#include "protocol/message/reply_images.h"

#define NODE_OUTPUT_MAX (1 << 20)    /* bytes kept */
#define NODE_OUTPUT_TOLD (256 << 10) /* bytes in one answer */

struct node_output;
struct node_output *node_output_new(void);
void node_output_free(struct node_output *output);

/* The text is moved. Without memory it is lost. */
void node_output_add(struct node_output *output, const char *node, char *text);

/* Add the pieces after `after`, as many as fit in one reply. */
int node_output_describe(const struct node_output *output, uint64_t after,
			 struct image_order_info *to, struct error *err);

#endif
