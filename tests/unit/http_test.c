/* http_test.c - HTTP by libcurl on the loop, against a scripted server.
 */
#include "agent/docker/http.h"

#include "protocol/base/clock.h"
#include "protocol/base/loop.h"
#include "tests/tap.h"
#include "tests/unit/fake_engine.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

struct world {
	sd_event *loop;
	char folder[64];
	char socket[96];
	char host[112];
	struct fake_engine *fake;
	struct http *http;
	struct fake_exchange *held; /* by the script, to go on later */
	sd_event_source *later;
	int ticks;
	bool gone; /* the other side has closed it */
};

struct outcome {
	struct http *http; /* to free inside a callback */
	struct http_call *call;
	struct http_call *second;
	int done;
	bool inside; /* we are inside http_send() */
	struct error err;
	int status;
	struct buffer body;
	size_t streamed;
};

static void on_gone(void *arg)
{
	struct world *world = arg;

	world->gone = true;
	world->held = NULL;
}

static int tick(sd_event_source *source, uint64_t usec, void *arg)
{
	struct world *world = arg;

	if (!world->held)
		return 0;
	if (world->ticks-- == 0) {
		fake_end(world->held);
		return 0;
	}
	fake_chunk(world->held, "x");
	sd_event_source_set_time_relative(source, 30000);
	sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

static void hold(struct world *world, struct fake_exchange *exchange)
{
	world->held = exchange;
	fake_on_gone(exchange, on_gone, world);
}

static void script(void *arg, struct fake_exchange *exchange,
		   const struct fake_request *request)
{
	struct world *world = arg;
	const char *path = request->path;
	static char big[65536];

	if (!strcmp(path, "/echo")) {
		fake_answer(exchange, 200, request->body);
	} else if (!strcmp(path, "/method")) {
		fake_answer(exchange, 200, request->method);
	} else if (!strcmp(path, "/500")) {
		fake_answer(exchange, 500, "{\"message\":\"broken\"}");
	} else if (!strcmp(path, "/silence")) {
		hold(world, exchange);
	} else if (!strcmp(path, "/half")) {
		hold(world, exchange);
		fake_begin(exchange, 200);
		fake_raw(exchange, "10\r\nhalf", 8);
	} else if (!strcmp(path, "/drip")) {
		hold(world, exchange);
		fake_begin(exchange, 200);
		world->ticks = 20;
		sd_event_add_time_relative(world->loop, &world->later,
					   CLOCK_MONOTONIC, 30000, 1, tick,
					   world);
	} else if (!strcmp(path, "/close")) {
		fake_begin(exchange, 200);
		fake_chunk(exchange, "some");
		fake_close(exchange);
	} else if (!strcmp(path, "/short")) {
		fake_raw(exchange,
			 "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", 41);
		fake_close(exchange);
	} else if (!strcmp(path, "/garbage")) {
		fake_raw(exchange, "\x01\x02 not http at all\r\n\r\n", 21);
		fake_close(exchange);
	} else if (!strcmp(path, "/large")) {
		fake_begin(exchange, 200);
		for (int i = 0; i < 257; i++)
			fake_bytes(exchange, big, sizeof(big));
		fake_end(exchange);
	} else if (!strcmp(path, "/headers")) {
		fake_raw(exchange, "HTTP/1.1 200 OK\r\n", 17);
		for (int i = 0; i < 10000; i++)
			fake_raw(exchange, "X-Flood: xxxxxxxxxx\r\n", 21);
	} else if (!strcmp(path, "/last")) {
		fake_answer(exchange, 200, "last");
		fake_close(exchange);
	} else {
		fake_answer(exchange, 404, "{\"message\":\"no page\"}");
	}
}

static void done(void *arg, const struct error *err,
		 const struct http_answer *answer)
{
	struct outcome *outcome = arg;

	outcome->done += outcome->inside ? 100 : 1;
	outcome->call = NULL;
	if (err) {
		outcome->err = *err;
		return;
	}
	outcome->status = answer->status;
	buffer_append(&outcome->body, answer->body, answer->size, NULL);
}

static int data(void *arg, const void *bytes, size_t size, struct error *err)
{
	struct outcome *outcome = arg;

	outcome->streamed += size;
	return 0;
}

static void outcome_reset(struct outcome *outcome)
{
	buffer_clear(&outcome->body);
	*outcome = (struct outcome){ 0 };
	buffer_init(&outcome->body, HTTP_ANSWER_MAX);
}

static void send_request(struct world *world, struct outcome *outcome,
			 struct http_request request)
{
	struct error err = { 0 };

	outcome_reset(outcome);
	request.method = request.method ? request.method : "GET";
	request.done = done;
	request.arg = outcome;
	request.data_arg = request.data_arg ? request.data_arg : outcome;
	outcome->inside = true;
	outcome->call = http_send(world->http, &request, &err);
	outcome->inside = false;
	if (!outcome->call)
		printf("Bail out! %s\n", err.text);
}

static void wait_done(struct world *world, struct outcome *outcome)
{
	while (!outcome->done)
		sd_event_run(world->loop, UINT64_MAX);
}

static void ask(struct world *world, struct outcome *outcome,
		struct http_request request)
{
	send_request(world, outcome, request);
	wait_done(world, outcome);
}

#define REQUEST(...) ((struct http_request){ __VA_ARGS__ })

static void open_world(struct world *world)
{
	struct error err;

	*world = (struct world){ 0 };
	snprintf(world->folder, sizeof(world->folder), "/tmp/http-test-XXXXXX");
	if (!mkdtemp(world->folder) || sd_event_new(&world->loop) < 0)
		exit(1);
	snprintf(world->socket, sizeof(world->socket), "%s/s", world->folder);
	snprintf(world->host, sizeof(world->host), "unix://%s", world->socket);
	world->fake =
		fake_engine_new(world->loop, world->socket, script, world);
	world->http = http_new(world->loop, world->host, NULL, &err);
	if (!world->http)
		exit(1);
}

static void close_world(struct world *world)
{
	http_free(world->http);
	sd_event_source_disable_unref(world->later);
	fake_engine_free(world->fake);
	rmdir(world->folder);
	sd_event_unref(world->loop);
}

static void addresses(struct world *world)
{
	static const char *const bad[] = {
		"",
		"docker",
		"unix://",
		"unix://relative",
		"npipe:////./pipe/docker_engine",
		"ssh://host",
		"tcp://",
		"tcp://host",
		"tcp://:2375",
		"tcp://host:",
		"tcp://host:0",
		"tcp://host:65536",
		"tcp://host:+1",
		"tcp://host:12x",
		"tcp://user@host:12",
		"tcp://host/path:12",
		"tcp://[::1:12",
	};
	static const char *const good[] = {
		"unix:///a/b",
		"tcp://127.0.0.1:2375",
		"tcp://node-7.cluster:2376",
		"tcp://[::1]:2375",
	};
	struct error err = { 0 };
	struct http *http;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		http = http_new(world->loop, bad[i], NULL, &err);
		ok(!http && err.code == EINVAL, "\"%s\" is refused: %s", bad[i],
		   err.text);
		http_free(http);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		http = http_new(world->loop, good[i], NULL, &err);
		ok(http != NULL, "\"%s\" is an address", good[i]);
		http_free(http);
	}
	http = http_new(world->loop, "unix:///a", "/tmp", &err);
	ok(!http && err.code == EINVAL, "TLS on a unix socket is refused");
	http_free(http);
	http = http_new(world->loop, "tcp://127.0.0.1:1", world->folder, &err);
	ok(!http && strstr(err.text, "ca.pem"),
	   "a TLS folder without ca.pem is refused: %s", err.text);
	http_free(http);
}

