/* net.c - TCP sockets that do not block, and whole messages over them. */
#include "images/cpu/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

int64_t net_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int address_parse(const char *text, uint16_t port, struct address *address,
		  struct failure *failure)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

	memset(address, 0, sizeof(*address));
	if (strcmp(text, "localhost") == 0)
		text = "127.0.0.1";
	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
		memcpy(&address->bytes, &v4, sizeof(v4));
		address->size = sizeof(v4);
	} else if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
		memcpy(&address->bytes, &v6, sizeof(v6));
		address->size = sizeof(v6);
	} else {
		return failure_set(failure,
				   "MASTER_ADDR: \"%.60s\" is not valid here; "
				   "expected an IPv4 or IPv6 address in "
				   "numbers, or localhost",
				   text);
	}
	address_set_port(address, port);
	return 0;
}

/* sin_port and sin6_port lie at the same place, but only by tradition. */
uint16_t address_port(const struct address *address)
{
	if (address->bytes.ss_family == AF_INET6)
		return ntohs(
			((const struct sockaddr_in6 *)(const void *)address)
				->sin6_port);
	return ntohs(
		((const struct sockaddr_in *)(const void *)address)->sin_port);
}

void address_set_port(struct address *address, uint16_t port)
{
	if (address->bytes.ss_family == AF_INET6)
		((struct sockaddr_in6 *)(void *)address)->sin6_port =
			htons(port);
	else
		((struct sockaddr_in *)(void *)address)->sin_port = htons(port);
}

/* Small messages go at once; a peer whose machine has gone silently is noticed
 * in about half a minute, both while we wait for it and while we send.
 */
static void socket_prepare(int fd)
{
	static const struct {
		int level, option, value;
	} settings[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 10 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 5 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 4 },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, 30000 },
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		setsockopt(fd, settings[i].level, settings[i].option,
			   &settings[i].value, sizeof(settings[i].value));
}

static int socket_new(const struct address *address)
{
	return socket(address->bytes.ss_family,
		      SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int net_listen(struct address *address, struct failure *failure)
{
	struct sockaddr *bytes = (struct sockaddr *)&address->bytes;
	int fd = socket_new(address);
	int on = 1;

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd < 0 || bind(fd, bytes, address->size) < 0 ||
	    listen(fd, 1024) < 0 || net_local(fd, address, failure) < 0) {
		failure_errno(failure, "cannot listen on port %u",
			      address_port(address));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

int net_accept(int listener, struct address *from)
{
	struct address peer = { .size = sizeof(peer.bytes) };
	int fd = accept4(listener, (struct sockaddr *)&peer.bytes, &peer.size,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0) {
		socket_prepare(fd);
		if (from)
			*from = peer;
	}
	return fd;
}

int net_local(int fd, struct address *address, struct failure *failure)
{
	address->size = sizeof(address->bytes);
	if (getsockname(fd, (struct sockaddr *)&address->bytes,
			&address->size) < 0)
		return failure_errno(failure, "cannot tell our own address");
	return 0;
}

/* Wait for an event on fd. false: the deadline came. */
static bool wait_for(int fd, short events, int64_t deadline)
{
	struct pollfd poll_fd = { .fd = fd, .events = events };

	for (;;) {
		int64_t left = deadline - net_now_ms();

		if (left <= 0)
			return false;
		if (poll(&poll_fd, 1, left > 60000 ? 60000 : (int)left) > 0)
			return true;
	}
}

/* The connected socket, or -1 with errno. */
static int connect_once(const struct address *address, int64_t deadline)
{
	int fd = socket_new(address);
	int code = 0;
	socklen_t size = sizeof(code);

	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&address->bytes,
		    address->size) < 0)
		code = errno;
	if (code == EINPROGRESS) {
		code = ETIMEDOUT;
		if (wait_for(fd, POLLOUT, deadline))
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size);
	}
	if (code == 0) {
		socket_prepare(fd);
		return fd;
	}
	close(fd);
	errno = code;
	return -1;
}

int net_connect(const struct address *address, int64_t deadline,
		struct failure *failure)
{
	enum { PAUSE_MS = 50 };
	int fd;

	/* Ranks start with skew, and a node's network may come late: any
	 * refusal may pass until the deadline.
	 */
	while ((fd = connect_once(address, deadline)) < 0 &&
	       net_now_ms() + PAUSE_MS < deadline)
		poll(NULL, 0, PAUSE_MS);
	if (fd < 0)
		return failure_errno(failure, "cannot connect to port %u",
				     address_port(address));
	return fd;
}

static int went_away(struct failure *failure, ssize_t got)
{
	return got ? failure_errno(failure, "went away")
		   : failure_set(failure, "went away (closed its connection)");
}

int net_send(int fd, const void *data, size_t size, int64_t deadline,
	     struct failure *failure)
{
	const char *bytes = data;

	while (size > 0) {
		ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);

		if (sent > 0) {
			bytes += sent;
			size -= (size_t)sent;
		} else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
			return went_away(failure, sent);
		} else if (!wait_for(fd, POLLOUT, deadline)) {
			return failure_set(failure, "takes no data");
		}
	}
	return 0;
}

int net_receive(int fd, void *data, size_t size, int64_t deadline,
		struct failure *failure)
{
	char *bytes = data;

	while (size > 0) {
		ssize_t got = recv(fd, bytes, size, 0);

		if (got > 0) {
			bytes += got;
			size -= (size_t)got;
		} else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
			return went_away(failure, got);
		} else if (!wait_for(fd, POLLIN, deadline)) {
			return failure_set(failure, "sent no answer in time");
		}
	}
	return 0;
}
