/* connection_monitor.h - reports connections to a ZeroMQ socket that end
 * without a message.
 *
 * libzmq tells nobody about connections that are not what the socket expects:
 * another protocol, a handshake that fails, a port scan. Its monitor says only
 * that some descriptor was accepted and some descriptor was closed
 * (zmq_socket_monitor(3)), so the owner says which ones were heard from, and
 * the door reports the others, with their address, half a second after they
 * left.
 */
#ifndef PROTOCOL_WIRE_CONNECTION_MONITOR_H
#define PROTOCOL_WIRE_CONNECTION_MONITOR_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <systemd/sd-event.h>

/* Somebody left; address is theirs, or "somebody" when they were too quick. */
typedef void connection_monitor_left_fn(void *arg, const char *address);

/* A connection was accepted. */
typedef void connection_monitor_came_fn(void *arg, int fd);

/* zmq: the context of socket; both are borrowed. Free the door first. */
struct connection_monitor;
struct connection_monitor *
connection_monitor_new(sd_event *loop, void *zmq, void *socket,
		       connection_monitor_came_fn *came,
		       connection_monitor_left_fn *left, void *arg,
		       struct error *err);
void connection_monitor_free(struct connection_monitor *monitor);
OWNED_POINTER(struct connection_monitor, connection_monitor_free)

/* A message came from descriptor fd (ZMQ_SRCFD; below 0: not known). */
void connection_monitor_heard(struct connection_monitor *monitor, int fd);

/* One that will leave without a message has been reported already. */
void connection_monitor_explained(struct connection_monitor *monitor);

#endif
