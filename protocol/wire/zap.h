/* zap.h - answers libzmq's question whether a key may connect.
 *
 * At a TCP port CURVE has proved that the peer holds the key. At a unix socket,
 * where nothing is encrypted, the peer names its key as user, and the key's
 * proof for the server (key.h) is its password (PLAIN, ZeroMQ RFC 24).
 *
 * ZAP (ZeroMQ RFC 27): the sockets of a context ask at inproc://zeromq.zap.01
 * of the same context. One handler serves all servers of the context;
 * make it before their first bind. The messages of an accepted connection have
 * the name of its key as metadata "User-Id", and the key as ZAP_KEY.
 */
#pragma once

#include "protocol/wire/keyring.h"

#include <systemd/sd-event.h>

#define ZAP_KEY "X-Key"

/* A key was refused; address is the connection's, for the log. */
typedef void zap_refused_fn(void *arg, const char *address, const char *why);

/* zmq: a context; own: the server's key; keyring: the keys that may connect.
 * All are borrowed.
 */
struct zap;
struct zap *zap_new(sd_event *loop, void *zmq, const struct key *own,
		    struct keyring *keyring, zap_refused_fn *refused, void *arg,
		    struct error *err);
void zap_free(struct zap *zap);
OWNED_POINTER(struct zap, zap_free)
