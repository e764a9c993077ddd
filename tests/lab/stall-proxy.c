/* stall-proxy.c - a TCP proxy that stops, cuts, or slows down answers.
 *
 *	stall-proxy TARGET PORT stall|cut|slow BYTES [LISTEN]
 *
 * Listens on LISTEN (127.0.0.1), prints "listening on ADDRESS:PORT", and passes
 * connections to TARGET:PORT (IPv4 addresses). After BYTES, of requests and
 * answers, over all connections together:
 *
 *	stall	nobody gets another byte of an answer, yet all connections stay
 *		open and new ones are taken; prints "stalled"
 *	cut	the connections of that moment are reset, once; those that come
 *		later pass; prints "cut"
 *	slow	so many more pass a second
 *
 * SIGUSR1 lets everything pass from then on and prints "passing"; SIGUSR2 arms
 * it again for another BYTES. SIGTERM ends it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PAIRS_MAX 128
#define BLOCK 65536
#define PACE_MS 100

/* Bytes on their way from one socket to the other. */
struct flow {
	char data[BLOCK];
	size_t start, size;
	bool ended; /* the source sent its last byte */
	bool shut;  /* and the target was told */
};

struct pair {
	int client, server; /* -1: free */
	struct flow up, down;
};

struct proxy {
	struct sockaddr_in target;
	int listener, signals;
	bool cut;   /* else stall, */
	bool slow;  /* unless it is just slow */
	bool armed; /* counting */
	bool stalled;
	uint64_t allowance; /* BYTES */
	uint64_t left;      /* until it happens, while armed */
	struct timespec since;
	struct pair *pairs[PAIRS_MAX];
};

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

static void pair_free(struct proxy *proxy, int i, bool reset)
{
	struct pair *pair = proxy->pairs[i];
	struct linger now = { .l_onoff = 1, .l_linger = 0 };

	/* A linger time of 0 makes close() send a reset: see socket(7). */
	if (reset)
		setsockopt(pair->client, SOL_SOCKET, SO_LINGER, &now,
			   sizeof(now));
	close(pair->client);
	close(pair->server);
	free(pair);
	proxy->pairs[i] = NULL;
}

static void pair_new(struct proxy *proxy)
{
	int client = accept4(proxy->listener, NULL, NULL,
			     SOCK_CLOEXEC | SOCK_NONBLOCK);
	int server, slot = 0;
	struct pair *pair;

	while (slot < PAIRS_MAX && proxy->pairs[slot])
		slot++;
	if (client < 0)
		return;
	server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pair = slot < PAIRS_MAX ? calloc(1, sizeof(*pair)) : NULL;
	if (!pair || server < 0 ||
	    connect(server, (struct sockaddr *)&proxy->target,
		    sizeof(proxy->target)) < 0) {
		close(client);
		if (server >= 0)
			close(server);
		free(pair);
		return;
	}
	pair->client = client;
	pair->server = server;
	proxy->pairs[slot] = pair;
}

