/* outgoing.h - the messages that a server sends in one turn, and their
 * frames.
 *
 * Only for the server; other modules send through wire.h.
 */
#pragma once

#include "protocol/base/loop.h"
#include "protocol/message/message.h"
#include "protocol/wire/frame.h"

#include <sys/types.h>

/* Both are borrowed; the watch is touched when something is sent. */
struct outgoing;
struct outgoing *outgoing_new(void *router, struct zmq_watch *watch,
			      struct error *err);
void outgoing_free(struct outgoing *outgoing); /* drops what is queued */
OWNED_POINTER(struct outgoing, outgoing_free)

/* Queue a message to this peer: wire_server_send(). *open: the frame of the
 * peer to which further messages are added; NULL: none. Returns how many bytes
 * were queued.
 */
struct outgoing_frame;
ssize_t outgoing_put(struct outgoing *outgoing, const struct frames_id *to,
		     struct outgoing_frame **open, enum message_type type,
		     const void *body, const void *payload, size_t size,
		     struct error *err);

/* Send what is queued. sent() runs for each frame, which is not open any more;
 * size: of what was queued; wire: the same on the wire, or 0: it was not sent;
 * dropped: the peer's own queue is full.
 */
typedef void outgoing_sent_fn(void *arg, const struct frames_id *to,
			      size_t size, size_t wire, bool dropped);
void outgoing_flush(struct outgoing *outgoing, outgoing_sent_fn *sent,
		    void *arg);

/* Send at once, without the queue: for messages that need no commit. Returns
 * its bytes on the wire; 0: it was not sent.
 */
size_t outgoing_now(struct outgoing *outgoing, const struct frames_id *to,
		    enum message_type type, const void *body);
