/* http_visitors.h - closes the least recently used connection of an HTTP server
 * when too many are open, or too many bytes of answers are not read.
 *
 * Clients that send slowly or never read their answer cannot keep others out:
 * past a limit the connection with the oldest last request is closed.
 */
#pragma once

#include <microhttpd.h>
#include <sys/queue.h>

struct http_visitors {
	TAILQ_HEAD(, http_visitor) list; /* in order of the last request */
	size_t count, limit;             /* of connections */
	size_t bytes, bytes_max;         /* of answers that are not read */
	size_t leaving; /* bytes of connections that are being closed */
};

void http_visitors_init(struct http_visitors *visitors, size_t limit,
			size_t bytes_max);

/* MHD_NotifyConnectionCallback; arg: struct http_visitors. */
void http_visitors_changed(void *arg, struct MHD_Connection *connection,
			   void **context,
			   enum MHD_ConnectionNotificationCode code);

/* A request has arrived: the connection becomes the newest. */
void http_visitors_asked(struct http_visitors *visitors,
			 struct MHD_Connection *connection);

/* The connection gets an answer of so many bytes; they were sent, or dropped
 * with it.
 */
void http_visitors_sends(struct http_visitors *visitors,
			 struct MHD_Connection *connection, size_t bytes);
void http_visitors_sent(struct http_visitors *visitors, size_t bytes);

/* Never close this connection (an event stream, which has its own limit). */
void http_visitors_stay(struct http_visitors *visitors,
			struct MHD_Connection *connection);
