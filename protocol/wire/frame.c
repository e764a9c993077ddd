/* frame.c - whole messages on ZeroMQ sockets: a message frame, then a raw
 * frame.
 */
#include "protocol/wire/frame.h"
#include "protocol/message/message.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void frames_init(struct frames *frames)
{
	frames->id_size = 0;
	frames->has_payload = false;
	zmq_msg_init(&frames->text);
	zmq_msg_init(&frames->payload);
}

void frames_clear(struct frames *frames)
{
	zmq_msg_close(&frames->text);
	zmq_msg_close(&frames->payload);
	frames_init(frames);
}

/* Take what is left of a message that has more frames than ours have. */
static void skip_rest(void *socket)
{
	zmq_msg_t part;

	do {
		zmq_msg_init(&part);
		if (zmq_msg_recv(&part, socket, ZMQ_DONTWAIT) < 0)
			return;
		if (!zmq_msg_more(&part)) {
			zmq_msg_close(&part);
			return;
		}
		zmq_msg_close(&part);
	} while (true);
}

static bool receive_id(void *socket, struct frames *frames)
{
	zmq_msg_t id;
	bool good;

	zmq_msg_init(&id);
	good = zmq_msg_recv(&id, socket, ZMQ_DONTWAIT) >= 0 &&
	       zmq_msg_more(&id) && zmq_msg_size(&id) <= sizeof(frames->id);
	if (good) {
		frames->id_size = zmq_msg_size(&id);
		memcpy(frames->id, zmq_msg_data(&id), frames->id_size);
	}
	zmq_msg_close(&id);
	return good;
}

int frames_receive(void *socket, bool router, struct frames *frames,
		   struct error *err)
{
	size_t max = router ? MESSAGE_TEXT_MAX : MESSAGE_REPLY_MAX;

	frames_clear(frames);
	if (router && !receive_id(socket, frames))
		return 0;
	if (zmq_msg_recv(&frames->text, socket, ZMQ_DONTWAIT) < 0)
		return 0;
	if (zmq_msg_more(&frames->text)) {
		if (zmq_msg_recv(&frames->payload, socket, ZMQ_DONTWAIT) < 0)
			return 0;
		frames->has_payload = true;
		if (zmq_msg_more(&frames->payload)) {
			skip_rest(socket);
			return error_set(err, EPROTO,
					 "more than two frames in a message");
		}
	}
	if (zmq_msg_size(&frames->text) > max ||
	    zmq_msg_size(&frames->payload) > MESSAGE_PAYLOAD_MAX)
		return error_set(err, EPROTO,
				 "frames of %zu and %zu bytes; expected at "
				 "most %zu and %d",
				 zmq_msg_size(&frames->text),
				 zmq_msg_size(&frames->payload), max,
				 MESSAGE_PAYLOAD_MAX);
	return 1;
}

int frames_send(void *socket, bool router, struct frames *frames,
		struct error *err)
{
	int more = frames->has_payload ? ZMQ_SNDMORE : 0;

	if (router && zmq_send(socket, frames->id, frames->id_size,
			       ZMQ_DONTWAIT | ZMQ_SNDMORE) < 0)
		return error_errno(err, "send");
	if (zmq_msg_send(&frames->text, socket, ZMQ_DONTWAIT | more) < 0)
		return error_errno(err, "send");
	if (more && zmq_msg_send(&frames->payload, socket, ZMQ_DONTWAIT) < 0)
		return error_errno(err, "send");
	frames->has_payload = false;
	return 0;
}

static int fill_frame(zmq_msg_t *frame, const void *data, size_t size,
		      struct error *err)
{
	zmq_msg_close(frame);
	if (zmq_msg_init_size(frame, size) < 0) {
		zmq_msg_init(frame);
		return error_nomem(err, "message");
	}
	if (size)
		memcpy(zmq_msg_data(frame), data, size);
	return 0;
}

int frames_fill(struct frames *frames, const void *text, size_t text_size,
		const void *payload, size_t payload_size, struct error *err)
{
	if (payload && payload_size > MESSAGE_PAYLOAD_MAX)
		return error_set(err, E2BIG,
				 "payload of %zu bytes; expected at most %d",
				 payload_size, MESSAGE_PAYLOAD_MAX);
	if (fill_frame(&frames->text, text, text_size, err) < 0)
		return -1;
	frames->has_payload = payload != NULL;
	if (payload)
		return fill_frame(&frames->payload, payload, payload_size, err);
	return 0;
}

void *socket_monitor_new(void *zmq, void *socket, int events, struct error *err)
{
	char address[96];
	struct timespec now;
	void *monitor;
	int zero = 0;

	/* Unlike any other of the context: a closed socket's monitor may linger
	 * when a new socket gets the same address. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(address, sizeof(address), "inproc://monitor-%p-%lld.%ld",
		 socket, (long long)now.tv_sec, now.tv_nsec);
	if (zmq_socket_monitor(socket, address, events) < 0) {
		error_errno(err, "socket monitor");
		return NULL;
	}
	monitor = zmq_socket(zmq, ZMQ_PAIR);
	if (!monitor) {
		error_errno(err, "socket monitor");
		return NULL;
	}
	/* No limit: a full queue would stop libzmq's own thread. */
	zmq_setsockopt(monitor, ZMQ_RCVHWM, &zero, sizeof(zero));
	zmq_setsockopt(monitor, ZMQ_LINGER, &zero, sizeof(zero));
	if (zmq_connect(monitor, address) < 0) {
		error_errno(err, "socket monitor");
		zmq_close(monitor);
		return NULL;
	}
	return monitor;
}

int socket_monitor_receive(void *socket, uint16_t *event, uint32_t *value,
			   char *address, size_t size)
{
	uint8_t head[6];
	int length;

	if (zmq_recv(socket, head, sizeof(head), ZMQ_DONTWAIT) < 6)
		return 0;
	length = zmq_recv(socket, address, size - 1, ZMQ_DONTWAIT);
	if (length < 0)
		return 0;
	address[(size_t)length < size ? (size_t)length : size - 1] = 0;
	memcpy(event, head, 2);
	memcpy(value, head + 2, 4);
	return 1;
}
