/* frame.c - whole messages on ZeroMQ sockets: a message frame, then a raw
 * frame.
 */
#include "protocol/wire/frame.h"
#include "protocol/message/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define CURVE_FRAME 33 /* bytes that CURVE adds to a frame */

void frames_init(struct frames *frames)
{
	frames->id.size = 0;
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

/* Drop the further frames of a message. */
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
	       zmq_msg_more(&id) &&
	       zmq_msg_size(&id) <= sizeof(frames->id.bytes);
	if (good) {
		frames->id.size = zmq_msg_size(&id);
		memcpy(frames->id.bytes, zmq_msg_data(&id), frames->id.size);
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

	if (router && zmq_send(socket, frames->id.bytes, frames->id.size,
			       ZMQ_DONTWAIT | ZMQ_SNDMORE) < 0)
		return error_errno(err, "send");
	if (zmq_msg_send(&frames->text, socket, ZMQ_DONTWAIT | more) < 0)
		return error_errno(err, "send");
	if (more && zmq_msg_send(&frames->payload, socket, ZMQ_DONTWAIT) < 0)
		return error_errno(err, "send");
	frames->has_payload = false;
	return 0;
}

static size_t frame_wire_bytes(const zmq_msg_t *frame)
{
	size_t size = zmq_msg_size(frame) + CURVE_FRAME;

	return size + (size > 255 ? 9 : 2);
}

size_t frames_wire_bytes(const struct frames *frames)
{
	return frame_wire_bytes(&frames->text) +
	       (frames->has_payload ? frame_wire_bytes(&frames->payload) : 0);
}

static void free_data(void *data, void *hint)
{
	free(data);
}

int frames_text(struct frames *frames, struct buffer *text, struct error *err)
{
	size_t size = text->size;
	char *data = buffer_take(text);

	zmq_msg_close(&frames->text);
	if (data &&
	    zmq_msg_init_data(&frames->text, data, size, free_data, NULL) == 0)
		return 0;
	zmq_msg_init(&frames->text);
	free(data);
	return error_nomem(err, "message");
}

int frames_payload(struct frames *frames, const void *payload, size_t size,
		   struct error *err)
{
	if (size > MESSAGE_PAYLOAD_MAX)
		return error_set(err, E2BIG,
				 "payload of %zu bytes; expected at most %d",
				 size, MESSAGE_PAYLOAD_MAX);
	zmq_msg_close(&frames->payload);
	if (zmq_msg_init_size(&frames->payload, size) < 0) {
		zmq_msg_init(&frames->payload);
		return error_nomem(err, "message");
	}
	memcpy(zmq_msg_data(&frames->payload), payload, size);
	frames->has_payload = true;
	return 0;
}

ino_t socket_inode(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

void *socket_monitor_new(void *zmq, void *socket, int events, struct error *err)
{
	char address[96];
	struct timespec now;
	void *monitor;
	int zero = 0;

	/* The address must be unique in the context: the monitor of a closed
	 * socket may still exist when a new socket is at the same place in
	 * memory. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(address, sizeof(address), "inproc://monitor-%p-%lld.%ld",
		 socket, (long long)now.tv_sec, now.tv_nsec);
	if (zmq_socket_monitor(socket, address, events) < 0)
		return error_null(error_errno(err, "socket monitor"));
	monitor = zmq_socket(zmq, ZMQ_PAIR);
	if (!monitor)
		return error_null(error_errno(err, "socket monitor"));
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

int socket_monitor_receive(void *socket, uint16_t *event, uint32_t *value)
{
	uint8_t head[6];
	char address[1]; /* the second frame is of no use here */

	if (zmq_recv(socket, head, sizeof(head), ZMQ_DONTWAIT) < 6 ||
	    zmq_recv(socket, address, sizeof(address), ZMQ_DONTWAIT) < 0)
		return 0;
	memcpy(event, head, 2);
	memcpy(value, head + 2, 4);
	return 1;
}
