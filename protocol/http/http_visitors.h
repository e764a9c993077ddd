/* http_visitors.h - closes the least recently used connection of an HTTP server
 * when too many are open.
 *
 * Clients that send slowly or never read their answer cannot keep others out:
 * past the limit the connection with the oldest last request is closed.
 */
#ifndef PROTOCOL_HTTP_HTTP_VISITORS_H
#define PROTOCOL_HTTP_HTTP_VISITORS_H

#include <microhttpd.h>
#include <sys/queue.h>

struct http_visitors {
	TAILQ_HEAD(, http_visitor) list; /* in order of the last request */
	size_t count, limit;             /* of connections */
};

void http_visitors_init(struct http_visitors *visitors, size_t limit);

/* MHD_NotifyConnectionCallback; arg: struct http_visitors. */
void http_visitors_changed(void *arg, struct MHD_Connection *connection,
			   void **context,
			   enum MHD_ConnectionNotificationCode code);

/* A request has arrived: the connection becomes the newest. */
void http_visitors_asked(struct http_visitors *visitors,
			 struct MHD_Connection *connection);

/* Never close this connection (an event stream, which has its own limit). */
void http_visitors_stay(struct http_visitors *visitors,
			struct MHD_Connection *connection);

#endif
