/* http_server.h - serves pages, event streams and metrics over HTTP on the loop
 * of a daemon.
 *
 * libmicrohttpd runs without a thread; its epoll descriptor is a source of the
 * loop. So a handler may use all state of the loop, and must be quick. Sockets
 * never block. Only GET and HEAD are answered, and request bodies are not read.
 *
 * Limits: HTTP_CONNECTIONS_MAX connections of 16 KiB each; HTTP_STREAMS_MAX
 * event streams; HTTP_EVENTS_MAX bytes of events that not all of them have
 * (beyond, clients that lack the oldest are disconnected); HTTP_WAITING_MAX
 * bytes of answers that are not read yet (beyond, those of the oldest requests
 * are cut off); HTTP_RATE answers a second for each owner, of HTTP_OWNERS_MAX
 * (further requests get 503). An owner is who asks, as the handler names it. A
 * connection that is idle for HTTP_IDLE_S seconds is closed. Near the limit of
 * connections, the one with the oldest last request is closed
 * (http_visitors.h); event streams are spared. When there are too many of
 * those, the owner with most loses its oldest one to an owner with fewer.
 *
 * The headers of every answer forbid scripts, styles and pictures from other
 * sites, frames, and content sniffing.
 */
#pragma once

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/http/http_owners.h"

#include <stdbool.h>
#include <systemd/sd-event.h>

#define HTTP_CONNECTIONS_MAX 256
#define HTTP_STREAMS_MAX 200
#define HTTP_EVENT_BYTES (1 << 20)
#define HTTP_EVENTS_MAX (16 << 20)
#define HTTP_BODY_MAX (32 << 20)
#define HTTP_WAITING_MAX (64 << 20)
#define HTTP_PASS_SIZE 80
#define HTTP_IDLE_S 30

struct http_request;

/* The path, percent-decoded; begins with '/'. */
const char *http_path(const struct http_request *request);
/* By name; NULL: none. Borrowed until the handler returns. */
const char *http_header(const struct http_request *request, const char *name);
const char *http_argument(const struct http_request *request, const char *name);
const char *http_cookie(const struct http_request *request, const char *name);
/* Where the client is, as numbers; "": unknown. */
#define HTTP_ADDRESS_SIZE 64
void http_client_address(const struct http_request *request,
			 char address[HTTP_ADDRESS_SIZE]);
/* Does the client ask by a name of this server (http_names.h)? */
bool http_host_is_ours(const struct http_request *request);

struct http_reply {
	unsigned int status;  /* 200 */
	const char *type;     /* of the body: text/plain; static */
	const char *policy;   /* Content-Security-Policy; static; NULL: the
				 strict one */
	const char *location; /* the target of status 303; static; or NULL */
	char cookie[200];     /* Set-Cookie; "": none */
	void *topic; /* not NULL: begin an event stream of this topic */
	char pass[HTTP_PASS_SIZE]; /* of the stream: stream_allowed() */
	struct buffer body;        /* not of a stream */
};

struct http_handler {
	/* Name who asks, so that no owner can keep others out; NULL: all are
	 * one.
	 */
	void (*owner)(void *arg, const struct http_request *request,
		      char owner[HTTP_OWNER_SIZE]);
	/* Answer: fill *reply. */
	void (*answer)(void *arg, const struct http_request *request,
		       struct http_reply *reply);
	/* One stream of the topic ended. NULL: the server has no streams. */
	void (*stream_gone)(void *arg, void *topic);
	/* May a stream with this pass still go on? Asked before each event, and
	 * every 15 seconds.
	 */
	bool (*stream_allowed)(void *arg, const char *pass);
};

struct http_config {
	const char *address;     /* ADDRESS:PORT, [ADDRESS]:PORT; port 0: any */
	const char *certificate; /* PEM files; both NULL: no TLS */
	const char *key;
	const char *name;   /* another name of this machine, or ".DOMAIN": its
			       host name there; NULL: none */
	bool loopback_only; /* without TLS */
};

struct http_server;
/* Asks the resolver for the name of this machine, so that it may wait. EINVAL:
 * the address or certificate is not valid, or loopback_only is set and an
 * address without TLS is not loopback; EADDRINUSE and others of bind(2).
 */
struct http_server *http_server_new(sd_event *loop,
				    const struct http_config *config,
				    const struct http_handler *handler,
				    void *arg, struct error *err);
void http_server_free(struct http_server *server);
OWNED_POINTER(struct http_server, http_server_free)

/* "http://127.0.0.1:7118", with the actual port. */
const char *http_server_url(const struct http_server *server);

/* Send an event to all streams of the topic (NULL: to all streams), a few per
 * turn of the loop. The text is one complete event, "event: x\ndata: y\n\n", of
 * at most HTTP_EVENT_BYTES. All streams share one copy.
 */
void http_server_publish(struct http_server *server, const void *topic,
			 const char *text, size_t size);
