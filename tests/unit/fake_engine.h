/* fake_engine.h - a scripted Docker Engine on a unix socket, for our tests.
 *
 * It runs on the test's own event loop. For each request that has come in
 * whole, the script is called and answers: at once, later (the exchange may be
 * kept until gone() or the fake's end), in pieces, with garbage, or never.
 */
#pragma once

#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-event.h>

struct fake_engine;
struct fake_exchange; /* one connection, with the request it is at */

struct fake_request {
	const char *method;
	const char *path; /* as sent, with version and query */
	const char *headers;
	const char *body; /* unchunked; NUL behind it */
	size_t size;
};

typedef void fake_script_fn(void *arg, struct fake_exchange *exchange,
			    const struct fake_request *request);

/* Makes the socket at path, in place of one that is there. Aborts when it
 * cannot: it is for tests only.
 */
struct fake_engine *fake_engine_new(sd_event *loop, const char *path,
				    fake_script_fn *script, void *arg);

/* The same as a server on 127.0.0.1; its port is written to *port. */
struct fake_engine *fake_server_new(sd_event *loop, unsigned int *port,
				    fake_script_fn *script, void *arg);

/* Closes all connections and removes the socket. */
void fake_engine_free(struct fake_engine *fake);
OWNED_POINTER(struct fake_engine, fake_engine_free)

/* Requests that have come in, and connections that are open now. */
int fake_engine_requests(const struct fake_engine *fake);
int fake_engine_connections(const struct fake_engine *fake);

/* Runs when the other side has closed the connection; the exchange is gone
 * after it.
 */
void fake_on_gone(struct fake_exchange *exchange, void (*gone)(void *arg),
		  void *arg);

/* A whole answer. text NULL: no body. */
void fake_answer(struct fake_exchange *exchange, int status, const char *text);

/* A streamed one. */
void fake_begin(struct fake_exchange *exchange, int status);
void fake_chunk(struct fake_exchange *exchange, const char *text);
void fake_bytes(struct fake_exchange *exchange, const void *data, size_t size);
void fake_end(struct fake_exchange *exchange);

/* Any bytes, as they are. */
void fake_raw(struct fake_exchange *exchange, const void *data, size_t size);

/* Closes; the exchange is gone. */
void fake_close(struct fake_exchange *exchange);

/* Do not read from this connection any more. */
void fake_deaf(struct fake_exchange *exchange);

/* Answers /_ping as Docker does, and /version with API 1.41, and returns true,
 * if it is one of them.
 */
bool fake_version(struct fake_exchange *exchange,
		  const struct fake_request *request);

/* The path behind "/v1.41", or as it is. */
const char *fake_path(const struct fake_request *request);
