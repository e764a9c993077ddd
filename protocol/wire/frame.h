/* frame.h - whole messages on ZeroMQ sockets: a message frame, then a raw
 * frame.
 */
#pragma once

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <zmq.h>

/* A ROUTER's id of a peer: 5 bytes, or up to 255 that the peer chose itself
 * (ZeroMQ RFC 28).
 */
struct frames_id {
	uint8_t bytes[255];
	size_t size;
};

/* One message on the wire. */
struct frames {
	struct frames_id id; /* of the peer, at a router */
	zmq_msg_t text;
	zmq_msg_t payload;
	bool has_payload;
};

void frames_init(struct frames *frames);
void frames_clear(struct frames *frames);
OWNED_VALUE(struct frames, frames_clear)

/* Receive one message without waiting. 1: received; 0: there is none; -1 with
 * EPROTO: it had too many frames or too large ones (id and text are set). The
 * limit of text is MESSAGE_TEXT_MAX for a router, MESSAGE_REPLY_MAX for others.
 */
int frames_receive(void *socket, bool router, struct frames *frames,
		   struct error *err);

/* Send without waiting; on success the frames are empty. EAGAIN: the peer's
 * queue is full; EHOSTUNREACH: no such peer.
 */
int frames_send(void *socket, bool router, struct frames *frames,
		struct error *err);

/* The bytes that they are on the wire, with what ZeroMQ (RFC 37) and CURVE
 * (RFC 26) add.
 */
size_t frames_wire_bytes(const struct frames *frames);

/* Take the text over from the buffer, which is then empty. */
int frames_text(struct frames *frames, struct buffer *text, struct error *err);
/* Add a payload, which is copied. E2BIG: more than MESSAGE_PAYLOAD_MAX. */
int frames_payload(struct frames *frames, const void *payload, size_t size,
		   struct error *err);

/* Identifies a connection while it is open: the next one may get the same
 * descriptor. 0: it is not open.
 */
ino_t socket_inode(int fd);

static inline int socket_set_int(void *socket, int option, int value)
{
	return zmq_setsockopt(socket, option, &value, sizeof(value));
}

/* A PAIR socket that gets these events of `socket`; closed by the caller, after
 * zmq_socket_monitor(socket, NULL, 0).
 */
void *socket_monitor_new(void *zmq, void *socket, int events,
			 struct error *err);

/* An event of a socket's monitor: 1 and *event, *value; 0: none. */
int socket_monitor_receive(void *socket, uint16_t *event, uint32_t *value);
