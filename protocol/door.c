/* door.c - who came to a listening ZeroMQ socket and left without a message.
 */
#include "protocol/door.h"
#include "protocol/frame.h"
#include "protocol/loop.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BURST 64           /* events per turn of the loop */
#define PATIENCE_MS 500    /* for messages that are still unread */
#define VISITORS_MAX 65536 /* descriptors that are looked at */

/* By the number of the descriptor. */
struct visitor {
	char address[INET6_ADDRSTRLEN];
	bool heard;
	bool left;
};

struct door {
	sd_event *loop;
	void *socket, *monitor;
	struct zmq_watch *watch;
	sd_event_source *timer;
	struct visitor *visitors;
	size_t count;
	size_t left;      /* of these, how many to look at */
	size_t explained; /* of these, how many to say nothing about */
	door_left_fn *fn;
	void *arg;
};

static struct visitor *visitor_at(struct door *door, int fd)
{
	size_t want = (size_t)fd + 1;
	struct visitor *visitors;

	if (fd < 0 || want > VISITORS_MAX)
		return NULL;
	if (want > door->count) {
		want += want / 2;
		visitors = realloc(door->visitors, want * sizeof(*visitors));
		if (!visitors)
			return NULL;
		memset(visitors + door->count, 0,
		       (want - door->count) * sizeof(*visitors));
		door->visitors = visitors;
		door->count = want;
	}
	return &door->visitors[fd];
}

static void report(struct door *door, struct visitor *visitor)
{
	visitor->left = false;
	door->left--;
	if (visitor->heard)
		return;
	if (door->explained)
		door->explained--;
	else
		door->fn(door->arg,
			 visitor->address[0] ? visitor->address : "somebody");
}

static int report_all(sd_event_source *source, uint64_t usec, void *arg)
{
	struct door *door = arg;

	for (size_t i = 0; door->left && i < door->count; i++)
		if (door->visitors[i].left)
			report(door, &door->visitors[i]);
	return 0;
}

static void came(struct door *door, int fd)
{
	struct visitor *visitor = visitor_at(door, fd);
	struct sockaddr_storage there = { 0 };
	socklen_t size = sizeof(there);

	if (!visitor)
		return;
	if (visitor->left)
		report(door, visitor);
	*visitor = (struct visitor){ 0 };
	if (getpeername(fd, (struct sockaddr *)&there, &size) < 0)
		return;
	if (there.ss_family == AF_INET)
		inet_ntop(AF_INET, &((struct sockaddr_in *)&there)->sin_addr,
			  visitor->address, sizeof(visitor->address));
	else if (there.ss_family == AF_INET6)
		inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&there)->sin6_addr,
			  visitor->address, sizeof(visitor->address));
}

static void went(struct door *door, int fd)
{
	struct visitor *visitor = visitor_at(door, fd);

	if (!visitor || visitor->heard || visitor->left)
		return;
	visitor->left = true;
	if (!door->left++)
		loop_timer(door->loop, &door->timer, PATIENCE_MS, report_all,
			   door, NULL);
}

static int monitor_ready(void *arg)
{
	struct door *door = arg;
	uint16_t event;
	uint32_t value;
	char address[256];

	if (!socket_monitor_receive(door->monitor, &event, &value, address,
				    sizeof(address)))
		return 0;
	if (event == ZMQ_EVENT_ACCEPTED)
		came(door, (int)value);
	else
		went(door, (int)value);
	return 1;
}

void door_heard(struct door *door, int fd)
{
	struct visitor *visitor = visitor_at(door, fd);

	if (visitor)
		visitor->heard = true;
}

void door_explained(struct door *door)
{
	door->explained++;
}

struct door *door_new(sd_event *loop, void *zmq, void *socket,
		      door_left_fn *left, void *arg, struct error *err)
{
	owned(door_free) struct door *door = calloc(1, sizeof(*door));

	if (!door) {
		error_nomem(err, "socket monitor");
		return NULL;
	}
	door->loop = sd_event_ref(loop);
	door->socket = socket;
	door->fn = left;
	door->arg = arg;
	door->monitor =
		socket_monitor_new(zmq, socket,
				   ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED,
				   err);
	if (!door->monitor)
		return NULL;
	door->watch = zmq_watch_new(loop, door->monitor, BURST, monitor_ready,
				    door, err);
	return door->watch ? take(door) : NULL;
}

void door_free(struct door *door)
{
	if (!door)
		return;
	loop_source_free(&door->timer);
	zmq_watch_free(door->watch);
	if (door->monitor) {
		zmq_socket_monitor(door->socket, NULL, 0);
		zmq_close(door->monitor);
	}
	sd_event_unref(door->loop);
	free(door->visitors);
	free(door);
}
