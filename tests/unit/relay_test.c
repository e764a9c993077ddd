/* relay_test.c - a registry on loopback that passes on at a bounded rate what a
 * scripted one gives.
 */
#include "agent/registry/registry.h"
#include "agent/registry/relay.h"
#include "protocol/file.h"
#include "protocol/loop.h"
#include "tests/tap.h"
#include "tests/unit/fake_engine.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sodium.h>
#include <sys/socket.h>

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define BLOB "sha256:" HEX
#define OWNER "0123456789abcdef"
#define BIG (8 << 20)
#define STRANGERS 100
#define MANIFEST "{\"layers\":[{\"digest\":\"" BLOB "\",\"size\":8388608}]}"

struct world {
	sd_event *loop;
	char socket[64];
	struct fake_engine *engine, *registry, *elsewhere;
	unsigned int port, other_port;
	struct engine *client;
	struct relays *relays;
	struct relay *relay;
	struct repository *repository;
	struct http *http; /* as the engine, to the relay */
	char *big;
	char seen[4096]; /* headers of the last request elsewhere */
	int tokens;      /* given out */
	int valid;       /* the token that counts */
	struct fake_exchange *held;
	bool holds;        /* the engine its list */
	bool silent;       /* the place elsewhere says no word */
	char removed[400]; /* the last name taken away */
	char names[1000];  /* RepoDigests, as JSON */
	int lists;
};

/* The registry: a bearer token, blobs elsewhere. */

static void answer_with(struct fake_exchange *exchange, const char *head,
			const char *body)
{
	char text[4096];
	int size = snprintf(text, sizeof(text),
			    "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s",
			    head, strlen(body), body);

	fake_raw(exchange, text, (size_t)size);
}

static bool is_authorized(const struct world *world,
			  const struct fake_request *request)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "Authorization: Bearer t%d\r\n",
		 world->valid);
	return strstr(request->headers, wanted);
}

static void registry_script(void *arg, struct fake_exchange *exchange,
			    const struct fake_request *request)
{
	struct world *world = arg;
	char text[512];

	if (!strncmp(request->path, "/token?", 7)) {
		snprintf(text, sizeof(text), "{\"token\":\"t%d\"}",
			 ++world->tokens);
		world->valid = world->tokens;
		fake_answer(exchange, 200, text);
	} else if (!is_authorized(world, request)) {
		snprintf(text, sizeof(text),
			 "401 Who\r\nWWW-Authenticate: Bearer "
			 "realm=\"http://127.0.0.1:%u/token\"",
			 world->port);
		answer_with(exchange, text, "{}");
	} else if (strstr(request->path, "/manifests/")) {
		answer_with(exchange,
			    "200 OK\r\nContent-Type: application/x-manifest",
			    MANIFEST);
	} else if (strstr(request->path, "/blobs/" BLOB)) {
		snprintf(text, sizeof(text),
			 "307 There\r\nLocation: http://127.0.0.1:%u/big?x=1",
			 world->other_port);
		answer_with(exchange, text, "");
	} else {
		fake_answer(exchange, 404, "{\"errors\":[]}");
	}
}

static void elsewhere_script(void *arg, struct fake_exchange *exchange,
			     const struct fake_request *request)
{
	struct world *world = arg;
	bool part = strstr(request->headers, "Range: bytes=8388600-");
	char head[300];

	snprintf(world->seen, sizeof(world->seen), "%s %s", request->path,
		 request->headers);
	if (world->silent)
		return;
	snprintf(head, sizeof(head),
		 "HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n",
		 part ? "206 Part" : "200 OK", part ? 8 : BIG,
		 part ? "Content-Range: bytes 8388600-8388607/8388608\r\n"
		      : "");
	fake_raw(exchange, head, strlen(head));
	fake_raw(exchange, part ? world->big + BIG - 8 : world->big,
		 part ? 8 : BIG);
}

/* The engine: a list of images, and names that go. */