static void nobody_there(struct world *world)
{
	struct outcome outcome = { 0 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct http *real = world->http;
	char host[128];
	int fd;

	snprintf(host, sizeof(host), "unix://%s/none", world->folder);
	world->http = http_new(world->loop, host, NULL, NULL);
	ask(world, &outcome, REQUEST(.path = "/echo"));
	ok(outcome.err.code == ECONNREFUSED &&
		   strstr(outcome.err.text, "start Docker"),
	   "no socket: %s", outcome.err.text);
	is_int(outcome.done, 1, "done() runs once, and not inside the call");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/none",
		 world->folder);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		exit(1);
	close(fd);
	ask(world, &outcome, REQUEST(.path = "/echo"));
	is_int(outcome.err.code, ECONNREFUSED,
	       "a socket that nobody listens on: %s", outcome.err.text);
	unlink(address.sun_path);
	http_free(world->http);
	world->http = http_new(world->loop, "tcp://127.0.0.1:1", NULL, NULL);
	ask(world, &outcome, REQUEST(.path = "/echo"));
	is_int(outcome.err.code, ECONNREFUSED, "a TCP port without server: %s",
	       outcome.err.text);
	http_free(world->http);
	world->http = real;
	outcome_reset(&outcome);
}

static void plain_answers(struct world *world)
{
	struct outcome outcome = { 0 };

	ask(world, &outcome,
	    REQUEST(.method = "POST", .path = "/echo", .body = "{\"a\":1}"));
	ok(outcome.status == 200 && outcome.done == 1, "an answer, once");
	is(outcome.body.data, "{\"a\":1}", "the body went there and back");
	ask(world, &outcome, REQUEST(.method = "DELETE", .path = "/method"));
	is(outcome.body.data, "DELETE", "the method is the one asked for");
	is_int(fake_engine_connections(world->fake), 1,
	       "one connection serves both");
	ask(world, &outcome, REQUEST(.path = "/500"));
	ok(outcome.status == 500 && !outcome.err.code,
	   "a status of 500 is an answer too");
	ask(world, &outcome, REQUEST(.path = "/none", .data = data));
	ok(outcome.status == 404 && !outcome.streamed && outcome.body.size,
	   "the body of an error is collected, not streamed");
	ask(world, &outcome, REQUEST(.path = "/last"));
	ask(world, &outcome, REQUEST(.path = "/last"));
	is(outcome.body.data, "last",
	   "a connection that has died meanwhile is replaced");
	outcome_reset(&outcome);
}

