/* http_server.c - pages and metrics over HTTP, on the loop of a daemon.
 */
#include "protocol/http/http_server.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/http/http_names.h"
#include "protocol/http/http_visitors.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#define PEM_MAX (256 << 10)
#define CONNECTION_BYTES (16 << 10)
#define CONNECTIONS_SPARE 16
#define STREAM_PIECE (16 << 10)
#define STREAMS_A_TURN 4 /* streams that are written to */
#define TURN_MS 1
#define ALIVE_MS 15000 /* until a closed stream is noticed */

static const char strict_policy[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; "
	"connect-src 'self'; base-uri 'none'; form-action 'none'; "
	"frame-ancestors 'none'";

/* What was published, in that order, until all streams have it. */
struct event {
	const void *topic; /* NULL: all */
	size_t size;
	unsigned int readers; /* streams of which it is the next */
	TAILQ_ENTRY(event) next;
	char text[];
};

struct stream {
	struct http_server *server;
	struct MHD_Connection *connection;
	void *topic;
	char pass[HTTP_PASS_SIZE];
	char owner[HTTP_OWNER_SIZE];
	struct event *event; /* the next to send; NULL: it has all */
	size_t sent;         /* of that */
	sd_event_source *hangup;
	bool suspended;
	bool ended;
	TAILQ_ENTRY(stream) next;
};

struct http_server {
	sd_event *loop;
	struct http_handler handler;
	void *arg;
	struct MHD_Daemon *daemon;
	sd_event_source *io, *timer, *alive;
	char url[128];
	struct http_names *names;
	char *certificate, *key;
	struct http_owners owners;
	struct http_visitors visitors;
	TAILQ_HEAD(, stream) streams; /* the oldest first */
	TAILQ_HEAD(, event) events;
	size_t events_bytes;
};

struct http_request {
	const struct http_server *server;
	const char *path;
	struct MHD_Connection *connection;
};

const char *http_path(const struct http_request *request)
{
	return request->path;
}

const char *http_header(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND,
					   name);
}

const char *http_argument(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection,
					   MHD_GET_ARGUMENT_KIND, name);
}

const char *http_cookie(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND,
					   name);
}

void http_client_address(const struct http_request *request,
			 char address[HTTP_ADDRESS_SIZE])
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection,
					MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *at = info ? info->client_addr : NULL;
	socklen_t size = at && at->sa_family == AF_INET6
				 ? sizeof(struct sockaddr_in6)
				 : sizeof(struct sockaddr_in);

	if (!at || getnameinfo(at, size, address, HTTP_ADDRESS_SIZE, NULL, 0,
			       NI_NUMERICHOST) != 0)
		address[0] = 0;
}

bool http_host_is_ours(const struct http_request *request)
{
	const char *host = http_header(request, "Host");

	return host && http_names_have(request->server->names, host);
}

/* The loop. */

static int http_server_timer_run(sd_event_source *source, uint64_t usec,
				 void *arg);

static void stream_wake(struct stream *stream)
{
	if (stream->suspended)
		MHD_resume_connection(stream->connection);
	stream->suspended = false;
}

/* Wake some of the streams that have data. true: there are more. */
static bool wake_streams(struct http_server *server)
{
	struct stream *stream;
	size_t woken = 0;

	TAILQ_FOREACH(stream, &server->streams, next) {
		if (!stream->suspended || (!stream->event && !stream->ended))
			continue;
		if (woken++ == STREAMS_A_TURN)
			return true;
		stream_wake(stream);
	}
	return false;
}

/* libmicrohttpd may have work although no descriptor is ready. */
static void http_server_continue(struct http_server *server, bool streams)
{
	MHD_UNSIGNED_LONG_LONG wait_ms = TURN_MS, asked_ms;
	bool asks = MHD_get_timeout(server->daemon, &asked_ms) == MHD_YES;

	if (asks && (!streams || asked_ms < TURN_MS))
		wait_ms = asked_ms;
	if (asks || streams)
		loop_timer(server->loop, &server->timer, wait_ms,
			   http_server_timer_run, server, NULL);
	else
		loop_timer_stop(server->timer);
}

static int http_server_timer_run(sd_event_source *source, uint64_t usec,
				 void *arg)
{
	struct http_server *server = arg;
	bool more = wake_streams(server);

	MHD_run(server->daemon);
	http_server_continue(server, more);
	return 0;
}

static int io_run(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	return http_server_timer_run(source, 0, arg);
}

