/* fake_engine.c - a scripted Docker Engine on a unix socket, for our tests.
 */
#include "tests/unit/fake_engine.h"

#include "protocol/base/buffer.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#define REQUEST_MAX (64 << 20)
#define TLS_HANDSHAKE 0x16 /* RFC 8446, 5.1 */

struct fake_exchange {
	TAILQ_ENTRY(fake_exchange) entry;
	struct fake_engine *fake;
	int fd;
	sd_event_source *io;
	struct buffer in;
	struct buffer out; /* what the socket did not take yet */
	void (*gone)(void *arg);
	void *gone_arg;
	bool deaf;
};
TAILQ_HEAD(fake_exchanges, fake_exchange);

struct fake_engine {
	sd_event *loop;
	char *path;
	int fd;
	sd_event_source *io;
	fake_script_fn *script;
	void *arg;
	struct fake_exchanges exchanges;
	int requests;
};

static void must(bool good, const char *what)
{
	if (good)
		return;
	printf("Bail out! fake engine: %s: %s\n", what, strerror(errno));
	abort();
}

void fake_close(struct fake_exchange *exchange)
{
	TAILQ_REMOVE(&exchange->fake->exchanges, exchange, entry);
	sd_event_source_disable_unref(exchange->io);
	close(exchange->fd);
	buffer_clear(&exchange->in);
	buffer_clear(&exchange->out);
	free(exchange);
}

static void watch(struct fake_exchange *exchange)
{
	uint32_t events = (exchange->deaf ? 0 : EPOLLIN) |
			  (exchange->out.size ? EPOLLOUT : 0);

	sd_event_source_set_io_events(exchange->io, events);
}

static void flush(struct fake_exchange *exchange)
{
	while (exchange->out.size) {
		ssize_t sent = send(exchange->fd, exchange->out.data,
				    exchange->out.size, MSG_NOSIGNAL);

		if (sent <= 0)
			break;
		buffer_consume(&exchange->out, (size_t)sent);
	}
	watch(exchange);
}

void fake_raw(struct fake_exchange *exchange, const void *data, size_t size)
{
	must(buffer_append(&exchange->out, data, size, NULL) == 0, "memory");
	flush(exchange);
}

void fake_deaf(struct fake_exchange *exchange)
{
	exchange->deaf = true;
	watch(exchange);
}

/* The length of a chunked body and of the bytes it came in; -1: not whole. */
static ssize_t unchunk(const char *data, size_t size, struct buffer *body)
{
	size_t at = 0;

	while (1) {
		const char *line = data + at;
		const char *end = memmem(line, size - at, "\r\n", 2);
		size_t chunk;

		if (!end)
			return -1;
		chunk = strtoul(line, NULL, 16);
		at = (size_t)(end - data) + 2;
		if (size - at < chunk + 2)
			return -1;
		if (body)
			must(buffer_append(body, data + at, chunk, NULL) == 0,
			     "memory");
		at += chunk + 2;
		if (!chunk)
			return (ssize_t)at;
	}
}

/* Takes one whole request off the input. True: there was one. The script may
 * have closed the exchange.
 */
static bool take_request(struct fake_exchange *exchange)
{
	struct fake_engine *fake = exchange->fake;
	owned(buffer_clear) struct buffer body = BUFFER_INIT(REQUEST_MAX);
	owned_free char *head = NULL;
	char *end = memmem(exchange->in.data, exchange->in.size, "\r\n\r\n", 4);
	char *line, *path, *space, *length;
	struct fake_request request;
	size_t size;

	if (!end)
		return false;
	size = (size_t)(end - exchange->in.data) + 4;
	head = strndup(exchange->in.data, size);
	must(head != NULL, "memory");
	length = strcasestr(head, "\r\nContent-Length:");
	if (strcasestr(head, "\r\nTransfer-Encoding: chunked")) {
		ssize_t whole = unchunk(exchange->in.data + size,
					exchange->in.size - size, NULL);

		if (whole < 0)
			return false;
		unchunk(exchange->in.data + size, exchange->in.size - size,
			&body);
		size += (size_t)whole;
	} else if (length) {
		size_t want = strtoul(length + 17, NULL, 10);

		if (exchange->in.size - size < want)
			return false;
		must(buffer_append(&body, exchange->in.data + size, want,
				   NULL) == 0,
		     "memory");
		size += want;
	}
	buffer_consume(&exchange->in, size);
	line = strstr(head, "\r\n");
	*line = 0;
	path = strchr(head, ' ');
	space = path ? strchr(path + 1, ' ') : NULL;
	if (!path || !space)
		abort();
	*path++ = 0;
	*space = 0;
	request = (struct fake_request){
		.method = head,
		.path = path,
		.headers = line + 2,
		.body = body.data,
		.size = body.size,
	};
	fake->requests++;
	fake->script(fake->arg, exchange, &request);
	return true;
}

static bool still_there(struct fake_engine *fake,
			const struct fake_exchange *exchange)
{
	struct fake_exchange *one;

	TAILQ_FOREACH(one, &fake->exchanges, entry)
		if (one == exchange)
			return true;
	return false;
}

static int exchange_ready(sd_event_source *source, int fd, uint32_t events,
			  void *arg)
{
	struct fake_exchange *exchange = arg;
	struct fake_engine *fake = exchange->fake;
	char data[65536];
	ssize_t got;

	if (events & EPOLLOUT)
		flush(exchange);
	if (exchange->deaf && !(events & (EPOLLHUP | EPOLLERR)))
		return 0;
	got = recv(fd, data, sizeof(data), MSG_DONTWAIT);
	if (got < 0 && errno == EAGAIN)
		return 0;
	/* Whoever begins with TLS is hung up on. */
	if (got <= 0 || (!exchange->in.size && data[0] == TLS_HANDSHAKE)) {
		if (exchange->gone)
			exchange->gone(exchange->gone_arg);
		fake_close(exchange);
		return 0;
	}
	must(buffer_append(&exchange->in, data, (size_t)got, NULL) == 0,
	     "memory");
	while (still_there(fake, exchange) && take_request(exchange))
		;
	return 0;
}

