/* http_server.h - pages and metrics over HTTP, on the loop of a daemon.
 *
 * libmicrohttpd runs without a thread: its epoll descriptor is a source of the
 * loop, so a handler may look at anything that the loop owns, and is short.
 * Sockets never block. Only GET and HEAD are answered, and no body is read.
 *
 * What clients can make grow has a limit: HTTP_CONNECTIONS_MAX connections of
 * 16 KiB each, HTTP_STREAMS_MAX event streams,
 * HTTP_STREAM_BYTES waiting in each (a client that is so far behind is cut
 * off), and HTTP_RATE answers a second (more are 503). A connection that says
 * nothing for HTTP_IDLE_S seconds is closed; before the last ones are taken,
 * that one is closed whose last request is the oldest and is no event stream.
 *
 * Every answer forbids scripts, styles and pictures from elsewhere, frames, and
 * guessing of types.
 */
#ifndef PROTOCOL_HTTP_HTTP_SERVER_H
#define PROTOCOL_HTTP_HTTP_SERVER_H

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <systemd/sd-event.h>

#define HTTP_CONNECTIONS_MAX 256
#define HTTP_STREAMS_MAX 200
#define HTTP_STREAM_BYTES (1 << 20)
#define HTTP_BODY_MAX (32 << 20)
#define HTTP_RATE 200
#define HTTP_IDLE_S 30

struct http_request;

/* Without escapes; begins with '/'. */
const char *http_path(const struct http_request *request);
/* NULL: there is none of that name. Borrowed during the call. */
const char *http_header(const struct http_request *request, const char *name);
const char *http_argument(const struct http_request *request, const char *name);
const char *http_cookie(const struct http_request *request, const char *name);

struct http_reply {
	unsigned int status;  /* 200 */
	const char *type;     /* of the body: text/plain; static */
	const char *policy;   /* Content-Security-Policy; static; NULL: the
				 strict one */
	const char *location; /* to go to, with status 303; static; or NULL */
	char cookie[200];     /* Set-Cookie; "": none */
	void *topic;          /* not NULL: an event stream of it begins */
	struct buffer body;   /* of a stream: what is sent first */
};

struct http_handler {
	/* Answer: fill *reply. */
	void (*answer)(void *arg, const struct http_request *request,
		       struct http_reply *reply);
	/* One stream of the topic less; NULL: there are no streams. */
	void (*stream_gone)(void *arg, void *topic);
};

struct http_config {
	const char *address;     /* ADDRESS:PORT, [ADDRESS]:PORT; port 0: any */
	const char *certificate; /* PEM files; both NULL: no TLS */
	const char *key;
	bool loopback_only; /* without TLS */
};

struct http_server;
/* EINVAL: an address or certificate that is none, or without TLS an address
 * that is not the machine's own; EADDRINUSE ...
 */
struct http_server *http_server_new(sd_event *loop,
				    const struct http_config *config,
				    const struct http_handler *handler,
				    void *arg, struct error *err);
void http_server_free(struct http_server *server);
OWNED_POINTER(struct http_server, http_server_free)

/* "http://127.0.0.1:7118", with the port it got. */
const char *http_server_url(const struct http_server *server);

/* Send an event to all streams of the topic (NULL: all that there are), a few
 * in each turn of the loop. Text is whole: "event: x\ndata: y\n\n".
 */
void http_server_publish(struct http_server *server, const void *topic,
			 const char *text, size_t size);

#endif