static void broken_answers(struct world *world)
{
	struct outcome outcome = { 0 };

	ask(world, &outcome, REQUEST(.path = "/close", .data = data));
	ok(outcome.err.code == ECONNRESET && outcome.streamed == 4,
	   "closed in mid-stream: %s", outcome.err.text);
	ask(world, &outcome, REQUEST(.path = "/short"));
	is_int(outcome.err.code, ECONNRESET, "a body cut short: %s",
	       outcome.err.text);
	ask(world, &outcome, REQUEST(.path = "/garbage"));
	is_int(outcome.err.code, EPROTO, "garbage: %s", outcome.err.text);
	ask(world, &outcome, REQUEST(.path = "/large"));
	is_int(outcome.err.code, E2BIG, "more than 16 MiB: %s",
	       outcome.err.text);
	ask(world, &outcome, REQUEST(.path = "/large", .data = data));
	ok(!outcome.err.code && outcome.streamed == (size_t)257 * 65536,
	   "a stream has no such limit");
	ask(world, &outcome, REQUEST(.path = "/headers"));
	is_int(outcome.err.code, E2BIG, "a flood of headers: %s",
	       outcome.err.text);
	outcome_reset(&outcome);
}

/* Until the server has seen the end of what it held. */
static void wait_gone(struct world *world)
{
	while (!world->gone)
		sd_event_run(world->loop, UINT64_MAX);
	world->gone = false;
}

