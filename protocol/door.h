/* door.h - who came to a listening ZeroMQ socket and left without a message.
 *
 * libzmq tells nobody about connections that are not what the socket expects:
 * another protocol, a handshake that fails, a port scan. Its monitor says only
 * that some descriptor was accepted and some descriptor was closed
 * (zmq_socket_monitor(3)), so the owner says which ones were heard from, and
 * the door reports the others, with their address, half a second after they
 * left.
 */
#ifndef PROTOCOL_DOOR_H
#define PROTOCOL_DOOR_H

#include "protocol/error.h"
#include "protocol/owned.h"

#include <systemd/sd-event.h>

/* Somebody left; address is theirs, or "somebody" when they were too quick. */
typedef void door_left_fn(void *arg, const char *address);

/* zmq: the context of socket; both are borrowed. Free the door first. */
struct door;
struct door *door_new(sd_event *loop, void *zmq, void *socket,
		      door_left_fn *left, void *arg, struct error *err);
void door_free(struct door *door);
OWNED_POINTER(struct door, door_free)

/* A message came from descriptor fd (ZMQ_SRCFD; below 0: not known). */
void door_heard(struct door *door, int fd);

/* One that will leave without a message has been reported already. */
void door_explained(struct door *door);

#endif