/* Returns false when the connection broke. */
static bool flow_read(struct flow *flow, int fd)
{
	ssize_t n = recv(fd, flow->data, sizeof(flow->data), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	flow->start = 0;
	flow->size = (size_t)n;
	flow->ended = n == 0;
	return true;
}

static bool flow_write(struct flow *flow, int fd, size_t most, size_t *sent)
{
	size_t size = flow->size < most ? flow->size : most;
	ssize_t n = send(fd, flow->data + flow->start, size,
			 MSG_DONTWAIT | MSG_NOSIGNAL);

	*sent = n > 0 ? (size_t)n : 0;
	flow->start += *sent;
	flow->size -= *sent;
	return n >= 0 || errno == EAGAIN || errno == EINTR;
}

static void flow_end(struct flow *flow, int fd)
{
	if (flow->ended && !flow->size && !flow->shut) {
		shutdown(fd, SHUT_WR);
		flow->shut = true;
	}
}

static void happen(struct proxy *proxy)
{
	if (proxy->slow) {
		proxy->stalled = true;
		return;
	}
	proxy->armed = false;
	if (proxy->cut) {
		for (int i = 0; i < PAIRS_MAX; i++)
			if (proxy->pairs[i])
				pair_free(proxy, i, true);
		say("cut");
		return;
	}
	proxy->stalled = true;
	say("stalled");
}

static void count(struct proxy *proxy, size_t passed)
{
	if (proxy->armed)
		proxy->left -= passed < proxy->left ? passed : proxy->left;
}

/* What poll() shall watch for. No interest, no entry: a hang-up would spin. */
static void pair_watch(const struct proxy *proxy, const struct pair *pair,
		       struct pollfd *fds)
{
	short client = 0, server = 0;

	if (!pair->up.size && !pair->up.ended)
		client |= POLLIN;
	if (pair->down.size && !proxy->stalled)
		client |= POLLOUT;
	if (!pair->down.size && !pair->down.ended)
		server |= POLLIN;
	if (pair->up.size)
		server |= POLLOUT;
	fds[0] = (struct pollfd){ client ? pair->client : -1, client, 0 };
	fds[1] = (struct pollfd){ server ? pair->server : -1, server, 0 };
}

static void pair_turn(struct proxy *proxy, int i, short client, short server)
{
	struct pair *pair = proxy->pairs[i];
	size_t sent = 0, most = BLOCK;
	bool good = true;

	if (client & (POLLIN | POLLHUP | POLLERR) && !pair->up.size &&
	    !pair->up.ended)
		good = good && flow_read(&pair->up, pair->client);
	if (server & (POLLIN | POLLHUP | POLLERR) && !pair->down.size &&
	    !pair->down.ended)
		good = good && flow_read(&pair->down, pair->server);
	if (good && pair->up.size) {
		good = flow_write(&pair->up, pair->server, BLOCK, &sent);
		count(proxy, sent);
	}
	flow_end(&pair->up, pair->server);
	if (proxy->armed && proxy->left < most)
		most = (size_t)proxy->left;
	if (good && pair->down.size && most && !proxy->stalled) {
		good = flow_write(&pair->down, pair->client, most, &sent);
		count(proxy, sent);
	}
	if (!proxy->stalled)
		flow_end(&pair->down, pair->client);
	if (!good || (pair->up.shut && pair->down.shut)) {
		pair_free(proxy, i, false);
	} else if (proxy->armed && !proxy->left) {
		happen(proxy);
	}
}

/* Returns false when it is time to end. */
static bool signal_turn(struct proxy *proxy)
{
	struct signalfd_siginfo info;

	if (read(proxy->signals, &info, sizeof(info)) != sizeof(info))
		return true;
	if (info.ssi_signo == SIGUSR1) {
		proxy->armed = proxy->stalled = false;
		say("passing");
	} else if (info.ssi_signo == SIGUSR2) {
		proxy->left = proxy->allowance;
		proxy->armed = true;
		proxy->stalled = false;
	} else {
		return false;
	}
	return true;
}

/* Ten times a second. */
static void go_on(struct proxy *proxy)
{
	struct timespec now;
	int64_t passed;

	clock_gettime(CLOCK_MONOTONIC, &now);
	passed = (now.tv_sec - proxy->since.tv_sec) * 1000 +
		 (now.tv_nsec - proxy->since.tv_nsec) / 1000000;
	if (!proxy->slow || !proxy->armed || passed < PACE_MS)
		return;
	proxy->since = now;
	proxy->left = proxy->allowance * PACE_MS / 1000;
	proxy->stalled = false;
}

static void loop(struct proxy *proxy)
{
	struct pollfd fds[2 + 2 * PAIRS_MAX];

	for (;;) {
		go_on(proxy);
		fds[0] = (struct pollfd){ proxy->signals, POLLIN, 0 };
		fds[1] = (struct pollfd){ proxy->listener, POLLIN, 0 };
		for (int i = 0; i < PAIRS_MAX; i++) {
			struct pollfd *fd = fds + 2 + 2 * (size_t)i;

			fd[0] = fd[1] = (struct pollfd){ -1, 0, 0 };
			if (proxy->pairs[i])
				pair_watch(proxy, proxy->pairs[i], fd);
		}
		if (poll(fds, 2 + 2 * PAIRS_MAX, proxy->slow ? PACE_MS : -1) <
			    0 &&
		    errno != EINTR)
			return;
		if (fds[0].revents && !signal_turn(proxy))
			return;
		if (fds[1].revents)
			pair_new(proxy);
		for (int i = 0; i < PAIRS_MAX; i++) {
			struct pollfd *fd = fds + 2 + 2 * (size_t)i;

			if (proxy->pairs[i] && (fd[0].revents | fd[1].revents))
				pair_turn(proxy, i, fd[0].revents,
					  fd[1].revents);
		}
	}
}

static bool proxy_listen(struct proxy *proxy, const char *address)
{
	struct sockaddr_in here = { .sin_family = AF_INET };
	socklen_t size = sizeof(here);
	char text[INET_ADDRSTRLEN];

	proxy->listener =
		socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (inet_pton(AF_INET, address, &here.sin_addr) != 1 ||
	    bind(proxy->listener, (struct sockaddr *)&here, size) < 0 ||
	    listen(proxy->listener, PAIRS_MAX) < 0 ||
	    getsockname(proxy->listener, (struct sockaddr *)&here, &size) < 0)
		return false;
	inet_ntop(AF_INET, &here.sin_addr, text, sizeof(text));
	printf("listening on %s:%d\n", text, ntohs(here.sin_port));
	fflush(stdout);
	return true;
}

int main(int argc, char **argv)
{
	struct proxy proxy = { .target = { .sin_family = AF_INET },
			       .armed = true };
	sigset_t set;
	long port = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

	if (argc < 5 || argc > 6 || port < 1 || port > 65535 ||
	    inet_pton(AF_INET, argv[1], &proxy.target.sin_addr) != 1 ||
	    (strcmp(argv[3], "stall") && strcmp(argv[3], "cut") &&
	     strcmp(argv[3], "slow"))) {
		fprintf(stderr, "usage: stall-proxy TARGET PORT stall|cut|slow "
				"BYTES [LISTEN]\n");
		return 2;
	}
	proxy.target.sin_port = htons((uint16_t)port);
	proxy.cut = !strcmp(argv[3], "cut");
	proxy.slow = !strcmp(argv[3], "slow");
	proxy.left = proxy.allowance = strtoull(argv[4], NULL, 10);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	proxy.signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (!proxy_listen(&proxy, argc > 5 ? argv[5] : "127.0.0.1")) {
		perror("stall-proxy");
		return 1;
	}
	loop(&proxy);
	return 0;
}