/* Streams. */

/* Drop those that nobody needs any more. */
static void events_trim(struct http_server *server)
{
	struct event *first;

	while ((first = TAILQ_FIRST(&server->events)) && !first->readers) {
		TAILQ_REMOVE(&server->events, first, next);
		server->events_bytes -= first->size;
		free(first);
	}
}

/* Its next event is this one. */
static void stream_move(struct stream *stream, struct event *to)
{
	if (to)
		to->readers++;
	if (stream->event)
		stream->event->readers--;
	stream->event = to;
	stream->sent = 0;
	events_trim(stream->server);
}

static bool stream_gets(const struct stream *stream, const struct event *event)
{
	return !event->topic || event->topic == stream->topic;
}

static ssize_t http_stream_read(void *arg, uint64_t at, char *to, size_t room)
{
	struct stream *stream = arg;
	struct event *event = stream->event;
	size_t size;

	if (stream->ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!event) {
		stream->suspended = true;
		MHD_suspend_connection(stream->connection);
		return 0;
	}
	size = event->size - stream->sent;
	size = size < room ? size : room;
	memcpy(to, event->text + stream->sent, size);
	stream->sent += size;
	if (stream->sent < event->size)
		return (ssize_t)size;
	do {
		event = TAILQ_NEXT(event, next);
	} while (event && !stream_gets(stream, event));
	stream_move(stream, event);
	return (ssize_t)size;
}

static void http_stream_free(void *arg)
{
	struct stream *stream = arg;
	struct http_server *server = stream->server;

	loop_source_free(&stream->hangup);
	TAILQ_REMOVE(&server->streams, stream, next);
	stream_move(stream, NULL);
	server->handler.stream_gone(server->arg, stream->topic);
	free(stream);
}

static struct event *event_add(struct http_server *server, const void *topic,
			       const char *text, size_t size)
{
	struct event *event = malloc(sizeof(*event) + size);

	if (!event)
		return NULL;
	*event = (struct event){ .topic = topic, .size = size };
	memcpy(event->text, text, size);
	TAILQ_INSERT_TAIL(&server->events, event, next);
	server->events_bytes += size;
	return event;
}

/* It is asked for bytes only while its client reads. */
static void stream_cut(struct stream *stream)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(stream->connection,
					MHD_CONNECTION_INFO_CONNECTION_FD);

	stream->ended = true;
	stream_move(stream, NULL);
	if (info)
		shutdown(info->connect_fd, SHUT_RDWR);
}

/* Cut the streams that are furthest behind. */
static void events_bound(struct http_server *server)
{
	struct stream *stream;

	events_trim(server);
	while (server->events_bytes > HTTP_EVENTS_MAX) {
		TAILQ_FOREACH(stream, &server->streams, next)
			if (stream->event == TAILQ_FIRST(&server->events))
				break;
		stream_cut(stream);
	}
}

void http_server_publish(struct http_server *server, const void *topic,
			 const char *text, size_t size)
{
	struct event *event = event_add(server, topic, text, size);
	struct stream *stream;

	TAILQ_FOREACH(stream, &server->streams, next) {
		if (topic && stream->topic != topic)
			continue;
		if (!event ||
		    !server->handler.stream_allowed(server->arg, stream->pass))
			stream->ended = true;
		else if (!stream->event)
			stream_move(stream, event);
	}
	events_bound(server);
	/* No descriptor becomes ready by this. */
	loop_timer(server->loop, &server->timer, 0, http_server_timer_run,
		   server, NULL);
}

/* Writing to a stream shows whether its client is gone. */
static int alive_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct http_server *server = arg;

	http_server_publish(server, NULL, ":\n\n", 3);
	loop_timer(server->loop, &server->alive, ALIVE_MS, alive_run, server,
		   NULL);
	return 0;
}

/* libmicrohttpd does not watch suspended connections: clients that left would
 * keep their places.
 */
static int hangup_run(sd_event_source *source, int fd, uint32_t events,
		      void *arg)
{
	struct stream *stream = arg;
	struct http_server *server = stream->server;

	sd_event_source_set_enabled(source, SD_EVENT_OFF);
	stream->ended = true;
	loop_timer(server->loop, &server->timer, 0, http_server_timer_run,
		   server, NULL);
	return 0;
}

static void watch_hangup(struct stream *stream)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(stream->connection,
					MHD_CONNECTION_INFO_CONNECTION_FD);

	/* Without it, alive_run() notices the end. */
	if (info)
		sd_event_add_io(stream->server->loop, &stream->hangup,
				info->connect_fd, EPOLLRDHUP, hangup_run,
				stream);
}