static void times(struct world *world)
{
	struct outcome outcome = { 0 };
	int64_t before = clock_mono_ms();

	ask(world, &outcome, REQUEST(.path = "/silence", .timeout_ms = 60));
	is_int(outcome.err.code, ETIMEDOUT, "silence: %s", outcome.err.text);
	ok(clock_mono_ms() - before >= 60, "and not before the time");
	wait_gone(world);
	ok(true, "the connection is closed then");
	ask(world, &outcome,
	    REQUEST(.path = "/half", .data = data, .timeout_ms = 60));
	ok(outcome.err.code == ETIMEDOUT && outcome.streamed == 4,
	   "half a chunk, then silence: %s", outcome.err.text);
	wait_gone(world);
	ask(world, &outcome,
	    REQUEST(.path = "/half", .data = data, .stall_ms = 60));
	ok(outcome.err.code == ETIMEDOUT, "the same by stall_ms: %s",
	   outcome.err.text);
	wait_gone(world);
	ask(world, &outcome,
	    REQUEST(.path = "/drip", .data = data, .stall_ms = 500));
	ok(!outcome.err.code && outcome.streamed == 20,
	   "a byte now and then is no stall: %s", outcome.err.text);
	outcome_reset(&outcome);
}

static void cancelling(struct world *world)
{
	struct outcome first = { 0 }, second = { 0 };

	world->gone = false;
	world->held = NULL;
	send_request(world, &first, REQUEST(.path = "/silence"));
	while (!world->held)
		sd_event_run(world->loop, UINT64_MAX);
	http_cancel(first.call);
	wait_gone(world);
	is_int(first.done, 0, "a cancelled call closes, and done() never runs");
	send_request(world, &first, REQUEST(.path = "/echo"));
	http_cancel(first.call);
	ask(world, &second, REQUEST(.path = "/echo"));
	ok(!first.done && second.done == 1, "cancelled before it was sent");
	outcome_reset(&second);
}

static int cancel_inside(void *arg, const void *bytes, size_t size,
			 struct error *err)
{
	struct outcome *outcome = arg;

	outcome->streamed++;
	http_cancel(outcome->call);
	return 0;
}

static int free_inside(void *arg, const void *bytes, size_t size,
		       struct error *err)
{
	struct outcome *outcome = arg;

	outcome->streamed++;
	http_free(outcome->http);
	return 0;
}

static int send_inside(void *arg, const void *bytes, size_t size,
		       struct error *err)
{
	struct outcome *outcome = arg;
	struct http_request request = {
		.method = "GET",
		.path = "/echo",
		.done = done,
		.arg = outcome,
	};

	if (!outcome->streamed++)
		outcome->second = http_send(outcome->http, &request, NULL);
	return 0;
}

static int refuse_inside(void *arg, const void *bytes, size_t size,
			 struct error *err)
{
	return error_set(err, ENOSPC, "the disk is full");
}

static void free_in_done(void *arg, const struct error *err,
			 const struct http_answer *answer)
{
	struct outcome *outcome = arg;

	outcome->done++;
	http_free(outcome->http);
}

/* Whatever a callback calls. */
static void inside_callbacks(struct world *world)
{
	struct outcome first = { 0 }, second = { 0 }, third = { 0 };
	struct http_request request = {
		.method = "GET",
		.path = "/echo",
		.done = free_in_done,
		.arg = &first,
	};

	send_request(world, &first,
		     REQUEST(.path = "/large", .data = cancel_inside));
	ask(world, &second, REQUEST(.path = "/large", .data = data));
	ok(first.streamed == 1 && !first.done && second.done == 1,
	   "a call cancelled in its data callback is silent");

	send_request(world, &first,
		     REQUEST(.path = "/large", .data = send_inside));
	first.http = world->http;
	while (first.done < 2)
		sd_event_run(world->loop, UINT64_MAX);
	ok(first.second != NULL, "a call can be sent from a data callback");

	ask(world, &first, REQUEST(.path = "/large", .data = refuse_inside));
	ok(first.err.code == ENOSPC, "a data callback's error is the call's");

	send_request(world, &first,
		     REQUEST(.path = "/large", .data = free_inside));
	send_request(world, &second, REQUEST(.path = "/large", .data = data));
	first.http = world->http;
	while (!first.streamed)
		sd_event_run(world->loop, UINT64_MAX);
	world->http = http_new(world->loop, world->host, NULL, NULL);
	ask(world, &third, REQUEST(.path = "/echo"));
	ok(first.streamed == 1 && !first.done && !second.done,
	   "the client can be freed in a data callback");

	outcome_reset(&first);
	first.http = world->http;
	http_send(world->http, &request, NULL);
	while (!first.done)
		sd_event_run(world->loop, UINT64_MAX);
	ok(true, "the client can be freed in done()");
	world->http = http_new(world->loop, world->host, NULL, NULL);
	outcome_reset(&second);
	outcome_reset(&third);
}

