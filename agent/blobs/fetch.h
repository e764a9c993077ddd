/* fetch.h - fetches the contents that this node needs, once for all who
 * wait.
 *
 * The controller says who has one: itself, or another agent, which may still be
 * getting it. It comes in pieces, goes on where a cut left it, and is checked
 * by its hash. A source that cannot be reached, says that it has none of it, or
 * is silent for FETCH_STALL_MS is left, and the controller asked for
 * another. Bytes of the controller itself that are bad are tried three times.
 * While the controller is away, what comes from other agents goes on. What was
 * not used for FETCH_AGE_MS is removed from the node.
 */
#ifndef AGENT_BLOBS_FETCH_H
#define AGENT_BLOBS_FETCH_H

#include "agent/blobs/peers.h"

#define FETCH_STALL_MS 10000
#define FETCH_AGE_MS 3600000

struct fetches;
struct fetch_wait; /* one who waits for a content */

struct fetch_config {
	sd_event *loop;
	struct blob_store *contents;
	const struct key *key; /* the node's */
	const char *address;   /* peers_new() */
	uint32_t port;
	/* Send to the controller; -1: not now. */
	int (*say)(void *arg, enum message_type type, const void *body,
		   const void *data, size_t size);
	/* Unused contents are about to be removed: touch what is needed. */
	void (*touch)(void *arg);
	void *arg;
};

/* The config is borrowed. */
struct fetches *fetches_new(const struct fetch_config *config,
			    struct error *err);
void fetches_free(struct fetches *fetches); /* cancels all */
OWNED_POINTER(struct fetches, fetches_free)

/* Where other agents get contents from this one; NULL: nowhere. */
const char *fetches_endpoint(const struct fetches *fetches);

/* The session with the controller begins or ends, and what it says there. */
void fetches_session(struct fetches *fetches, bool begins);
void fetches_from(struct fetches *fetches,
		  const struct message_content_from *from);
void fetches_grant(struct fetches *fetches,
		   const struct message_content_grant *grant);
void fetches_read(struct fetches *fetches,
		  const struct message_content_read *read);
void fetches_piece(struct fetches *fetches,
		   const struct message_content_piece *piece, const void *data,
		   size_t size);

/* So much has come, of so much; at most twice a second. */
typedef void fetch_progress_fn(void *arg, uint64_t bytes, uint64_t total);
/* err is NULL: it is whole in the store. ENOENT: the controller has none. */
typedef void fetch_done_fn(void *arg, const struct error *err);

/* Have the content on the node. done() runs later, exactly once, never from
 * inside the call; the handle is gone then. progress may be NULL. awaited: that
 * the controller has none yet is no error while people put contents there.
 */
struct fetch_wait *fetch_begin(struct fetches *fetches, const char *hash,
			       bool awaited, fetch_progress_fn *progress,
			       fetch_done_fn *done, void *arg,
			       struct error *err);

/* Before done(): wait no longer. What has come stays for a later one. */
void fetch_release(struct fetch_wait *wait);

#endif
