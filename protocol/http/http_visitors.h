/* http_visitors.h - chooses which connection of an HTTP server makes room
 * for others.
 *
 * Whoever asks byte by byte, or never takes the answer, keeps nobody out: past
 * the limit the connection whose last request is the oldest is cut off.
 */
#ifndef PROTOCOL_HTTP_HTTP_VISITORS_H
#define PROTOCOL_HTTP_HTTP_VISITORS_H

#include <microhttpd.h>
#include <sys/queue.h>

struct http_visitors {
	TAILQ_HEAD(, http_visitor) list; /* who asked last is the last */
	size_t count, limit;             /* of all connections */
};

void http_visitors_init(struct http_visitors *visitors, size_t limit);

/* MHD_NotifyConnectionCallback; arg: struct http_visitors. */
void http_visitors_changed(void *arg, struct MHD_Connection *connection,
			   void **context,
			   enum MHD_ConnectionNotificationCode code);

/* The head of a request has come. */
void http_visitors_asked(struct http_visitors *visitors,
			 struct MHD_Connection *connection);

/* It is not cut off: its kind has a limit of its own. */
void http_visitors_stay(struct http_visitors *visitors,
			struct MHD_Connection *connection);

#endif