struct upload {
	size_t left;
	bool fail;
	size_t pause; /* when so much is left, once */
};

static ssize_t source(void *arg, void *buffer, size_t size, struct error *err)
{
	struct upload *upload = arg;

	if (upload->fail && upload->left < 100000)
		return error_set(err, EISDIR, "the file has changed");
	if (upload->left < upload->pause)
		return error_set(err, EAGAIN, "nothing now");
	if (size > upload->left)
		size = upload->left;
	memset(buffer, 'u', size);
	upload->left -= size;
	return (ssize_t)size;
}

static void uploads(struct world *world)
{
	struct outcome outcome = { 0 };
	struct upload upload = { .left = 300000 };

	ask(world, &outcome,
	    REQUEST(.method = "PUT", .path = "/echo", .source = source,
		    .source_arg = &upload));
	ok(outcome.body.size == 300000 &&
		   strspn(outcome.body.data, "u") == 300000,
	   "a streamed upload arrives whole");
	upload = (struct upload){ .left = 300000, .fail = true };
	ask(world, &outcome,
	    REQUEST(.method = "POST", .path = "/echo", .source = source,
		    .source_arg = &upload));
	ok(outcome.err.code == EISDIR, "a source's error is the call's: %s",
	   outcome.err.text);
	outcome_reset(&outcome);
}

static void paused_upload(struct world *world)
{
	struct upload upload = { .left = 300000, .pause = 200000 };
	struct outcome outcome = { 0 };
	int64_t began = clock_mono_ms();

	send_request(world, &outcome,
		     REQUEST(.method = "PUT", .path = "/echo", .source = source,
			     .source_arg = &upload, .stall_ms = 60));
	while (!outcome.done && clock_mono_ms() - began < 150)
		sd_event_run(world->loop, 10000);
	ok(!outcome.done && upload.left < upload.pause,
	   "an upload whose source has nothing waits, and does not stall");
	upload.pause = 0;
	http_resume(outcome.call);
	wait_done(world, &outcome);
	ok(outcome.body.size == 300000, "and goes on when it has more");
	upload = (struct upload){ .left = 300000, .pause = 200000 };
	send_request(world, &outcome,
		     REQUEST(.method = "PUT", .path = "/echo", .source = source,
			     .source_arg = &upload));
	while (upload.left >= upload.pause)
		sd_event_run(world->loop, 10000);
	http_cancel(outcome.call);
	ok(!outcome.done, "or is cancelled");
	outcome_reset(&outcome);
}

/* A listener whose backlog takes the connection, and that never reads. */
static void unread_upload(struct world *world)
{
	struct outcome outcome = { 0 };
	struct upload upload = { .left = SIZE_MAX };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct http *real = world->http;
	char host[128];
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/deaf",
		 world->folder);
	snprintf(host, sizeof(host), "unix://%s", address.sun_path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 4) < 0)
		exit(1);
	world->http = http_new(world->loop, host, NULL, NULL);
	ask(world, &outcome,
	    REQUEST(.method = "PUT", .path = "/", .source = source,
		    .source_arg = &upload, .stall_ms = 60));
	ok(outcome.err.code == ETIMEDOUT,
	   "an upload that nobody reads has stalled: %s", outcome.err.text);
	http_free(world->http);
	world->http = real;
	close(fd);
	unlink(address.sun_path);
	outcome_reset(&outcome);
}

int main(void)
{
	struct world world;

	signal(SIGPIPE, SIG_IGN);
	tap_begin(64);
	open_world(&world);
	addresses(&world);
	nobody_there(&world);
	plain_answers(&world);
	broken_answers(&world);
	times(&world);
	cancelling(&world);
	inside_callbacks(&world);
	uploads(&world);
	paused_upload(&world);
	unread_upload(&world);
	close_world(&world);
	return tap_done();
}