/* How many streams go on: of the owner; NULL: of all. */
static size_t streams_of(const struct http_server *server, const char *owner)
{
	const struct stream *stream;
	size_t count = 0;

	TAILQ_FOREACH(stream, &server->streams, next)
		count += !stream->ended &&
			 (!owner || !strcmp(stream->owner, owner));
	return count;
}

/* Is there room for a stream of this owner? Else the oldest one of the owner
 * with most is cut, unless this one would then have more.
 */
static bool streams_make_room(struct http_server *server, const char *owner)
{
	struct stream *stream, *oldest = NULL;
	size_t most = streams_of(server, owner) + 1;

	if (streams_of(server, NULL) < HTTP_STREAMS_MAX)
		return true;
	TAILQ_FOREACH(stream, &server->streams, next) {
		size_t has;

		if (stream->ended || !strcmp(stream->owner, owner))
			continue;
		has = streams_of(server, stream->owner);
		if (has > most) {
			most = has;
			oldest = stream;
		}
	}
	if (oldest)
		stream_cut(oldest);
	return oldest;
}

static void http_owner_of(struct http_server *server,
			  const struct http_request *request,
			  char owner[HTTP_OWNER_SIZE])
{
	memset(owner, 0, HTTP_OWNER_SIZE);
	if (server->handler.owner)
		server->handler.owner(server->arg, request, owner);
}

static struct MHD_Response *http_stream_open(struct http_server *server,
					     const struct http_request *request,
					     struct http_reply *reply)
{
	struct MHD_Connection *connection = request->connection;
	struct stream *stream = NULL;
	struct MHD_Response *response;
	char owner[HTTP_OWNER_SIZE];

	http_owner_of(server, request, owner);
	if (streams_make_room(server, owner))
		stream = calloc(1, sizeof(*stream));

	if (!stream) {
		server->handler.stream_gone(server->arg, reply->topic);
		return NULL;
	}
	http_visitors_stay(&server->visitors, connection);
	stream->server = server;
	stream->connection = connection;
	stream->topic = reply->topic;
	memcpy(stream->pass, reply->pass, sizeof(stream->pass));
	memcpy(stream->owner, owner, sizeof(stream->owner));
	TAILQ_INSERT_TAIL(&server->streams, stream, next);
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN,
						     STREAM_PIECE,
						     http_stream_read, stream,
						     http_stream_free);
	if (response)
		watch_hangup(stream);
	else
		http_stream_free(stream);
	return response;
}

/* Answers. */

/* The body of an answer, until it was sent. */
struct http_body {
	struct http_visitors *visitors;
	char *data;
	size_t size;
};

static void http_body_free(void *arg)
{
	struct http_body *body = arg;

	http_visitors_sent(body->visitors, body->size);
	free(body->data);
	free(body);
}

static struct MHD_Response *http_body_send(struct http_server *server,
					   struct MHD_Connection *connection,
					   struct buffer *from)
{
	struct http_body *body = malloc(sizeof(*body));
	struct MHD_Response *response;
	size_t size = from->size;

	if (!body)
		return NULL;
	body->visitors = &server->visitors;
	body->size = from->capacity;
	body->data = buffer_take(from);
	http_visitors_sends(&server->visitors, connection, body->size);
	response = MHD_create_response_from_buffer_with_free_callback_cls(
		size, body->data, http_body_free, body);
	if (!response)
		http_body_free(body);
	return response;
}