static void engine_script(void *arg, struct fake_exchange *exchange,
			  const struct fake_request *request)
{
	struct world *world = arg;
	const char *path = fake_path(request);
	char text[1200];

	if (fake_version(exchange, request))
		return;
	if (!strcmp(request->method, "DELETE")) {
		snprintf(world->removed, sizeof(world->removed), "%s", path);
		snprintf(world->names, sizeof(world->names), "null");
		fake_answer(exchange, 200, "[]");
		return;
	}
	world->lists++;
	if (world->holds) {
		world->held = exchange;
		return;
	}
	snprintf(text, sizeof(text), "[{\"Id\":\"x\",\"RepoDigests\":%s}]",
		 world->names);
	fake_answer(exchange, 200, text);
}

static void open_world(struct world *world)
{
	const struct repository_way way = { .plain = true };
	struct reference reference;
	struct error err = { 0 };
	char name[96];

	memset(world, 0, sizeof(*world));
	if (sd_event_new(&world->loop) < 0 || !(world->big = malloc(BIG)))
		exit(1);
	randombytes_buf(world->big, BIG);
	snprintf(world->names, sizeof(world->names), "null");
	snprintf(world->socket, sizeof(world->socket), "/tmp/relay-test-%d",
		 getpid());
	world->engine = fake_engine_new(world->loop, world->socket,
					engine_script, world);
	world->registry = fake_server_new(world->loop, &world->port,
					  registry_script, world);
	world->elsewhere = fake_server_new(world->loop, &world->other_port,
					   elsewhere_script, world);
	snprintf(name, sizeof(name), "unix://%s", world->socket);
	world->client = engine_new(world->loop, name, NULL, &err);
	snprintf(name, sizeof(name), "127.0.0.1:%u/a/b", world->port);
	if (!world->client || reference_parse(name, &reference, &err) < 0)
		exit(1);
	world->repository =
		repository_open(world->loop, &reference, &way, &err);
	world->relays = relays_new(world->loop, world->client, OWNER, &err);
	if (!world->repository || !world->relays)
		exit(1);
}

static void open_relay(struct world *world, uint64_t rate)
{
	struct error err;
	char base[64];

	world->relay = relay_new(world->relays, world->repository, rate, &err);
	if (!world->relay)
		exit(1);
	snprintf(base, sizeof(base), "http://%.*s",
		 (int)strcspn(relay_name(world->relay), "/"),
		 relay_name(world->relay));
	world->http = http_new_web(world->loop, base, NULL, true, &err);
	if (!world->http)
		exit(1);
}

static void close_relay(struct world *world)
{
	http_free(world->http);
	relay_free(world->relay);
	world->http = NULL;
	world->relay = NULL;
}

static void close_world(struct world *world)
{
	close_relay(world);
	relays_free(world->relays);
	repository_close(world->repository);
	engine_free(world->client);
	fake_engine_free(world->engine);
	fake_engine_free(world->registry);
	fake_engine_free(world->elsewhere);
	free(world->big);
	sd_event_unref(world->loop);
}

/* Asking the relay as an engine does. */

struct got {
	struct buffer body;
	struct error err;
	int status;
	char type[64], range[64];
	bool done;
};

static int on_data(void *arg, const void *data, size_t size, struct error *err)
{
	struct got *got = arg;

	return buffer_append(&got->body, data, size, err);
}

static void on_done(void *arg, const struct error *err,
		    const struct http_answer *answer)
{
	struct got *got = arg;

	got->done = true;
	if (err) {
		got->err = *err;
		return;
	}
	got->status = answer->status;
	http_header(answer, "Content-Type", got->type, sizeof(got->type));
	http_header(answer, "Content-Range", got->range, sizeof(got->range));
}

static struct http_call *begin(struct world *world, struct got *got,
			       const char *method, const char *path,
			       const char *header)
{
	owned(strings_clear) struct strings headers = { 0 };
	struct http_request request = {
		.method = method,
		.path = path,
		.headers = &headers,
		.data = on_data,
		.data_arg = got,
		.done = on_done,
		.arg = got,
	};

	buffer_clear(&got->body);
	*got = (struct got){ 0 };
	buffer_init(&got->body, 2UL * BIG);
	if (header)
		strings_add(&headers, header, NULL);
	return http_send(world->http, &request, NULL);
}

static void finish(struct world *world, struct got *got)
{
	while (!got->done)
		sd_event_run(world->loop, UINT64_MAX);
}

static const char *below(const struct world *world, const char *what)
{
	static char path[400];

	snprintf(path, sizeof(path), "/v2%s/%s",
		 strchr(relay_name(world->relay), '/'), what);
	return path;
}

