/* peers.h - exchanges blobs between agents, without the controller.
 *
 * Each agent listens for others, on the same kind of encrypted channel as the
 * controller's. The controller decides which keys may connect. To fetch, the
 * agent connects to another one; the link stays open for a while after its last
 * use.
 */
#pragma once

#include "protocol/blob/blob_store.h"
#include "protocol/message/message.h"
#include "protocol/wire/keyring.h"

#include <systemd/sd-event.h>

struct peers;

struct peers_handler {
	/* The link is connected: peers_read() works now. */
	void (*up)(void *arg, const char *name);
	void (*piece)(void *arg, const char *name,
		      const struct message_blob_piece *piece, const void *data,
		      size_t size);
	/* The link is not connected; it keeps trying. */
	void (*lost)(void *arg, const char *name, const char *why);
	/* Send a piece to the controller, which reads; -1: not now. */
	int (*to_controller)(void *arg, const struct message_blob_piece *piece,
			     const void *data, size_t size);
};

/* key: this node's. address: where others reach it; port 0: any. All is
 * borrowed. If it cannot listen there, the log says so, and it serves nobody;
 * that is no error.
 */
struct peers *peers_new(sd_event *loop, struct blob_store *blobs,
			const struct key *key, const char *address,
			uint32_t port, const struct peers_handler *handler,
			void *arg, struct error *err);
void peers_free(struct peers *peers);
OWNED_POINTER(struct peers, peers_free)

/* "tcp://ADDRESS:PORT", or NULL. */
const char *peers_endpoint(const struct peers *peers);

/* Let the agent with this key read the blob from us, until PEERS_GRANTS_MAX
 * others follow; public NULL: no longer any.
 */
#define PEERS_GRANTS_MAX 4096
int peers_grant(struct peers *peers, const char *name, const char *public,
		const char *hash, struct error *err);

/* The controller reads from us; its session is over. */
void peers_controller_reads(struct peers *peers,
			    const struct message_blob_read *read);
void peers_controller_gone(struct peers *peers);

/* A blob has grown: send waiting readers more. */
void peers_wake(struct peers *peers);

/* Connect, or use the existing link; up() runs, now or later. Each call needs a
 * peers_close().
 */
int peers_open(struct peers *peers, const char *name, const char *endpoint,
	       const char *public, struct error *err);
void peers_close(struct peers *peers, const char *name);

/* Request a piece from it. -1: the link is not connected. */
int peers_read(struct peers *peers, const char *name,
	       const struct message_blob_read *read);
