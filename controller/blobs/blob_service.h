/* blob_service.h - gives nodes the blobs that they want.
 *
 * A blob is a workspace, an image's layer or a collected file. People upload
 * blobs and download others. A node that wants one is told
 * its source (distribution_tree.h): another node, or the controller, also while
 * the blob is still arriving. A node that awaits a blob is told when it
 * begins to arrive, or that it will not come.
 * A node gets what its tasks and image operations need; the caller knows that.
 * Blobs that no job or sweep uses (blob_users.h) are removed when they were
 * not used for BLOB_SERVICE_AGE_MS.
 */
#pragma once

#include "protocol/blob/blob_store.h"
#include "protocol/message/message.h"
#include "protocol/message/reply_logs.h"

#include <sys/types.h>

/* The blobs that people upload to the controller.
 *
 * At most BLOB_UPLOADS_MAX arrive at a time. An upload without bytes for a
 * minute frees its place, and may continue later. Nodes may await a blob
 * that is not here yet. It is expected until BLOB_UPLOADS_AWAIT_MS after the
 * last upload, or BLOB_UPLOADS_BACK_MS after the last uploader disconnected.
 */

#define BLOB_UPLOADS_MAX 16
#define BLOB_UPLOADS_AWAIT_MS 600000
#define BLOB_UPLOADS_BACK_MS 60000
#define BLOB_UPLOADS_SENDERS_MAX 64 /* uploaders whose end is noticed */

/* After so many failures in a row, for BLOB_SERVICE_ALONE_MS a node is no
 * source for others, and a node that fetches gets everything from the
 * controller. This bounds the cost of networks where agents cannot reach each
 * other, and of agents that do not give what they offer, also if they connect
 * again.
 */
#define BLOB_SERVICE_FAILURES 3
#define BLOB_SERVICE_ALONE_MS 600000

#define BLOB_SERVICE_AGE_MS ((uint64_t)7 * 24 * 3600 * 1000)
#define BLOB_SERVICE_PIECE (512 << 10)

struct node;
struct nodes;
struct sd_event;
struct store;
struct wire_peer;

/* All borrowed. */
struct blob_service_config {
	struct sd_event *loop;
	struct store *store;
	struct nodes *nodes;
};

/* folder: the controller's state. */
struct blob_service;
struct blob_service *blob_service_new(const struct blob_service_config *config,
				      const char *folder, struct error *err);
void blob_service_free(struct blob_service *blobs);
OWNED_POINTER(struct blob_service, blob_service_free)

struct blob_store *blob_service_store(const struct blob_service *blobs);

/* Requests of people. `bytes` gets the payload of the reply. */
int blob_service_put(struct blob_service *blobs, const struct wire_peer *sender,
		     const struct message_blob_put *put, const void *data,
		     size_t size, struct reply_blob_put *reply,
		     struct error *err);
int blob_service_get(struct blob_service *blobs,
		     const struct message_blob_get *get,
		     struct reply_blob_get *reply, struct buffer *bytes,
		     struct error *err);

/* The person's session has ended. */
void blob_service_sender_gone(struct blob_service *blobs,
			      const struct wire_peer *sender);

/* Messages of agents. */
void blob_service_want(struct blob_service *blobs, struct node *node,
		       const struct message_blob_want *want);
void blob_service_read(struct blob_service *blobs, struct node *node,
		       const struct message_blob_read *read);

/* The node asked for a blob, or to read it, and needs it for nothing. */
void blob_service_deny_want(struct node *node,
			    const struct message_blob_want *want);
void blob_service_deny_read(struct node *node,
			    const struct message_blob_read *read);

/* The node's session has ended. */
void blob_service_gone(struct blob_service *blobs, struct node *node);

/* The node's key is revoked: other nodes must not serve it any more. */
void blob_service_revoked(struct blob_service *blobs, const char *name);

/* Every half second. */
void blob_service_tick(struct blob_service *blobs);
