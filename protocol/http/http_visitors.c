/* http_visitors.c - chooses which connection of an HTTP server makes room
 * for others.
 */
#include "protocol/http/http_visitors.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

struct http_visitor {
	struct MHD_Connection *connection;
	bool listed;
	size_t bytes; /* of its last answer */
	bool leaves;  /* it is being closed */
	TAILQ_ENTRY(http_visitor) next;
};

void http_visitors_init(struct http_visitors *visitors, size_t limit,
			size_t bytes_max)
{
	*visitors = (struct http_visitors){ .limit = limit,
					    .bytes_max = bytes_max };
	TAILQ_INIT(&visitors->list);
}

static void http_visitors_unlist(struct http_visitors *visitors,
				 struct http_visitor *visitor)
{
	if (visitor->listed)
		TAILQ_REMOVE(&visitors->list, visitor, next);
	visitor->listed = false;
}

static struct http_visitor *visitor_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection,
				       MHD_CONNECTION_INFO_SOCKET_CONTEXT)
		->socket_context;
}

static void http_visitors_close(struct http_visitors *visitors,
				struct http_visitor *visitor)
{
	http_visitors_unlist(visitors, visitor);
	visitor->leaves = true;
	visitors->leaving += visitor->bytes;
	shutdown(MHD_get_connection_info(visitor->connection,
					 MHD_CONNECTION_INFO_CONNECTION_FD)
			 ->connect_fd,
		 SHUT_RDWR);
}

static void http_visitors_make_room(struct http_visitors *visitors)
{
	struct http_visitor *oldest = TAILQ_FIRST(&visitors->list);

	if (oldest && visitors->count > visitors->limit)
		http_visitors_close(visitors, oldest);
}

void http_visitors_sends(struct http_visitors *visitors,
			 struct MHD_Connection *connection, size_t bytes)
{
	struct http_visitor *to = visitor_of(connection), *oldest, *next;

	visitors->bytes += bytes;
	if (to)
		to->bytes = bytes;
	for (oldest = TAILQ_FIRST(&visitors->list);
	     oldest &&
	     visitors->bytes > visitors->bytes_max + visitors->leaving;
	     oldest = next) {
		next = TAILQ_NEXT(oldest, next);
		if (oldest != to && oldest->bytes)
			http_visitors_close(visitors, oldest);
	}
}

void http_visitors_sent(struct http_visitors *visitors, size_t bytes)
{
	visitors->bytes -= bytes;
}

void http_visitors_changed(void *arg, struct MHD_Connection *connection,
			   void **context,
			   enum MHD_ConnectionNotificationCode code)
{
	struct http_visitors *visitors = arg;
	struct http_visitor *visitor = *context;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		visitors->count--;
		if (visitor)
			http_visitors_unlist(visitors, visitor);
		if (visitor && visitor->leaves)
			visitors->leaving -= visitor->bytes;
		free(visitor);
		return;
	}
	visitors->count++;
	http_visitors_make_room(visitors);
	*context = visitor = calloc(1, sizeof(*visitor));
	if (!visitor)
		return;
	visitor->connection = connection;
	visitor->listed = true;
	TAILQ_INSERT_TAIL(&visitors->list, visitor, next);
}

void http_visitors_asked(struct http_visitors *visitors,
			 struct MHD_Connection *connection)
{
	struct http_visitor *visitor = visitor_of(connection);

	if (!visitor || !visitor->listed)
		return;
	visitor->bytes = 0;
	TAILQ_REMOVE(&visitors->list, visitor, next);
	TAILQ_INSERT_TAIL(&visitors->list, visitor, next);
}

void http_visitors_stay(struct http_visitors *visitors,
			struct MHD_Connection *connection)
{
	struct http_visitor *visitor = visitor_of(connection);

	if (visitor)
		http_visitors_unlist(visitors, visitor);
}
