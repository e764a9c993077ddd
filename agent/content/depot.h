/* depot.h - all that a node does with contents: store, fetch, give.
 */
#ifndef AGENT_CONTENT_DEPOT_H
#define AGENT_CONTENT_DEPOT_H

#include "agent/content/fetch.h"

struct depot;

/* All borrowed. */
struct depot_config {
	sd_event *loop;
	const char *state;     /* folder */
	const struct key *key; /* the node's */
	const char *address;   /* where other nodes reach it */
	uint32_t port;         /* 0: any */
	/* Send to the controller; -1: not now. */
	int (*say)(void *arg, enum message_type type, const void *body,
		   const void *data, size_t size);
	/* Unused contents are about to be removed: touch what is needed. */
	void (*touch)(void *arg);
	void *arg;
};

struct depot *depot_new(const struct depot_config *config, struct error *err);
void depot_free(struct depot *depot);
OWNED_POINTER(struct depot, depot_free)

struct blob_store *depot_contents(const struct depot *depot);
struct fetches *depot_fetches(const struct depot *depot);

/* Where other agents get contents from this one; NULL: nowhere. */
const char *depot_endpoint(const struct depot *depot);

/* The session with the controller begins or ends. */
void depot_session(struct depot *depot, bool begins);

/* What the controller says; false: it is not about contents. */
bool depot_heard(struct depot *depot, enum message_type type, void *body,
		 const void *payload, size_t size);

#endif
