/* connection_monitor.c - reports connections to a ZeroMQ socket: each that
 * comes or ends, and those that end without a message.
 */
#include "protocol/wire/connection_monitor.h"
#include "protocol/base/loop.h"
#include "protocol/wire/frame.h"

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

struct connection_monitor {
	sd_event *loop;
	void *socket, *monitor;
	struct zmq_watch *watch;
	sd_event_source *timer;
	struct visitor *visitors;
	size_t count;
	size_t left;      /* of these, how many to look at */
	size_t explained; /* of these, how many to say nothing about */
	struct connection_monitor_handler handler;
	void *arg;
};

static struct visitor *visitor_at(struct connection_monitor *monitor, int fd)
{
	size_t want = (size_t)fd + 1;
	struct visitor *visitors;

	if (fd < 0 || want > VISITORS_MAX)
		return NULL;
	if (want > monitor->count) {
		want += want / 2;
		visitors = realloc(monitor->visitors, want * sizeof(*visitors));
		if (!visitors)
			return NULL;
		memset(visitors + monitor->count, 0,
		       (want - monitor->count) * sizeof(*visitors));
		monitor->visitors = visitors;
		monitor->count = want;
	}
	return &monitor->visitors[fd];
}

static void visitor_report(struct connection_monitor *monitor,
			   struct visitor *visitor)
{
	visitor->left = false;
	monitor->left--;
	if (visitor->heard)
		return;
	if (monitor->explained)
		monitor->explained--;
	else
		monitor->handler.left(monitor->arg, visitor->address[0]
							    ? visitor->address
							    : "somebody");
}

static int report_all(sd_event_source *source, uint64_t usec, void *arg)
{
	struct connection_monitor *monitor = arg;

	for (size_t i = 0; monitor->left && i < monitor->count; i++)
		if (monitor->visitors[i].left)
			visitor_report(monitor, &monitor->visitors[i]);
	return 0;
}

static void visitor_came(struct connection_monitor *monitor, int fd)
{
	struct visitor *visitor = visitor_at(monitor, fd);
	struct sockaddr_storage there = { 0 };
	socklen_t size = sizeof(there);

	monitor->handler.came(monitor->arg, fd);
	if (!visitor)
		return;
	if (visitor->left)
		visitor_report(monitor, visitor);
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

static void went(struct connection_monitor *monitor, int fd)
{
	struct visitor *visitor = visitor_at(monitor, fd);

	monitor->handler.ended(monitor->arg);
	if (!visitor || visitor->heard || visitor->left)
		return;
	visitor->left = true;
	if (!monitor->left++)
		loop_timer(monitor->loop, &monitor->timer, PATIENCE_MS,
			   report_all, monitor, NULL);
}

static int connection_monitor_ready(void *arg)
{
	struct connection_monitor *monitor = arg;
	uint16_t event;
	uint32_t value;

	if (!socket_monitor_receive(monitor->monitor, &event, &value))
		return 0;
	if (event == ZMQ_EVENT_ACCEPTED)
		visitor_came(monitor, (int)value);
	else
		went(monitor, (int)value);
	return 1;
}

void connection_monitor_heard(struct connection_monitor *monitor, int fd)
{
	struct visitor *visitor = visitor_at(monitor, fd);

	if (visitor)
		visitor->heard = true;
}

void connection_monitor_explained(struct connection_monitor *monitor)
{
	monitor->explained++;
}

struct connection_monitor *
connection_monitor_new(sd_event *loop, void *zmq, void *socket,
		       const struct connection_monitor_handler *handler,
		       void *arg, struct error *err)
{
	owned(connection_monitor_free) struct connection_monitor *monitor =
		calloc(1, sizeof(*monitor));

	if (!monitor)
		return error_null(error_nomem(err, "socket monitor"));
	monitor->loop = sd_event_ref(loop);
	monitor->socket = socket;
	monitor->handler = *handler;
	monitor->arg = arg;
	monitor->monitor =
		socket_monitor_new(zmq, socket,
				   ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED,
				   err);
	if (!monitor->monitor)
		return NULL;
	monitor->watch = zmq_watch_new(loop, monitor->monitor, BURST,
				       connection_monitor_ready, monitor, err);
	return monitor->watch ? take(monitor) : NULL;
}

void connection_monitor_free(struct connection_monitor *monitor)
{
	if (!monitor)
		return;
	loop_source_free(&monitor->timer);
	zmq_watch_free(monitor->watch);
	if (monitor->monitor) {
		zmq_socket_monitor(monitor->socket, NULL, 0);
		zmq_close(monitor->monitor);
	}
	sd_event_unref(monitor->loop);
	free(monitor->visitors);
	free(monitor);
}
