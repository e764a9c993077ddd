/* readers.c - many open pages that nobody looks at.
 */
#include "tests/bench/readers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MS 10000
#define READ_MAX (1 << 20)
#define GOOD "HTTP/1.1 200 "

static int parse_url(const char *url, struct sockaddr_in *at, struct error *err)
{
	char host[16];
	unsigned short port;

	if (sscanf(url, "http://%15[0-9.]:%hu", host, &port) != 2)
		return error_set(err, EINVAL, "%.80s: not http://ADDRESS:PORT",
				 url);
	*at = (struct sockaddr_in){ .sin_family = AF_INET,
				    .sin_port = htons(port) };
	inet_pton(AF_INET, host, &at->sin_addr);
	return 0;
}

/* The descriptor of a stream that was asked for. */
static int ask(const struct sockaddr_in *at, const char *cookie,
	       const char *path, struct error *err)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char text[600];
	int size = snprintf(text, sizeof(text),
			    "GET %s HTTP/1.1\r\nHost: bench\r\n"
			    "Cookie: %s\r\n\r\n",
			    path, cookie);

	if (fd >= 0 &&
	    connect(fd, (const struct sockaddr *)at, sizeof(*at)) == 0 &&
	    send(fd, text, (size_t)size, MSG_NOSIGNAL) == size)
		return fd;
	error_errno(err, "%.80s", path);
	if (fd >= 0)
		close(fd);
	return -1;
}

static int hear(int fd, struct error *err)
{
	struct pollfd watched = { .fd = fd, .events = POLLIN };
	char text[sizeof(GOOD)] = "";

	if (poll(&watched, 1, ANSWER_MS) > 0 &&
	    recv(fd, text, sizeof(text) - 1, MSG_WAITALL) > 0 &&
	    !strcmp(text, GOOD))
		return 0;
	return error_set(err, EIO, "a page's stream: answer '%s'", text);
}

/* In the child: only calls that need no lock of another thread. */
__attribute__((noreturn)) static void read_all(int epoll)
{
	const struct sched_param none = { 0 };
	struct epoll_event events[READERS_MAX];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, SIG_DFL);
	if (sched_setscheduler(0, SCHED_IDLE, &none) < 0)
		_exit(1);
	for (;;) {
		int count = epoll_wait(epoll, events, READERS_MAX, -1);

		/* With MSG_TRUNC, TCP copies nothing. */
		for (int i = 0; i < count; i++)
			if (recv(events[i].data.fd, NULL, READ_MAX,
				 MSG_DONTWAIT | MSG_TRUNC) == 0)
				_exit(1);
	}
}

static pid_t readers_fork(int epoll, struct error *err)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (!pid) {
		sigemptyset(&all);
		signal(SIGTERM, SIG_DFL);
		pthread_sigmask(SIG_SETMASK, &all, NULL);
		read_all(epoll);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? error_errno(err, "fork") : pid;
}

static int watch(int epoll, int fd, struct error *err)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		return error_errno(err, "epoll");
	return 0;
}

pid_t readers_start(const char *url, const char *cookie,
		    const char *const *paths, size_t paths_count, size_t count,
		    struct error *err)
{
	int fds[READERS_MAX], epoll = epoll_create1(EPOLL_CLOEXEC);
	struct sockaddr_in at;
	size_t opened = 0;
	pid_t pid = -1;
	int rc = epoll < 0 ? error_errno(err, "epoll")
			   : parse_url(url, &at, err);

	while (rc == 0 && opened < count && opened < READERS_MAX) {
		fds[opened] =
			ask(&at, cookie, paths[opened % paths_count], err);
		rc = fds[opened] < 0 ? -1 : watch(epoll, fds[opened], err);
		opened += fds[opened] >= 0;
	}
	for (size_t i = 0; rc == 0 && i < opened; i++)
		rc = hear(fds[i], err);
	if (rc == 0)
		pid = readers_fork(epoll, err);
	for (size_t i = 0; i < opened; i++)
		close(fds[i]);
	if (epoll >= 0)
		close(epoll);
	return pid;
}