static void get(struct world *world, struct got *got, const char *path,
		const char *header)
{
	begin(world, got, "GET", path, header);
	finish(world, got);
}

static bool is_big(const struct world *world, const struct got *got)
{
	return got->status == 200 && got->body.size == BIG &&
	       !memcmp(got->body.data, world->big, BIG);
}

static int connect_to(struct world *world)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_port = htons(
		(uint16_t)strtoul(strchr(relay_name(world->relay), ':') + 1,
				  NULL, 10));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		exit(1);
	return fd;
}

/* Some engines ask for the head of a manifest first. */
static void head_only(struct world *world)
{
	int fd = connect_to(world);
	char text[2048] = "", length[64];
	size_t used = 0;
	ssize_t got = 1;

	dprintf(fd, "HEAD %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		below(world, "manifests/" BLOB));
	while (got && used < sizeof(text) - 1) {
		sd_event_run(world->loop, 10000);
		got = recv(fd, text + used, sizeof(text) - 1 - used,
			   MSG_DONTWAIT);
		used += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	text[used] = 0;
	snprintf(length, sizeof(length), "Content-Length: %zu\r\n",
		 strlen(MANIFEST));
	ok(!strncmp(text, "HTTP/1.1 200 ", 13) && strstr(text, length) &&
		   used > 4 && !strcmp(text + used - 4, "\r\n\r\n"),
	   "the head of a manifest comes alone, when it is asked for");
}

static void passing_on(struct world *world)
{
	struct got got = { 0 };

	open_relay(world, 0);
	get(world, &got, "/v2/", NULL);
	is_int(got.status, 200, "it says that it is a registry");
	get(world, &got, below(world, "manifests/" BLOB), NULL);
	is(got.body.data, MANIFEST, "a manifest is passed on");
	is(got.type, "application/x-manifest", "with its type");
	is_int(world->tokens, 1, "a token was fetched for it");
	get(world, &got, below(world, "blobs/" BLOB), NULL);
	ok(is_big(world, &got), "so is a blob, from elsewhere: %d %s",
	   got.status, got.err.text);
	ok(!strncmp(world->seen, "/big?x=1 ", 9) &&
		   !strcasestr(world->seen, "authorization"),
	   "where nobody is told who we are");
	get(world, &got, below(world, "blobs/" BLOB), "Range: bytes=8388600-");
	ok(got.status == 206 && got.body.size == 8 &&
		   !memcmp(got.body.data, world->big + BIG - 8, 8),
	   "a part of it, too");
	is(got.range, "bytes 8388600-8388607/8388608", "named as such");
	world->valid = 77;
	get(world, &got, below(world, "blobs/" BLOB), NULL);
	ok(is_big(world, &got) && world->tokens == 2,
	   "a token that is too old is replaced");
	head_only(world);
	buffer_clear(&got.body);
	close_relay(world);
}

static void refusals(struct world *world)
{
	static const char *const bad[] = {
		"blobs/latest",        "manifests/latest",
		"blobs/" BLOB "/x",    "blobs/../manifests/" BLOB,
		"tags/list",           "blobs/sha256:..",
		"blobs/uploads/" BLOB, "blobs/" BLOB "%2fx",
		"%2e%2e/blobs/" BLOB,  "blobs/" BLOB "%0d%0aX:%20y",
	};
	struct got got = { 0 };
	char guess[400], *digit;
	int before;

	open_relay(world, 0);
	before = fake_engine_requests(world->registry);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		get(world, &got, below(world, bad[i]), NULL);
		is_int(got.status, 404, "%s is not there", bad[i]);
	}
	snprintf(guess, sizeof(guess), "%s", below(world, "blobs/" BLOB));
	digit = strstr(guess, "/blobs/") - 1;
	*digit = *digit == '0' ? '1' : '0';
	get(world, &got, guess, NULL);
	is_int(got.status, 404, "nor anything for who guesses the name");
	get(world, &got, "/v2/a/b/blobs/" BLOB, NULL);
	is_int(got.status, 404, "nor is anything by the registry's name");
	get(world, &got, "/", NULL);
	is_int(got.status, 404, "nor a page");
	begin(world, &got, "DELETE", below(world, "manifests/" BLOB), NULL);
	finish(world, &got);
	is_int(got.status, 405, "nothing can be changed");
	get(world, &got, below(world, "blobs/" BLOB), "Range: lines=1-2");
	is_int(got.status, 400, "a range of something else is refused");
	is_int(fake_engine_requests(world->registry), before,
	       "the registry hears nothing of all that");
	get(world, &got, below(world, "blobs/" BLOB "?digest=x/../.."), NULL);
	ok(is_big(world, &got) && !strncmp(world->seen, "/big?x=1 ", 9),
	   "nor of a question behind a name");
	buffer_clear(&got.body);
	close_relay(world);
}

static void failures(struct world *world)
{
	struct got got = { 0 };
	struct error err = { 0 };

	open_relay(world, 0);
	ok(relay_error(world->relay, &err) && strstr(err.text, "127.0.0.1"),
	   "an engine that never came: %s", err.text);
	get(world, &got, "/v2/", NULL);
	ok(!relay_error(world->relay, &err), "once it came, all is well");
	get(world, &got,
	    below(world, "blobs/sha256:ffffffffffffffffffffffffffffffff"
			 "ffffffffffffffffffffffffffffffff"),
	    NULL);
	is_int(got.status, 404, "what the registry has not, it has not");
	ok(relay_error(world->relay, &err) && err.code == ENOENT,
	   "the registry's word is kept: %s", err.text);
	fake_engine_free(take(world->elsewhere));
	get(world, &got, below(world, "blobs/" BLOB), NULL);
	is_int(got.status, 502, "who cannot be reached, cannot");
	ok(relay_error(world->relay, &err) && err.code == ECONNREFUSED,
	   "with the reason: %s", err.text);
	relay_forget(world->relay);
	error_set(&err, ETIMEDOUT, "engine: no byte");
	ok(!relay_error(world->relay, &err),
	   "which is no reason for what fails later");
	buffer_clear(&got.body);
	close_relay(world);
	world->elsewhere = fake_server_new(world->loop, &world->other_port,
					   elsewhere_script, world);
}

/* Docker's words for a registry that is gone, cut at each place. */
static void hidden(struct world *world)
{
	struct error err, cut;
	const char *secret;
	bool seen = false;

	open_relay(world, 0);
	secret = strrchr(relay_name(world->relay), '/') + 1;
	error_set(&err, EIO,
		  "engine: Get \"http://%.*s/v2%s/manifests/x\": EOF",
		  (int)strcspn(relay_name(world->relay), "/"),
		  relay_name(world->relay),
		  strchr(relay_name(world->relay), '/'));
	for (size_t end = strlen(err.text); end > 60; end--) {
		cut = err;
		cut.text[end] = 0;
		relay_hide(&cut);
		for (size_t i = 0; secret[i + 4]; i++) {
			char part[5];

			snprintf(part, sizeof(part), "%.4s", secret + i);
			seen |= strstr(cut.text, part) != NULL;
		}
	}
	relay_hide(&err);
	ok(!seen && strstr(err.text, "manifests/x\": EOF"),
	   "no part of a name is told: %s", err.text);
	close_relay(world);
}

static void silence(struct world *world)
{
	struct got got = { 0 };
	struct error err;

	open_relay(world, 0);
	world->silent = true;
	*world->seen = 0;
	begin(world, &got, "GET", below(world, "blobs/" BLOB), NULL);
	while (!*world->seen)
		sd_event_run(world->loop, UINT64_MAX);
	error_set(&err, EIO, "engine: something else");
	ok(!relay_error(world->relay, &err),
	   "an engine that fails while bytes are to come says why itself");
	error_set(&err, ETIMEDOUT, "engine: no byte");
	ok(relay_error(world->relay, &err) &&
		   !strncmp(err.text, "registry 127.0.0.1:", 19),
	   "one that waits in vain waits for the registry: %s", err.text);
	world->silent = false;
	close_relay(world);
}

/* Who only knows the port, as any program here can. */
static void strangers(struct world *world)
{
	int fds[STRANGERS];
	struct got got = { 0 };

	open_relay(world, 0);
	for (int i = 0; i < STRANGERS; i++) {
		fds[i] = connect_to(world);
		dprintf(fds[i], "GET /v2/ HT");
	}
	get(world, &got, below(world, "blobs/" BLOB), NULL);
	ok(is_big(world, &got), "%d who only hold a line are in nobody's way",
	   STRANGERS);
	for (int i = 0; i < STRANGERS; i++)
		close(fds[i]);
	buffer_clear(&got.body);
	close_relay(world);
}

static int64_t timed(struct world *world, struct got *got)
{
	int64_t began = clock_mono_ms();

	get(world, got, below(world, "blobs/" BLOB), NULL);
	return clock_mono_ms() - began;
}

static int lift(sd_event_source *source, uint64_t usec, void *arg)
{
	struct world *world = arg;

	relay_rate(world->relay, 0);
	return 0;
}

/* Lower bounds of time only: a slow machine makes none of them fail. */
static void rates(struct world *world)
{
	sd_event_source *timer = NULL;
	struct got got = { 0 }, other = { 0 };
	int64_t ms, began;

	open_relay(world, 16 << 20);
	ms = timed(world, &got);
	ok(is_big(world, &got) && ms >= 350,
	   "8 MiB at 16 MiB/s take half a second or more: %lld ms",
	   (long long)ms);
	began = clock_mono_ms();
	begin(world, &other, "GET", below(world, "blobs/" BLOB), NULL);
	get(world, &got, below(world, "blobs/" BLOB), NULL);
	finish(world, &other);
	ms = clock_mono_ms() - began;
	ok(is_big(world, &got) && is_big(world, &other) && ms >= 850,
	   "two at once share the rate: %lld ms", (long long)ms);
	relay_rate(world->relay, 1 << 10); /* some two hours */
	loop_timer(world->loop, &timer, 100, lift, world, NULL);
	ms = timed(world, &got);
	ok(is_big(world, &got) && ms >= 100,
	   "a bound that is lifted holds no longer: %lld ms", (long long)ms);
	loop_source_free(&timer);
	relay_rate(world->relay, 1 << 20);
	http_cancel(
		begin(world, &got, "GET", below(world, "blobs/" BLOB), NULL));
	begin(world, &got, "GET", below(world, "blobs/" BLOB), NULL);
	while (!got.body.size)
		sd_event_run(world->loop, UINT64_MAX);
	close_relay(world);
	ok(!got.done, "one that is closed in the middle says nothing more");
	buffer_clear(&got.body);
	buffer_clear(&other.body);
}

/* Names. */

static void until_removed(struct world *world)
{
	int lists = world->lists;

	while (!*world->removed || world->lists == lists)
		sd_event_run(world->loop, UINT64_MAX);
}

static void names(struct world *world)
{
	char ours[300];
	int64_t began;

	snprintf(ours, sizeof(ours),
		 "127.0.0.1:5/regatta-relay/" OWNER "/abc@" BLOB);
	snprintf(world->names, sizeof(world->names),
		 "[\"a/b@" BLOB "\",\"127.0.0.1:5/regatta-relay/"
		 "ffff/abc@" BLOB "\",\"%s\"]",
		 ours);
	open_relay(world, 0);
	close_relay(world);
	*world->removed = 0;
	until_removed(world);
	ok(strstr(world->removed, OWNER "/abc@" BLOB) ||
		   strstr(world->removed, OWNER "%2Fabc%40"),
	   "a name that a relay left is taken away: %s", world->removed);
	is(world->names, "null", "and no other one");
	/* Another relay ends while the engine thinks about the last list. */
	world->holds = true;
	open_relay(world, 0);
	close_relay(world);
	while (!world->held)
		sd_event_run(world->loop, UINT64_MAX);
	open_relay(world, 0);
	close_relay(world);
	began = clock_mono_ms();
	while (clock_mono_ms() - began < 3000)
		sd_event_run(world->loop, 100000);
	world->holds = false;
	fake_answer(take(world->held), 200, "[]");
	snprintf(world->names, sizeof(world->names), "[\"%s\"]", ours);
	*world->removed = 0;
	until_removed(world);
	ok(*world->removed, "one that was not in a late list goes, too");
}

int main(void)
{
	struct world world;

	signal(SIGPIPE, SIG_IGN);
	tap_begin(120);
	open_world(&world);
	passing_on(&world);
	refusals(&world);
	failures(&world);
	hidden(&world);
	silence(&world);
	strangers(&world);
	rates(&world);
	names(&world);
	close_world(&world);
	return tap_done();
}
