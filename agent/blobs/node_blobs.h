/* node_blobs.h - all that a node does with contents: store, fetch, give.
 */
#ifndef AGENT_BLOBS_NODE_BLOBS_H
#define AGENT_BLOBS_NODE_BLOBS_H

#include "agent/blobs/fetch.h"

struct node_blobs;

/* All borrowed. */
struct node_blobs_config {
	sd_event *loop;
	const char *state;     /* folder */
	const struct key *key; /* the node's */
	const char *address;   /* where other nodes reach it */
	uint32_t port;         /* 0: any */
	/* Send to the controller; -1: not now. */
	int (*say)(void *arg, enum message_type type, const void *body,
		   const void *data, size_t size);
	/* As in fetch_config. */
	void (*touch)(void *arg);
	void *arg;
};

struct node_blobs *node_blobs_new(const struct node_blobs_config *config,
				  struct error *err);
void node_blobs_free(struct node_blobs *blobs);
OWNED_POINTER(struct node_blobs, node_blobs_free)

struct blob_store *node_blobs_contents(const struct node_blobs *blobs);
struct fetches *node_blobs_fetches(const struct node_blobs *blobs);

/* The endpoint for other agents; NULL: it could not listen. */
const char *node_blobs_endpoint(const struct node_blobs *blobs);

/* The session with the controller begins or ends. */
void node_blobs_session(struct node_blobs *blobs, bool begins);

/* A message of the controller; false: it is not about contents. */
bool node_blobs_heard(struct node_blobs *blobs, enum message_type type,
		      void *body, const void *payload, size_t size);

#endif
