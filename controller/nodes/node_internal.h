/* node_internal.h - the fields of the registry, for the files that make it up:
 * node.c has the nodes, node_settings.c what people said of them.
 */
#ifndef CONTROLLER_NODES_NODE_INTERNAL_H
#define CONTROLLER_NODES_NODE_INTERNAL_H

#include "controller/nodes/node.h"

struct nodes {
	const struct job_effects *effects;
	struct store *store;
	struct news *news;
	struct node **list;
	struct slot *slots; /* of list[i], as the scheduler sees it */
	size_t count;
	bool changed; /* since nodes_changed() */
};

/* node_settings.c */

/* The key is this machine's from now on. Without memory it is anybody's. */
void node_bind(struct node *node, const char *key, const char *machine);

/* Put its row into the store. */
int node_save(struct nodes *nodes, const struct node *node, struct error *err);

/* Its state, or what people said of it: who waits for news wants to know. */
void node_tell(struct nodes *nodes, struct node *node);

#endif
