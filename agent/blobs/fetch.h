/* fetch.h - fetches the blobs that this node needs, once for all callers.
 *
 * The controller names the source: itself, or another agent, which may still be
 * receiving the blob. The blob comes in pieces and is checked by its
 * hash. After an interruption it continues where it stopped. When a source
 * cannot be reached, does not have the blob, or is silent for
 * FETCH_STALL_MS, the controller is asked for another. Wrong bytes from the
 * controller are fetched again up to three times. While the controller is away,
 * transfers from other agents go on. Blobs that were not used for
 * FETCH_AGE_MS are removed.
 */
#pragma once

#include "agent/blobs/peers.h"

#define FETCH_STALL_MS 10000
#define FETCH_AGE_MS 3600000

struct fetches;
struct fetch_wait; /* one caller that waits for a blob */

struct fetch_config {
	sd_event *loop;
	struct blob_store *blobs;
	const struct key *key; /* the node's */
	const char *address;   /* peers_new() */
	uint32_t port;
	/* Send to the controller; -1: not now. */
	int (*say)(void *arg, enum message_type type, const void *body,
		   const void *data, size_t size);
	/* Called before unused blobs are removed: mark the needed ones as
	 * used.
	 */
	void (*touch)(void *arg);
	void *arg;
};

/* *config is copied, its members are borrowed. */
struct fetches *fetches_new(const struct fetch_config *config,
			    struct error *err);
void fetches_free(struct fetches *fetches); /* cancels all */
OWNED_POINTER(struct fetches, fetches_free)

/* The endpoint for other agents; NULL: it could not listen. */
const char *fetches_endpoint(const struct fetches *fetches);

/* The session with the controller begins or ends. */
void fetches_session(struct fetches *fetches, bool begins);

/* A message of the controller; false: it is not about blobs. */
bool fetches_heard(struct fetches *fetches, enum message_type type,
		   const void *body, const void *payload, size_t size);

/* bytes of total are here; called at most twice a second. */
typedef void fetch_progress_fn(void *arg, uint64_t bytes, uint64_t total);
/* err NULL: the whole blob is in the store. ENOENT: the controller does not
 * have it.
 */
typedef void fetch_done_fn(void *arg, const struct error *err);

/* Have the blob on the node. done() runs later, exactly once, never from
 * inside the call; the handle is freed then. progress may be NULL. awaited: the
 * blob may still be uploaded, so wait while the controller does not have it.
 */
struct fetch_wait *fetch_begin(struct fetches *fetches, const char *hash,
			       bool awaited, fetch_progress_fn *progress,
			       fetch_done_fn *done, void *arg,
			       struct error *err);

/* Before done(): stop waiting. The bytes received so far stay for a later call.
 */
void fetch_release(struct fetch_wait *wait);
