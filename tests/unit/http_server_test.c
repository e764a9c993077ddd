/* http_server_test.c - what clients that do not read or ask much may cost, and
 * which names of the server are its own.
 */
#include "protocol/http/http_server.h"

#include "protocol/base/clock.h"
#include "tests/tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS 24
#define BODY ((size_t)8 << 20)
#define EVENTS 24 /* of a megabyte */
#define WAIT_MS 60000

struct client {
	size_t got;
	int fd;
	bool ended;
};

static void answer_large(void *arg, const struct http_request *request,
			 struct http_reply *reply)
{
	int *asked = arg;

	++*asked;
	if (!strcmp(http_path(request), "/host")) {
		buffer_text(&reply->body,
			    http_host_is_ours(request) ? "ours" : "foreign",
			    NULL);
		return;
	}
	if (!strcmp(http_path(request), "/small"))
		return;
	buffer_reserve(&reply->body, BODY, NULL);
	memset(reply->body.data, 'x', BODY);
	reply->body.size = BODY;
}

static int client_connect(const struct http_server *server, const char *text)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;

	at.sin_port = htons(
		(uint16_t)strtoul(strrchr(http_server_url(server), ':') + 1,
				  NULL, 10));
	inet_pton(AF_INET, "127.0.0.1", &at.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    write(fd, text, strlen(text)) < 0)
		abort();
	return fd;
}

/* Turn the loop while there is something to do, at least once. */
static void turn(sd_event *loop)
{
	while (sd_event_run(loop, 20000) > 0)
		;
}

/* Read what is there; true: the client has all, or was cut off. */
static bool client_read(struct client *client)
{
	static char piece[65536];
	ssize_t got;

	while ((got = recv(client->fd, piece, sizeof(piece), MSG_DONTWAIT)) > 0)
		client->got += (size_t)got;
	if (got == 0 || errno != EAGAIN)
		client->ended = true;
	return client->ended || client->got >= BODY;
}

