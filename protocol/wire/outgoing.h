/* outgoing.h - the messages that a server sends in one turn, and their
 * frames.
 *
 * Only for the server; other modules send through wire.h.
 */
#ifndef PROTOCOL_WIRE_OUTGOING_H
#define PROTOCOL_WIRE_OUTGOING_H

#include "protocol/base/loop.h"
#include "protocol/wire/wire_peer.h"

/* Both are borrowed; the watch is touched when something is sent. */
struct outgoing;
struct outgoing *outgoing_new(void *router, struct zmq_watch *watch,
			      struct error *err);
void outgoing_free(struct outgoing *outgoing); /* drops what is queued */
OWNED_POINTER(struct outgoing, outgoing_free)

/* Queue a message: wire_server_send(). */
int outgoing_put(struct outgoing *outgoing, struct wire_peer *peer,
		 enum message_type type, const void *body, const void *payload,
		 size_t size, struct error *err);
/* Send what is queued. Peers whose own queue is full are marked as lagged. */
void outgoing_flush(struct outgoing *outgoing, struct wire_peers *peers);

/* Send at once, without the queue: for messages that need no commit. */
void outgoing_now(struct outgoing *outgoing, const struct wire_peer *peer,
		  enum message_type type, const void *body);

#endif
