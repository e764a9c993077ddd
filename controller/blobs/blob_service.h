/* blob_service.h - the controller's contents: received from people, given to
 * nodes.
 *
 * People put contents here (a workspace, an image's layers) and get others
 * (collected files). Nodes are told who gives them what they want
 * (distribution_tree.h); the controller itself gives, too, also of what is
 * still coming in. A node that awaits one is told when the first byte of it is
 * due, or that there is none: when nothing has come from people for
 * BLOB_SERVICE_AWAIT_MS, or all who sent something have been gone for
 * BLOB_SERVICE_BACK_MS. What no job or sweep uses (blob_users.h) goes when it
 * was not used for BLOB_SERVICE_AGE_MS.
 */
#ifndef CONTROLLER_BLOBS_BLOB_SERVICE_H
#define CONTROLLER_BLOBS_BLOB_SERVICE_H

#include "protocol/blob/blob_store.h"
#include "protocol/message/message.h"
#include "protocol/message/reply_logs.h"

/* So many failures in a row: a node that gives is out of reach of others until
 * its agent starts anew, one that takes gets all from the controller for
 * BLOB_SERVICE_ALONE_MS. Networks where agents cannot reach each other cost no
 * more.
 */
#define BLOB_SERVICE_FAILURES 3
#define BLOB_SERVICE_ALONE_MS 600000

#define BLOB_SERVICE_AGE_MS ((uint64_t)7 * 24 * 3600 * 1000)
#define BLOB_SERVICE_PUTS_MAX                                                  \
	16 /* contents coming in from people at a time                         \
	    */
#define BLOB_SERVICE_PIECE (512 << 10)
#define BLOB_SERVICE_AWAIT_MS 600000
#define BLOB_SERVICE_BACK_MS 60000
#define BLOB_SERVICE_SENDERS_MAX 64 /* sessions whose end is noticed so */

struct node;
struct nodes;
struct sd_event;
struct store;
struct wire_peer;

/* What it is given; all is borrowed. */
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

struct blob_store *blob_service_contents(const struct blob_service *blobs);

/* Requests of people; the reply's payload goes to `bytes`. */
int blob_service_put(struct blob_service *blobs, const struct wire_peer *sender,
		     const struct message_content_put *put, const void *data,
		     size_t size, struct reply_content_put *reply,
		     struct error *err);
int blob_service_get(struct blob_service *blobs,
		     const struct message_content_get *get,
		     struct reply_content_get *reply, struct buffer *bytes,
		     struct error *err);

/* The person's session is over. */
void blob_service_sender_gone(struct blob_service *blobs,
			      const struct wire_peer *sender);

/* What agents say. */
void blob_service_want(struct blob_service *blobs, struct node *node,
		       const struct message_content_want *want);
void blob_service_read(struct blob_service *blobs, struct node *node,
		       const struct message_content_read *read);

/* The node's session is over. */
void blob_service_gone(struct blob_service *blobs, struct node *node);

/* The node's key is revoked: it gets nothing from other nodes either. */
void blob_service_revoked(struct blob_service *blobs, const char *name);

/* Every half second. */
void blob_service_tick(struct blob_service *blobs);

#endif