static void test_slow_readers(sd_event *loop)
{
	static const struct http_handler handler = { .answer = answer_large };
	struct client clients[CLIENTS] = { 0 };
	int64_t end_ms = clock_mono_ms() + WAIT_MS;
	int asked = 0, whole = 0;
	bool left = true;
	struct http_server *server =
		http_server_new(loop,
				&(struct http_config){ .address =
							       "127.0.0.1:0" },
				&handler, &asked, NULL);

	for (int i = 0; i < CLIENTS; i++) {
		clients[i].fd =
			client_connect(server,
				       "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
		while (asked <= i && clock_mono_ms() < end_ms)
			sd_event_run(loop, 20000);
		turn(loop);
	}
	is_int(asked, CLIENTS, "%d clients ask for 8 MiB each", CLIENTS);
	while (left && clock_mono_ms() < end_ms) {
		left = false;
		for (int i = 0; i < CLIENTS; i++)
			left |= !client_read(&clients[i]);
		sd_event_run(loop, 20000);
	}
	for (int i = 0; i < CLIENTS; i++)
		whole += clients[i].got >= BODY;
	ok(whole >= 4 && whole <= HTTP_WAITING_MAX / (int)BODY,
	   "%d of them get it", whole);
	ok(clients[0].ended && clients[0].got < BODY &&
		   clients[CLIENTS - 1].got >= BODY,
	   "the oldest are cut off, the newest is not");
	for (int i = 0; i < CLIENTS; i++)
		close(clients[i].fd);
	turn(loop);
	http_server_free(server);
}

static void answer_stream(void *arg, const struct http_request *request,
			  struct http_reply *reply)
{
	reply->topic = arg;
	reply->type = "text/event-stream";
}

static void stream_gone(void *arg, void *topic)
{
	--*(int *)topic;
}

static bool stream_allowed(void *arg, const char *pass)
{
	return true;
}

/* Many large events, to browsers of which one reads. */
static void test_slow_streams(sd_event *loop)
{
	static const struct http_handler handler = { NULL, answer_stream,
						     stream_gone,
						     stream_allowed };
	static char event[HTTP_EVENT_BYTES];
	size_t sent = 0;
	struct client clients[CLIENTS] = { 0 };
	int64_t end_ms = clock_mono_ms() + WAIT_MS;
	int open = CLIENTS;
	struct http_server *server =
		http_server_new(loop,
				&(struct http_config){ .address =
							       "127.0.0.1:0" },
				&handler, &open, NULL);

	memset(event, 'x', sizeof(event));
	for (int i = 0; i < CLIENTS; i++) {
		clients[i].fd =
			client_connect(server,
				       "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
		turn(loop);
	}
	for (int i = 0; i < EVENTS; i++) {
		sent += sizeof(event);
		http_server_publish(server, &open, event, sizeof(event));
		while (clients[0].got < sent && clock_mono_ms() < end_ms) {
			client_read(&clients[0]);
			sd_event_run(loop, 20000);
		}
		if (i == EVENTS / 4)
			is_int(open, CLIENTS,
			       "browsers may be a little behind");
	}
	turn(loop);
	is_int(open, 1, "those that do not read are cut off, %d events on",
	       EVENTS);
	ok(clients[0].got >= sent && !clients[0].ended, "who reads gets all");
	for (int i = 0; i < CLIENTS; i++)
		close(clients[i].fd);
	http_server_free(server);
	is_int(open, 0, "all end with the server");
}

/* Is this Host the server's own, with this name in its settings? */
static bool host_is_ours(sd_event *loop, const char *host, const char *name)
{
	static const struct http_handler handler = { .answer = answer_large };
	const struct http_config config = { .address = "127.0.0.1:0",
					    .name = name };
	char text[400], got[1000] = "";
	ssize_t size = -1;
	int asked = 0, fd;
	struct http_server *server =
		http_server_new(loop, &config, &handler, &asked, NULL);

	snprintf(text, sizeof(text), "GET /host HTTP/1.1\r\nHost: %s\r\n\r\n",
		 host);
	fd = client_connect(server, text);
	while (size < 0) {
		sd_event_run(loop, 20000);
		size = recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT);
	}
	close(fd);
	turn(loop);
	http_server_free(server);
	return strstr(got, "\r\n\r\nours");
}

static void test_hosts(sd_event *loop)
{
	const struct addrinfo hints = { .ai_flags = AI_CANONNAME };
	struct addrinfo *found = NULL;
	char own[100] = "", evil[200], inside[200], deep[200], full[256];
	const struct {
		const char *host, *name;
		bool ours;
	} hosts[] = {
		{ "127.0.0.1:80", NULL, true },
		{ "[::1]:80", NULL, true },
		{ "localhost", NULL, true },
		{ own, NULL, true },
		{ full, NULL, true },
		{ evil, NULL, false },
		{ "evil.example", NULL, false },
		{ "127.0.0.1.evil.example:80", NULL, false },
		{ "localhost.evil.example", NULL, false },
		{ "", NULL, false },
		{ "regatta.example.net:80", "regatta.example.net", true },
		{ "x.regatta.example.net", "regatta.example.net", false },
		{ own, "regatta.example.net", true },
		{ inside, ".cluster.example", true },
		{ deep, ".cluster.example", false },
		{ evil, ".cluster.example", false },
		{ "x.cluster.example", ".cluster.example", false },
		{ "cluster.example", ".cluster.example", false },
	};

	gethostname(own, sizeof(own) - 1);
	if (getaddrinfo(own, NULL, &hints, &found) == 0)
		snprintf(full, sizeof(full), "%s", found->ai_canonname);
	else
		snprintf(full, sizeof(full), "%s", own);
	if (found)
		freeaddrinfo(found);
	snprintf(evil, sizeof(evil), "%.*s.evil.example:7118",
		 (int)strcspn(own, "."), own);
	snprintf(inside, sizeof(inside), "%.*s.cluster.example:7118",
		 (int)strcspn(own, "."), own);
	snprintf(deep, sizeof(deep), "%.*s.evil.cluster.example",
		 (int)strcspn(own, "."), own);
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		ok(host_is_ours(loop, hosts[i].host, hosts[i].name) ==
			   hosts[i].ours,
		   "%s is %s", hosts[i].host, hosts[i].ours ? "ours" : "not");
}

static void owner_by_path(void *arg, const struct http_request *request,
			  char owner[HTTP_OWNER_SIZE])
{
	snprintf(owner, HTTP_OWNER_SIZE, "%s", http_path(request));
}

/* The beginning of the answer; "": none. The caller closes *fd. */
static void ask(sd_event *loop, struct http_server *server, const char *path,
		int *fd, char text[200])
{
	ssize_t size = -1;

	snprintf(text, 200, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
	*fd = client_connect(server, text);
	while (size < 0) {
		sd_event_run(loop, 20000);
		size = recv(*fd, text, 199, MSG_DONTWAIT);
		if (size < 0 && errno != EAGAIN)
			size = 0;
	}
	text[size] = 0;
}

/* As soon as the second has room for it. */
static void ask_again(sd_event *loop, struct http_server *server,
		      const char *path, int *fd, char text[200])
{
	ask(loop, server, path, fd, text);
	while (!strncmp(text, "HTTP/1.1 503", 12)) {
		close(*fd);
		ask(loop, server, path, fd, text);
	}
}

static bool answered(sd_event *loop, struct http_server *server,
		     const char *path, int status)
{
	char text[200], want[40];
	int fd;

	snprintf(want, sizeof(want), "HTTP/1.1 %d", status);
	ask(loop, server, path, &fd, text);
	close(fd);
	return !strncmp(text, want, strlen(want));
}

static void test_owners(sd_event *loop)
{
	static const struct http_handler handler = { .owner = owner_by_path,
						     .answer = answer_large };
	int64_t end_ms = clock_mono_ms() + WAIT_MS, second = 0;
	int asked = 0;
	bool refused = false, others = false;
	struct http_server *server =
		http_server_new(loop,
				&(struct http_config){ .address =
							       "127.0.0.1:0" },
				&handler, &asked, NULL);

	/* Within one second, but for a bad moment. */
	while (!others && clock_mono_ms() < end_ms) {
		second = clock_mono_ms() / 1000;
		refused = answered(loop, server, "/small", 503);
		others = refused && answered(loop, server, "/host", 200) &&
			 second == clock_mono_ms() / 1000;
	}
	ok(refused && others, "who floods takes nothing from other owners");
	turn(loop);
	http_server_free(server);
}

static bool ended(int fd)
{
	struct client client = { .fd = fd };

	client_read(&client);
	return client.ended;
}

static void test_stream_owners(sd_event *loop)
{
	static const struct http_handler handler = { owner_by_path,
						     answer_stream, stream_gone,
						     stream_allowed };
	static int fds[HTTP_STREAMS_MAX];
	int open = HTTP_STREAMS_MAX, got = 0, fd;
	char text[200];
	struct http_server *server =
		http_server_new(loop,
				&(struct http_config){ .address =
							       "127.0.0.1:0" },
				&handler, &open, NULL);

	for (int i = 0; i < HTTP_STREAMS_MAX; i++) {
		ask_again(loop, server, "/one", &fds[i], text);
		got += !strncmp(text, "HTTP/1.1 200", 12);
	}
	is_int(got, HTTP_STREAMS_MAX, "one owner may have all streams");
	open++;
	ask_again(loop, server, "/one", &fd, text);
	close(fd);
	turn(loop);
	ok(!*text && open == HTTP_STREAMS_MAX, "but no more, and loses none");
	open++;
	ask(loop, server, "/other", &fd, text);
	turn(loop);
	ok(!strncmp(text, "HTTP/1.1 200", 12), "another owner gets one");
	is_int(open, HTTP_STREAMS_MAX, "for one of the owner with most");
	ok(ended(fds[0]) && !ended(fds[1]) && !ended(fd),
	   "which is its oldest");
	close(fd);
	for (int i = 0; i < HTTP_STREAMS_MAX; i++)
		close(fds[i]);
	http_server_free(server);
	is_int(open, 0, "all end with the server");
}

int main(void)
{
	sd_event *loop;

	tap_begin(60);
	if (sd_event_new(&loop) < 0)
		return 1;
	test_slow_readers(loop);
	test_slow_streams(loop);
	test_hosts(loop);
	test_owners(loop);
	test_stream_owners(loop);
	sd_event_unref(loop);
	return tap_done();
}
