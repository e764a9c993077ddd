/* repository_test.c - who a registry lets in, and what it may not do with us.
 */
#include "agent/registry/repository.h"
#include "tests/tap.h"
#include "tests/unit/fake_engine.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define BASIC "Authorization: Basic bWU6c2VjcmV0\r\n" /* me:secret */

struct world {
	sd_event *loop;
	struct fake_engine *registry;
	unsigned int port;
	struct reference reference;
	/* What the registry does. */
	int status;            /* of those who give out tokens; 0: none do */
	const char *token;     /* their answer */
	const char *challenge; /* format with the port */
	int answer;            /* of the manifest, once we are let in */
	const char *more;      /* a line of its head; NULL: none */
	/* What it saw. */
	int token_requests;
	bool told_to_tokens;   /* name and password, there */
	bool told_to_registry; /* here */
	char asked[300];       /* the path of the token */
	char there[300];       /* head of what was asked where it sent us */
	/* What came of it. */
	int done;
	struct error err;
	int got;
	uint64_t wait_ms;
};

static void answer_with(struct fake_exchange *exchange, int status,
			const char *line)
{
	char text[6000];

	snprintf(text, sizeof(text),
		 "HTTP/1.1 %d Word\r\n%s%sContent-Length: 2\r\n\r\n{}", status,
		 line ? line : "", line ? "\r\n" : "");
	fake_raw(exchange, text, strlen(text));
}

static void script(void *arg, struct fake_exchange *exchange,
		   const struct fake_request *request)
{
	struct world *world = arg;
	char realm[400], text[700];

	if (!strncmp(request->path, "/token", 6)) {
		world->token_requests++;
		world->told_to_tokens = strstr(request->headers, BASIC);
		snprintf(world->asked, sizeof(world->asked), "%s",
			 request->path);
		if (world->status == 429)
			answer_with(exchange, 429, "Retry-After: 20");
		else
			fake_answer(exchange, world->status, world->token);
		return;
	}
	if (strstr(request->path, "/there")) {
		snprintf(world->there, sizeof(world->there), "%s\r\n%s",
			 request->path, request->headers);
		fake_answer(exchange, 200, "{}");
		return;
	}
	world->told_to_registry |= strstr(request->headers, BASIC) != NULL;
	if (strstr(request->headers, "Authorization: Bearer good\r\n") ||
	    (!world->status && strstr(request->headers, BASIC))) {
		answer_with(exchange, world->answer, world->more);
		return;
	}
	snprintf(realm, sizeof(realm), world->challenge, world->port);
	snprintf(text, sizeof(text),
		 "HTTP/1.1 401 Who\r\nWWW-Authenticate: %s\r\n"
		 "Content-Length: 2\r\n\r\n{}",
		 realm);
	fake_raw(exchange, text, strlen(text));
}

static void on_done(void *arg, const struct error *err,
		    const struct http_answer *answer)
{
	struct world *world = arg;

	world->done++;
	if (err)
		world->err = *err;
	else
		world->got = answer->status;
}

/* Ask it for a manifest: the status, or -1 with an error. */
static int ask(struct world *world)
{
	const struct credential who = { .username = (char *)"me",
					.password = (char *)"secret" };
	const struct repository_way way = { .credential = &who, .plain = true };
	owned(repository_close) struct repository *repository =
		repository_open(world->loop, &world->reference, &way, NULL);
	const struct repository_request request = {
		.path = "manifests/1",
		.timeout_ms = 5000,
		.done = on_done,
		.arg = world,
	};

	world->done = world->got = world->token_requests = 0;
	world->told_to_tokens = world->told_to_registry = false;
	world->err = (struct error){ 0 };
	repository_ask(repository, &request, NULL);
	while (!world->done)
		sd_event_run(world->loop, UINT64_MAX);
	world->wait_ms = repository_wait_ms(repository);
	return world->err.code ? -1 : world->got;
}

static void let_in(struct world *world)
{
	is_int(ask(world), 200, "who has a token is let in");
	ok(world->told_to_tokens && !world->told_to_registry,
	   "the password goes to who gives out tokens, to nobody else");
	is(world->asked,
	   "/token?x=1&service=a%20b&scope=repository%3Ame%2Fx%3Apull",
	   "who is told what it is for");
	world->token = "{\"access_token\":\"good\"}";
	is_int(ask(world), 200, "a token by its other name will do");
	world->status = 201;
	is_int(ask(world), 200, "so will one that was made");
	world->status = 200;
	world->answer = 429;
	is_int(ask(world), 429, "what the registry says then is its answer");
	world->answer = 200;
	world->status = 0;
	world->challenge = "Basic realm=\"x\"";
	ok(ask(world) == 200 && world->told_to_registry,
	   "one that wants the password itself gets it");
	world->challenge = "Digest realm=\"x\"";
	ok(ask(world) == 401 && !world->told_to_registry,
	   "but not one that wants something made of it");
}