static int accept_ready(sd_event_source *source, int fd, uint32_t events,
			void *arg)
{
	struct fake_engine *fake = arg;
	struct fake_exchange *exchange = calloc(1, sizeof(*exchange));

	must(exchange != NULL, "memory");
	exchange->fake = fake;
	exchange->fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	must(exchange->fd >= 0, "accept");
	buffer_init(&exchange->in, REQUEST_MAX);
	buffer_init(&exchange->out, REQUEST_MAX);
	must(sd_event_add_io(fake->loop, &exchange->io, exchange->fd, EPOLLIN,
			     exchange_ready, exchange) >= 0,
	     "event loop");
	TAILQ_INSERT_TAIL(&fake->exchanges, exchange, entry);
	return 0;
}

static struct fake_engine *open_fake(sd_event *loop, int family,
				     const struct sockaddr *address,
				     socklen_t size, fake_script_fn *script,
				     void *arg)
{
	struct fake_engine *fake = calloc(1, sizeof(*fake));

	must(fake != NULL, "memory");
	fake->loop = loop;
	fake->script = script;
	fake->arg = arg;
	TAILQ_INIT(&fake->exchanges);
	fake->fd =
		socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	must(fake->fd >= 0, "socket");
	must(bind(fake->fd, address, size) == 0, "bind");
	must(listen(fake->fd, 64) == 0, "listen");
	must(sd_event_add_io(loop, &fake->io, fake->fd, EPOLLIN, accept_ready,
			     fake) >= 0,
	     "event loop");
	return fake;
}

struct fake_engine *fake_engine_new(sd_event *loop, const char *path,
				    fake_script_fn *script, void *arg)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct fake_engine *fake;

	unlink(path);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	fake = open_fake(loop, AF_UNIX, (const struct sockaddr *)&address,
			 sizeof(address), script, arg);
	must((fake->path = strdup(path)) != NULL, "memory");
	return fake;
}

struct fake_engine *fake_server_new(sd_event *loop, unsigned int *port,
				    fake_script_fn *script, void *arg)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);
	struct fake_engine *fake =
		open_fake(loop, AF_INET, (const struct sockaddr *)&address,
			  sizeof(address), script, arg);

	must(getsockname(fake->fd, (struct sockaddr *)&address, &size) == 0,
	     "port");
	*port = ntohs(address.sin_port);
	return fake;
}

void fake_engine_free(struct fake_engine *fake)
{
	if (!fake)
		return;
	while (!TAILQ_EMPTY(&fake->exchanges))
		fake_close(TAILQ_FIRST(&fake->exchanges));
	sd_event_source_disable_unref(fake->io);
	close(fake->fd);
	if (fake->path)
		unlink(fake->path);
	free(fake->path);
	free(fake);
}

int fake_engine_requests(const struct fake_engine *fake)
{
	return fake->requests;
}

int fake_engine_connections(const struct fake_engine *fake)
{
	const struct fake_exchange *exchange;
	int n = 0;

	TAILQ_FOREACH(exchange, &fake->exchanges, entry)
		n++;
	return n;
}

void fake_on_gone(struct fake_exchange *exchange, void (*gone)(void *arg),
		  void *arg)
{
	exchange->gone = gone;
	exchange->gone_arg = arg;
}

static void print(struct fake_exchange *exchange, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void print(struct fake_exchange *exchange, const char *fmt, ...)
{
	char *text;
	va_list args;
	int size;

	va_start(args, fmt);
	size = vasprintf(&text, fmt, args);
	va_end(args);
	must(size >= 0, "memory");
	fake_raw(exchange, text, (size_t)size);
	free(text);
}

void fake_answer(struct fake_exchange *exchange, int status, const char *text)
{
	if (status == 204 || status == 304)
		print(exchange, "HTTP/1.1 %d X\r\n\r\n", status);
	else
		print(exchange,
		      "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n"
		      "Content-Length: %zu\r\n\r\n%s",
		      status, text ? strlen(text) : 0, text ? text : "");
}

void fake_begin(struct fake_exchange *exchange, int status)
{
	print(exchange, "HTTP/1.1 %d X\r\nTransfer-Encoding: chunked\r\n\r\n",
	      status);
}

void fake_bytes(struct fake_exchange *exchange, const void *data, size_t size)
{
	print(exchange, "%zx\r\n", size);
	fake_raw(exchange, data, size);
	fake_raw(exchange, "\r\n", 2);
}

void fake_chunk(struct fake_exchange *exchange, const char *text)
{
	fake_bytes(exchange, text, strlen(text));
}

void fake_end(struct fake_exchange *exchange)
{
	fake_raw(exchange, "0\r\n\r\n", 5);
}

bool fake_version(struct fake_exchange *exchange,
		  const struct fake_request *request)
{
	if (!strcmp(request->path, "/_ping")) {
		fake_answer(exchange, 200, "OK");
		return true;
	}
	if (strcmp(request->path, "/version") != 0)
		return false;
	fake_answer(exchange, 200,
		    "{\"Version\":\"20.10.24\",\"ApiVersion\":\"1.41\","
		    "\"MinAPIVersion\":\"1.12\"}\n");
	return true;
}

const char *fake_path(const struct fake_request *request)
{
	return strncmp(request->path, "/v1.41/", 7) ? request->path
						    : request->path + 6;
}
