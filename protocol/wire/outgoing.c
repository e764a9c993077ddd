/* outgoing.c - the messages that a server sends in one turn, and their
 * frames.
 */
#include "protocol/wire/outgoing.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>

#define BATCH_BYTES 65536 /* of messages that go in one frame */

_Static_assert(MESSAGE_PAYLOAD_MAX <= MESSAGE_TEXT_MAX,
	       "one limit for both frames");

/* Messages of one turn to one peer, or one message with its payload. */
struct outgoing_frame {
	struct frames frames; /* without the text, until it is sent */
	struct buffer messages;
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

	if (!outgoing)
		return error_null(error_nomem(err, "queue"));
	outgoing->router = router;
	outgoing->watch = watch;
	STAILQ_INIT(&outgoing->frames);
	return outgoing;
}

static size_t frame_size(const struct outgoing_frame *frame)
{
	return frame->messages.size + zmq_msg_size(&frame->frames.payload);
}

static void frame_free(struct outgoing_frame *frame)
{
	buffer_clear(&frame->messages);
	frames_clear(&frame->frames);
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

static int frame_send(struct outgoing *outgoing, struct outgoing_frame *frame,
		      size_t *wire, struct error *err)
{
	if (frames_text(&frame->frames, &frame->messages, err) < 0)
		return -1;
	*wire = frames_wire_bytes(&frame->frames);
	zmq_watch_touch(outgoing->watch);
	return frames_send(outgoing->router, true, &frame->frames, err);
}

static struct outgoing_frame *frame_new(const struct frames_id *to,
					enum message_type type,
					const void *body, struct error *err)
{
	struct outgoing_frame *frame = calloc(1, sizeof(*frame));

	if (!frame)
		return error_null(error_nomem(err, "message"));
	frames_init(&frame->frames);
	frame->frames.id = *to;
	buffer_init(&frame->messages,
		    message_kinds[type].senders == ROLE_CONTROLLER
			    ? MESSAGE_REPLY_MAX
			    : MESSAGE_TEXT_MAX);
	if (message_encode(type, body, &frame->messages, err) == 0)
		return frame;
	frame_free(frame);
	return NULL;
}

size_t outgoing_now(struct outgoing *outgoing, const struct frames_id *to,
		    enum message_type type, const void *body)
{
	struct outgoing_frame *frame = frame_new(to, type, body, NULL);
	size_t wire = 0;

	if (!frame)
		return 0;
	if (frame_send(outgoing, frame, &wire, NULL) < 0)
		wire = 0;
	frame_free(frame);
	return wire;
}

ssize_t outgoing_put(struct outgoing *outgoing, const struct frames_id *to,
		     struct outgoing_frame **open, enum message_type type,
		     const void *body, const void *payload, size_t size,
		     struct error *err)
{
	bool alone = payload || message_is_text(type);
	size_t before = *open ? (*open)->messages.size : 0;
	struct outgoing_frame *frame;

	if (!alone && *open && before < BATCH_BYTES &&
	    message_encode(type, body, &(*open)->messages, NULL) == 0)
		return (ssize_t)((*open)->messages.size - before);
	frame = frame_new(to, type, body, err);
	if (!frame)
		return -1;
	if (payload && frames_payload(&frame->frames, payload, size, err) < 0) {
		frame_free(frame);
		return -1;
	}
	*open = alone ? NULL : frame;
	STAILQ_INSERT_TAIL(&outgoing->frames, frame, next);
	return (ssize_t)frame_size(frame);
}

void outgoing_flush(struct outgoing *outgoing, outgoing_sent_fn *sent,
		    void *arg)
{
	struct outgoing_frame *frame;

	while ((frame = STAILQ_FIRST(&outgoing->frames))) {
		size_t size = frame_size(frame), wire = 0;
		struct error err;
		int rc;

		STAILQ_REMOVE_HEAD(&outgoing->frames, next);
		rc = frame_send(outgoing, frame, &wire, &err);
		sent(arg, &frame->frames.id, size, rc < 0 ? 0 : wire,
		     rc < 0 && err.code == EAGAIN);
		frame_free(frame);
	}
}