static void kept_out(struct world *world)
{
	static const struct {
		const char *token, *challenge;
		int code;
	} cases[] = {
		{ "{}", NULL, EPROTO },
		{ "no JSON", NULL, EPROTO },
		{ "{\"token\":7}", NULL, EPROTO },
		{ "{\"token\":\"a\\r\\nX: y\"}", NULL, EPROTO },
		{ "{}", "Bearer service=\"s\"", EACCES },
		{ "{}", "Bearer realm=\"ftp://127.0.0.1:%u/token\"", EACCES },
		{ "{}", "Bearer realm=\"http://u@127.0.0.1:%u/token\"",
		  EACCES },
	};
	const char *challenge =
		"Bearer realm=\"http://127.0.0.1:%u/token?x=1\","
		"service=\"a b\"";

	world->status = 200;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		world->token = cases[i].token;
		world->challenge =
			cases[i].challenge ? cases[i].challenge : challenge;
		ok(ask(world) < 0 && world->err.code == cases[i].code,
		   "no token of \"%.40s\": %s",
		   cases[i].challenge ? cases[i].challenge : cases[i].token,
		   world->err.text);
	}
	world->challenge = challenge;
	world->status = 401;
	is_int(ask(world), 401, "a wrong password is told as such");
	world->status = 500;
	is_int(ask(world), 500, "and that those with the tokens are ill");
	world->status = 200;
	world->token = "{\"token\":\"bad\"}";
	is_int(ask(world), 401, "who is asked again and again gives up");
	ok(world->token_requests >= 1 && world->token_requests < 9,
	   "soon: after %d tokens", world->token_requests);
}

/* A place of its own, and one beside its API, as a store with signed URLs. */
static void sent_on(struct world *world)
{
	char line[200], longest[5000];

	world->status = 200;
	world->token = "{\"token\":\"good\"}";
	world->answer = 307;
	world->more = "Location: /v2/me/there";
	is_int(ask(world), 200, "it may send us to another path of its own");
	ok(strstr(world->there, "Bearer good"), "where it knows us still");
	snprintf(line, sizeof(line),
		 "Location: http://127.0.0.1:%u/v2/me/there?x=1", world->port);
	world->more = line;
	ok(ask(world) == 200 && strstr(world->there, "Bearer good") &&
		   !strncmp(world->there, "/v2/me/there?x=1\r", 17),
	   "also by its whole name");
	world->more = "Location: /store/there?signed=1";
	ok(ask(world) == 200 && !strcasestr(world->there, "authorization"),
	   "but what is none of its API is told nothing");
	snprintf(line, sizeof(line), "Location: http://localhost:%u/v2/there",
		 world->port);
	world->more = line;
	ok(ask(world) == 200 && !strcasestr(world->there, "authorization"),
	   "nor is anybody with another name");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	memcpy(longest, "Location: /there?", 17);
	world->more = longest;
	ok(ask(world) < 0 && world->err.code == EPROTO,
	   "a name that is cut is none: %s", world->err.text);
	world->more = "Location: //127.0.0.1/there";
	ok(ask(world) < 0 && world->err.code == EPROTO,
	   "half a name is no place: %s", world->err.text);
	world->more = "Location: /v2/me/x/manifests/1";
	ok(ask(world) < 0 && world->err.code == EPROTO, "nor is a circle: %s",
	   world->err.text);
}

static void asked_to_wait(struct world *world)
{
	world->answer = 429;
	world->more = "Retry-After: 10";
	ok(ask(world) == 429 && world->wait_ms > 1 && world->wait_ms <= 10000,
	   "how long it wants us to wait is known");
	world->answer = 503;
	world->more = "Retry-After: 100000";
	ok(ask(world) == 503 && world->wait_ms > 800000 &&
		   world->wait_ms <= 900000,
	   "but nobody waits longer than a quarter of an hour");
	world->answer = 404;
	ok(ask(world) == 404 && !world->wait_ms, "nor for what is not there");
	world->answer = 429;
	world->more = "Retry-After: later";
	ok(ask(world) == 429 && !world->wait_ms, "nor for a word");
	world->more = NULL;
	world->status = 429;
	ok(ask(world) == 429 && world->wait_ms > 10000,
	   "those who give out tokens may have it, too");
}

int main(void)
{
	struct world world = {
		.status = 200,
		.token = "{\"token\":\"good\"}",
		.challenge = "Bearer realm=\"http://127.0.0.1:%u/token?x=1\","
			     "service=\"a b\"",
		.answer = 200,
	};
	char name[100];

	tap_begin(40);
	signal(SIGPIPE, SIG_IGN);
	sd_event_new(&world.loop);
	world.registry =
		fake_server_new(world.loop, &world.port, script, &world);
	snprintf(name, sizeof(name), "127.0.0.1:%u/me/x:1", world.port);
	reference_parse(name, &world.reference, NULL);
	let_in(&world);
	kept_out(&world);
	sent_on(&world);
	asked_to_wait(&world);
	fake_engine_free(world.registry);
	sd_event_unref(world.loop);
	return tap_done();
}
