/* connection_monitor.h - reports connections to a ZeroMQ socket: each that
 * comes or ends, and those that end without a message.
 *
 * libzmq does not report connections that the socket does not expect: another
 * protocol, a failed handshake, a port scan. Its monitor only reports that a
 * descriptor was accepted or closed (zmq_socket_monitor(3)). So the owner tells
 * this module from which descriptors a message came. The others are reported
 * with their address, half a second after they closed.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <systemd/sd-event.h>

/* A connection closed without a message. address: of the peer, or "somebody"
 * when it closed before its address could be read.
 */
typedef void connection_monitor_left_fn(void *arg, const char *address);

struct connection_monitor_handler {
	void (*came)(void *arg, int fd); /* a connection was accepted */
	void (*ended)(void *arg);        /* one of them is about to close */
	connection_monitor_left_fn *left;
};

/* zmq: the context of socket; both are borrowed. Free the
 * monitor first.
 */
struct connection_monitor;
struct connection_monitor *
connection_monitor_new(sd_event *loop, void *zmq, void *socket,
		       const struct connection_monitor_handler *handler,
		       void *arg, struct error *err);
void connection_monitor_free(struct connection_monitor *monitor);
OWNED_POINTER(struct connection_monitor, connection_monitor_free)

/* A message came from descriptor fd (ZMQ_SRCFD; below 0: not known). */
void connection_monitor_heard(struct connection_monitor *monitor, int fd);

/* The next connection that closes without a message is not reported: the log
 * has the reason already.
 */
void connection_monitor_explained(struct connection_monitor *monitor);