static enum MHD_Result send_reply(struct http_server *server,
				  const struct http_request *request,
				  struct http_reply *reply)
{
	struct MHD_Connection *connection = request->connection;
	const char *const headers[][2] = {
		{ "Content-Type", reply->type },
		{ "Content-Security-Policy",
		  reply->policy ? reply->policy : strict_policy },
		{ "X-Content-Type-Options", "nosniff" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cache-Control", "no-store" },
		{ "Location", reply->location },
		{ "Set-Cookie", *reply->cookie ? reply->cookie : NULL },
	};
	struct MHD_Response *response;
	enum MHD_Result done;

	response = reply->topic
			   ? http_stream_open(server, request, reply)
			   : http_body_send(server, connection, &reply->body);
	if (!response)
		return MHD_NO;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		if (headers[i][1])
			MHD_add_response_header(response, headers[i][0],
						headers[i][1]);
	done = MHD_queue_response(connection, reply->status, response);
	MHD_destroy_response(response);
	return done;
}

static enum MHD_Result
http_server_take_request(void *arg, struct MHD_Connection *connection,
			 const char *path, const char *method,
			 const char *version, const char *body,
			 size_t *body_size, void **seen)
{
	struct http_server *server = arg;
	struct http_request request = { server, path, connection };
	struct http_reply reply = { .status = 200, .type = "text/plain" };
	char owner[HTTP_OWNER_SIZE];
	enum MHD_Result done;

	bool good = !strcmp(method, "GET") || !strcmp(method, "HEAD");

	if (!*seen && good) { /* there may be a body yet */
		http_visitors_asked(&server->visitors, connection);
		*seen = server;
		return MHD_YES;
	}
	if (*body_size)
		return MHD_NO;
	buffer_init(&reply.body, HTTP_BODY_MAX);
	http_owner_of(server, &request, owner);
	if (!good) {
		reply.status = MHD_HTTP_METHOD_NOT_ALLOWED;
		buffer_text(&reply.body, "only GET is supported\n", NULL);
	} else if (!http_owners_answer(&server->owners, owner)) {
		reply.status = MHD_HTTP_SERVICE_UNAVAILABLE;
		buffer_text(&reply.body, "too many requests; try again\n",
			    NULL);
	} else {
		server->handler.answer(server->arg, &request, &reply);
	}
	done = send_reply(server, &request, &reply);
	buffer_clear(&reply.body);
	return done;
}

static void on_words(void *arg, const char *fmt, va_list words)
	__attribute__((format(printf, 2, 0)));
static void on_words(void *arg, const char *fmt, va_list words)
{
	char text[200];

	vsnprintf(text, sizeof(text), fmt, words);
	text[strcspn(text, "\n")] = 0;
	log_debug("http: %s", text);
}

/* Making and unmaking. */

static bool http_address_is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in *four = (const void *)address;
	const struct sockaddr_in6 *six = (const void *)address;

	return address->sa_family == AF_INET
		       ? ntohl(four->sin_addr.s_addr) >> 24 == 127
		       : IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/* ADDRESS:PORT to its socket address; the caller frees it. */
static struct addrinfo *http_address_parse(const char *text, struct error *err)
{
	static const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
		.ai_socktype = SOCK_STREAM,
	};
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;
	struct addrinfo *found = NULL;
	char host[64];

	if (length > 1 && text[0] == '[' && text[length - 1] == ']')
		snprintf(host, sizeof(host), "%.*s", (int)length - 2, text + 1);
	else
		snprintf(host, sizeof(host), "%.*s", (int)length, text);
	if (!length || !colon[1] || length >= sizeof(host) ||
	    getaddrinfo(host, colon + 1, &hints, &found) != 0)
		return error_null(error_set(err, EINVAL,
					    "'%.80s' is not valid here; "
					    "expected ADDRESS:PORT, "
					    "such as 127.0.0.1:7118",
					    text));
	return found;
}

static int http_server_listen_at(const struct addrinfo *at, const char *text,
				 struct error *err)
{
	int on = 1, fd;

	fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    0);
	if (fd < 0)
		return error_errno(err, "%s", text);
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, at->ai_addr, at->ai_addrlen) < 0 || listen(fd, 128) < 0) {
		error_errno(err, "%s", text);
		close(fd);
		return -1;
	}
	return fd;
}

