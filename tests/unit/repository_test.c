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
	/* What it saw. */
	int token_requests;
	bool told_to_tokens;   /* name and password, there */
	bool told_to_registry; /* here */
	char asked[300];       /* the path of the token */
	/* What came of it. */
	int done;
	struct error err;
	int got;
};

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
		fake_answer(exchange, world->status, world->token);
		return;
	}
	world->told_to_registry |= strstr(request->headers, BASIC) != NULL;
	if (strstr(request->headers, "Authorization: Bearer good\r\n") ||
	    (!world->status && strstr(request->headers, BASIC))) {
		fake_answer(exchange, world->answer, "{}");
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
	world->answer = 429;
	is_int(ask(world), 429, "what the registry says then is its answer");
	world->answer = 200;
	world->status = 0;
	world->challenge = "Basic realm=\"x\"";
	ok(ask(world) == 200 && world->told_to_registry,
	   "one that wants the password itself gets it");
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
	fake_engine_free(world.registry);
	sd_event_unref(world.loop);
	return tap_done();
}
