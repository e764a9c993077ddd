/* zap.h - answers libzmq's question whether a CURVE key may connect.
 *
 * ZAP (ZeroMQ RFC 27): the sockets of a context ask at inproc://zeromq.zap.01
 * of the same context. One handler serves all CURVE servers of the context;
 * make it before their first bind. The messages of an accepted connection have
 * the name of its key as metadata "User-Id", and the key as ZAP_KEY.
 */
#pragma once

#include "protocol/wire/keyring.h"

#include <systemd/sd-event.h>

#define ZAP_KEY "X-Key"

/* A key was refused; address is the connection's, for the log. */
typedef void zap_refused_fn(void *arg, const char *address, const char *why);

/* zmq: a context; keyring: the keys that may connect. Both are borrowed. */
struct zap;
struct zap *zap_new(sd_event *loop, void *zmq, struct keyring *keyring,
		    zap_refused_fn *refused, void *arg, struct error *err);
void zap_free(struct zap *zap);
OWNED_POINTER(struct zap, zap_free)
