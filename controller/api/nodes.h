/* nodes.h - nodes as people see them.
 */
#ifndef CONTROLLER_API_NODES_H
#define CONTROLLER_API_NODES_H

#include "controller/api/api.h"
#include "protocol/message/reply_nodes.h"

struct node;

/* Fill *to, which was zero, but for the inventory. On failure the caller clears
 * it, too.
 */
int node_describe(const struct api *api, const struct node *node,
		  struct node_info *to, struct error *err);

#endif