static int set_url(struct http_server *server, int fd, struct error *err)
{
	struct sockaddr_storage at = { 0 };
	socklen_t size = sizeof(at);
	char host[64], port[8];

	if (getsockname(fd, (struct sockaddr *)&at, &size) < 0 ||
	    getnameinfo((struct sockaddr *)&at, size, host, sizeof(host), port,
			sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return error_errno(err, "web address");
	if (!strcmp(host, "0.0.0.0") || !strcmp(host, "::"))
		gethostname(host, sizeof(host) - 1);
	snprintf(server->url, sizeof(server->url),
		 at.ss_family == AF_INET6 ? "%s://[%s]:%s" : "%s://%s:%s",
		 server->certificate ? "https" : "http", host, port);
	return 0;
}

static char *read_pem(const char *path, struct error *err)
{
	struct buffer text;

	buffer_init(&text, PEM_MAX);
	if (file_read_any(path, &text, err) < 0) {
		buffer_clear(&text);
		return NULL;
	}
	return buffer_take(&text);
}

static int http_server_start(struct http_server *server, int fd,
			     struct error *err)
{
	unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME |
			     MHD_USE_ERROR_LOG |
			     (server->certificate ? MHD_USE_TLS : 0);
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, server->certificate },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, server->key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0,
		  (char *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2" },
		{ MHD_OPTION_END, 0, NULL },
	};

	if (!server->certificate)
		tls[0].option = MHD_OPTION_END;
	server->daemon =
		MHD_start_daemon(flags, 0, NULL, NULL, http_server_take_request,
				 server, MHD_OPTION_EXTERNAL_LOGGER, on_words,
				 server, MHD_OPTION_LISTEN_SOCKET, fd,
				 MHD_OPTION_NOTIFY_CONNECTION,
				 http_visitors_changed, &server->visitors,
				 MHD_OPTION_CONNECTION_LIMIT,
				 (unsigned int)HTTP_CONNECTIONS_MAX,
				 MHD_OPTION_CONNECTION_TIMEOUT,
				 (unsigned int)HTTP_IDLE_S,
				 MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				 (size_t)CONNECTION_BYTES,
				 MHD_OPTION_STRICT_FOR_CLIENT, 1,
				 MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
	if (server->daemon)
		return 0;
	close(fd);
	return error_set(err, EINVAL, "%s: cannot be served%s", server->url,
			 server->certificate
				 ? ": certificate and key do not match"
				 : "");
}

static int join_loop(struct http_server *server, struct error *err)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	int rc = sd_event_add_io(server->loop, &server->io, info->epoll_fd,
				 EPOLLIN, io_run, server);

	if (rc < 0)
		return error_set(err, -rc,
				 "event loop: cannot start the web server");
	return loop_timer(server->loop, &server->alive, ALIVE_MS, alive_run,
			  server, err);
}

static int http_server_open(struct http_server *server,
			    const struct http_config *config, struct error *err)
{
	struct addrinfo *at = http_address_parse(config->address, err);
	int fd;

	if (!at)
		return -1;
	if (config->loopback_only && !config->certificate &&
	    !http_address_is_loopback(at->ai_addr)) {
		freeaddrinfo(at);
		return error_set(err, EINVAL,
				 "%.80s is not valid here without a "
				 "certificate; expected a loopback address "
				 "such as 127.0.0.1",
				 config->address);
	}
	fd = http_server_listen_at(at, config->address, err);
	freeaddrinfo(at);
	if (fd < 0)
		return -1;
	if (set_url(server, fd, err) < 0) {
		close(fd);
		return -1;
	}
	return http_server_start(server, fd, err) < 0 ? -1
						      : join_loop(server, err);
}

struct http_server *http_server_new(sd_event *loop,
				    const struct http_config *config,
				    const struct http_handler *handler,
				    void *arg, struct error *err)
{
	owned(http_server_free) struct http_server *server =
		calloc(1, sizeof(*server));

	if (!server)
		return error_null(error_nomem(err, "web server"));
	http_visitors_init(&server->visitors,
			   HTTP_CONNECTIONS_MAX - CONNECTIONS_SPARE,
			   HTTP_WAITING_MAX);
	TAILQ_INIT(&server->streams);
	TAILQ_INIT(&server->events);
	server->loop = sd_event_ref(loop);
	server->handler = *handler;
	server->arg = arg;
	server->names = http_names_new(config->name);
	if (!server->names)
		return error_null(error_nomem(err, "web server"));
	if (!config->certificate != !config->key)
		return error_null(error_set(err, EINVAL,
					    "missing web-certificate or "
					    "web-key (expected both "
					    "or neither)"));
	if (config->certificate &&
	    (!(server->certificate = read_pem(config->certificate, err)) ||
	     !(server->key = read_pem(config->key, err))))
		return NULL;
	if (http_server_open(server, config, err) < 0)
		return NULL;
	return take(server);
}

void http_server_free(struct http_server *server)
{
	struct stream *stream;

	if (!server)
		return;
	loop_source_free(&server->io);
	loop_source_free(&server->timer);
	loop_source_free(&server->alive);
	TAILQ_FOREACH(stream, &server->streams, next) {
		stream->ended = true;
		stream_wake(stream);
	}
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	if (server->key)
		explicit_bzero(server->key, strlen(server->key));
	free(server->key);
	free(server->certificate);
	http_names_free(server->names);
	sd_event_unref(server->loop);
	free(server);
}

const char *http_server_url(const struct http_server *server)
{
	return server->url;
}
