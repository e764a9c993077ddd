/* outgoing.c - the messages that a server sends in one turn, and their
 * frames.
 */
#include "protocol/wire/outgoing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES 65536 /* of messages that go in one frame */

_Static_assert(MESSAGE_PAYLOAD_MAX <= MESSAGE_TEXT_MAX,
	       "one limit for both frames");

/* A frame to be: messages of one turn to one peer, or one with its payload. */
struct outgoing_frame {
	uint8_t id[FRAMES_ID_MAX]; /* of the peer */
	size_t id_size;
	struct buffer messages;
	zmq_msg_t payload;
	bool has_payload;
	STAILQ_ENTRY(outgoing_frame) next;
};

struct outgoing {
	void *router;
	struct zmq_watch *watch;
	STAILQ_HEAD(, outgoing_frame) frames;
};

struct outgoing *outgoing_new(void *router, struct zmq_watch *watch,
			      struct error *err)
{
	struct outgoing *outgoing = calloc(1, sizeof(*outgoing));

	if (!outgoing) {
		error_nomem(err, "queue");
		return NULL;
	}
	outgoing->router = router;
	outgoing->watch = watch;
	STAILQ_INIT(&outgoing->frames);
	return outgoing;
}

static void frame_free(struct outgoing_frame *frame)
{
	buffer_clear(&frame->messages);
	zmq_msg_close(&frame->payload);
	free(frame);
}

void outgoing_free(struct outgoing *outgoing)
{
	struct outgoing_frame *frame;

	if (!outgoing)
		return;
	while ((frame = STAILQ_FIRST(&outgoing->frames))) {
		STAILQ_REMOVE_HEAD(&outgoing->frames, next);
		frame_free(frame);
	}
	free(outgoing);
}

static int router_send(struct outgoing *outgoing, struct frames *frames,
		       struct error *err)
{
	zmq_watch_touch(outgoing->watch);
	return frames_send(outgoing->router, true, frames, err);
}

void outgoing_now(struct outgoing *outgoing, const struct wire_peer *peer,
		  enum message_type type, const void *body)
{
	owned(buffer_clear) struct buffer text;
	owned(frames_clear) struct frames frames;

	frames_init(&frames);
	buffer_init(&text, MESSAGE_TEXT_MAX);
	memcpy(frames.id, peer->id, peer->id_size);
	frames.id_size = peer->id_size;
	if (message_encode(type, body, &text, NULL) == 0 &&
	    frames_fill(&frames, text.data, text.size, NULL, 0, NULL) == 0)
		router_send(outgoing, &frames, NULL);
}

/* Queueing. */

static struct outgoing_frame *frame_new(const struct wire_peer *peer,
					enum message_type type)
{
	struct outgoing_frame *frame = calloc(1, sizeof(*frame));

	if (!frame)
		return NULL;
	memcpy(frame->id, peer->id, peer->id_size);
	frame->id_size = peer->id_size;
	zmq_msg_init(&frame->payload);
	buffer_init(&frame->messages,
		    message_kinds[type].senders == ROLE_CONTROLLER
			    ? MESSAGE_REPLY_MAX
			    : MESSAGE_TEXT_MAX);
	return frame;
}

static int add_payload(struct outgoing_frame *frame, const void *payload,
		       size_t size, struct error *err)
{
	if (size > MESSAGE_PAYLOAD_MAX)
		return error_set(err, E2BIG,
				 "payload of %zu bytes; expected at most %d",
				 size, MESSAGE_PAYLOAD_MAX);
	if (zmq_msg_init_size(&frame->payload, size) < 0) {
		zmq_msg_init(&frame->payload);
		return error_nomem(err, "message");
	}
	memcpy(zmq_msg_data(&frame->payload), payload, size);
	frame->has_payload = true;
	return 0;
}

/* Messages without payload are put behind each other. */
static bool put_behind(struct wire_peer *peer, enum message_type type,
		       const void *body)
{
	struct outgoing_frame *last = peer->unsent;

	return last && !message_is_text(type) &&
	       last->messages.size < BATCH_BYTES &&
	       message_encode(type, body, &last->messages, NULL) == 0;
}

int outgoing_put(struct outgoing *outgoing, struct wire_peer *peer,
		 enum message_type type, const void *body, const void *payload,
		 size_t size, struct error *err)
{
	struct outgoing_frame *frame;

	if (!payload && put_behind(peer, type, body))
		return 0;
	frame = frame_new(peer, type);
	if (!frame)
		return error_nomem(err, "message");
	if (message_encode(type, body, &frame->messages, err) < 0 ||
	    (payload && add_payload(frame, payload, size, err) < 0)) {
		frame_free(frame);
		return -1;
	}
	peer->unsent = payload || message_is_text(type) ? NULL : frame;
	STAILQ_INSERT_TAIL(&outgoing->frames, frame, next);
	return 0;
}

/* Sending. */

static void free_data(void *data, void *hint)
{
	free(data);
}

/* Gives the frame's bytes to libzmq. */
static int send_frame(struct outgoing *outgoing, struct outgoing_frame *frame,
		      struct frames *frames, struct error *err)
{
	size_t size = frame->messages.size;
	char *data = buffer_take(&frame->messages);

	memcpy(frames->id, frame->id, frame->id_size);
	frames->id_size = frame->id_size;
	if (!data ||
	    zmq_msg_init_data(&frames->text, data, size, free_data, NULL) < 0) {
		free(data);
		return error_nomem(err, "message");
	}
	zmq_msg_move(&frames->payload, &frame->payload);
	frames->has_payload = frame->has_payload;
	return router_send(outgoing, frames, err);
}

void outgoing_flush(struct outgoing *outgoing, struct wire_peers *peers)
{
	struct outgoing_frame *frame;

	while ((frame = STAILQ_FIRST(&outgoing->frames))) {
		owned(frames_clear) struct frames frames;
		struct wire_peer *peer;
		struct error err;
		int rc;

		STAILQ_REMOVE_HEAD(&outgoing->frames, next);
		frames_init(&frames);
		rc = send_frame(outgoing, frame, &frames, &err);
		peer = wire_peers_find(peers, &frames);
		if (peer)
			peer->unsent = NULL;
		if (peer && rc < 0 && err.code == EAGAIN)
			peer->lagged = true;
		frame_free(frame);
	}
}
