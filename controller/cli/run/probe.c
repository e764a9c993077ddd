/* probe.c - checks whether a Docker engine can be reached at an address.
 */
#include "controller/cli/run/probe.h"
#include "protocol/base/owned.h"
#include "protocol/config/own_engine.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

static const char *advice(int code)
{
	switch (code) {
	case ENOENT:
		return "the socket does not exist; start Docker (systemctl "
		       "start docker), or set another engine with --engine or "
		       "DOCKER_HOST";
	case EACCES:
	case EPERM:
		return "permission denied; join the group docker, install "
		       "podman and uidmap to use Podman, or run as root";
	case ECONNREFUSED:
		return "no engine listens there; start Docker (systemctl start "
		       "docker), or set another engine with --engine or "
		       "DOCKER_HOST";
	default:
		return strerror(code);
	}
}

static int unreachable(const char *host, int code, struct error *err)
{
	return error_set(err, ECONNREFUSED, "Docker engine %.80s: %s", host,
			 advice(code));
}

static int probe_unix(const char *host, const char *path, struct error *err)
{
	owned_fd int fd =
		path[0] == '/' ? own_engine_connect(path) : -ENAMETOOLONG;

	if (fd == -ENAMETOOLONG)
		return error_set(err, EINVAL,
				 "engine: '%.80s' is not valid here; expected "
				 "unix:///PATH of at most 107 bytes",
				 host);
	return fd < 0 ? unreachable(host, -fd, err) : 0;
}

/* 0, or the errno of the failed connection. */
static int try_connect(const struct addrinfo *at)
{
	owned_fd int fd = socket(at->ai_family,
				 SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };
	int code = 0;
	socklen_t size = sizeof(code);

	if (fd < 0)
		return errno;
	if (connect(fd, at->ai_addr, at->ai_addrlen) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return errno;
	if (poll(&poll_fd, 1, PROBE_MS) <= 0)
		return ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) < 0)
		return errno;
	return code;
}

/* "HOST:PORT", with [brackets] around an IPv6 address. */
static int host_port_split(const char *text, char name[256], char port[16])
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;
	size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;

	if (!length || length >= 256 || !digits || digits > 5 ||
	    (colon[1 + digits] && strcmp(colon + 1 + digits, "/") != 0))
		return -1;
	if (text[0] == '[' && text[length - 1] == ']') {
		text++;
		length -= 2;
	}
	snprintf(name, 256, "%.*s", (int)length, text);
	snprintf(port, 16, "%.*s", (int)digits, colon + 1);
	return 0;
}

static int probe_tcp(const char *host, const char *where, struct error *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	char name[256], port[16];
	int code;

	if (host_port_split(where, name, port) < 0)
		return error_set(err, EINVAL,
				 "engine: '%.80s' is not valid here; expected "
				 "tcp://HOST:PORT",
				 host);
	code = getaddrinfo(name, port, &hints, &found);
	if (code)
		return error_set(err, ECONNREFUSED, "Docker engine %.80s: %s",
				 host, gai_strerror(code));
	code = EHOSTUNREACH;
	for (const struct addrinfo *at = found; at && code; at = at->ai_next)
		code = try_connect(at);
	freeaddrinfo(found);
	return code ? unreachable(host, code, err) : 0;
}

int probe_engine(const char *host, struct error *err)
{
	char own[OWN_ENGINE_SIZE];

	if (!strcmp(host, OWN_ENGINE)) {
		if (own_engine_find(own) || own_engine_podman())
			return 0;
		host = OWN_ENGINE_DOCKER;
	}
	if (!strncmp(host, "unix://", 7))
		return probe_unix(host, host + 7, err);
	if (!strncmp(host, "tcp://", 6))
		return probe_tcp(host, host + 6, err);
	return error_set(err, EINVAL,
			 "engine: '%.80s' is not valid here; expected "
			 "unix:///PATH, tcp://HOST:PORT or " OWN_ENGINE,
			 host);
}

bool probe_is_silent(const char *host)
{
	static const char ask[] = "GET /_ping HTTP/1.0\r\n\r\n";
	char own[OWN_ENGINE_SIZE];
	owned_fd int fd = -1;
	struct pollfd answer = { .events = POLLIN };

	if (!strcmp(host, OWN_ENGINE) && own_engine_find(own))
		host = own;
	if (strncmp(host, "unix://", 7) != 0)
		return false;
	fd = own_engine_connect(host + 7);
	if (fd < 0 ||
	    send(fd, ask, sizeof(ask) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return false;
	answer.fd = fd;
	return poll(&answer, 1, PROBE_MS) == 0;
}
