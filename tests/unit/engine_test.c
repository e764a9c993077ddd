/* engine_test.c - the Engine API client against a scripted engine.
 */
#include "agent/docker/engine.h"

#include "agent/docker/json_stream.h"
#include "tests/tap.h"
#include "tests/unit/fake_engine.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define ID "4bcd"

#define PODMAN_PING                                                            \
	"HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nLibpod-Api-Version: 4.3.1"    \
	"\r\nContent-Length: 2\r\n\r\nOK"

struct world {
	sd_event *loop;
	char folder[64];
	char socket[96];
	char host[112];
	struct fake_engine *fake;
	struct engine *engine;
	/* what the scripted engine does next */
	int status;
	const char *text;
	const char *version; /* its answer to /version; NULL: 1.41 */
	int no_version;      /* the status it has instead */
	bool podman;         /* it says so in its answer to /_ping */
	bool silent;
	const char *const *chunks; /* a stream of these, NULL ends */
	bool cut;                  /* closes instead of ending it */
	bool open;                 /* neither */
	/* what it saw */
	int versions;
	char seen[2000]; /* "METHOD path body" of the last request */
	size_t body;     /* and the size of its body */
	bool gone;
};

struct outcome {
	struct world *world;
	struct engine_call *call;
	struct engine_call *victim; /* to cancel in done() */
	int done;
	int objects;
	bool cancel_inside;
	bool free_inside;
	struct error err;
	char *answer;
	char text[200]; /* of the objects: "id" values, joined */
};

static void on_gone(void *arg)
{
	struct world *world = arg;

	world->gone = true;
}

static void script(void *arg, struct fake_exchange *exchange,
		   const struct fake_request *request)
{
	struct world *world = arg;

	fake_on_gone(exchange, on_gone, world);
	if (!strcmp(request->path, "/_ping") && !world->silent) {
		if (world->podman)
			fake_raw(exchange, PODMAN_PING, strlen(PODMAN_PING));
		else
			fake_version(exchange, request);
		return;
	}
	if (!strcmp(request->path, "/version")) {
		world->versions++;
		if (world->silent)
			return;
		if (world->no_version)
			fake_answer(exchange, world->no_version,
				    "speak TLS to me\n");
		else if (world->version)
			fake_answer(exchange, 200, world->version);
		else
			fake_version(exchange, request);
		return;
	}
	snprintf(world->seen, sizeof(world->seen), "%s %s %.*s",
		 request->method, request->path,
		 request->size < 1000 ? (int)request->size : 0, request->body);
	world->body = request->size;
	if (world->silent)
		return;
	if (!world->chunks) {
		fake_answer(exchange, world->status, world->text);
		return;
	}
	fake_begin(exchange, 200);
	for (size_t i = 0; world->chunks[i]; i++)
		fake_chunk(exchange, world->chunks[i]);
	if (world->cut)
		fake_close(exchange);
	else if (!world->open)
		fake_end(exchange);
}

static void done(void *arg, const struct error *err, cJSON *answer)
{
	struct outcome *outcome = arg;

	outcome->done++;
	outcome->call = NULL;
	if (err)
		outcome->err = *err;
	if (answer)
		outcome->answer = cJSON_PrintUnformatted(answer);
	if (outcome->victim)
		engine_call_cancel(outcome->victim);
}

static void object(void *arg, const cJSON *item)
{
	struct outcome *outcome = arg;
	const char *id = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(item, "id"));
	size_t used = strlen(outcome->text);

	outcome->objects++;
	snprintf(outcome->text + used, sizeof(outcome->text) - used, "%s,",
		 id ? id : "?");
	if (outcome->cancel_inside)
		engine_call_cancel(outcome->call);
	if (outcome->free_inside)
		engine_free(outcome->world->engine);
}

static void reset(struct outcome *outcome)
{
	free(outcome->answer);
	*outcome = (struct outcome){ 0 };
}

static void wait_done(struct world *world, struct outcome *outcome)
{
	if (!outcome->call) {
		printf("Bail out! %s\n", outcome->err.text);
		exit(1);
	}
	while (!outcome->done)
		sd_event_run(world->loop, UINT64_MAX);
}

static void answer_with(struct world *world, int status, const char *text)
{
	world->status = status;
	world->text = text;
	world->chunks = NULL;
	world->silent = world->open = world->cut = world->gone = false;
}

static void inspect(struct world *world, struct outcome *outcome)
{
	reset(outcome);
	outcome->call = engine_container_inspect(world->engine, ID, 5000, done,
						 outcome, &outcome->err);
	wait_done(world, outcome);
}

static void open_world(struct world *world)
{
	struct error err;

	*world = (struct world){ .status = 200, .text = "{}" };
	snprintf(world->folder, sizeof(world->folder),
		 "/tmp/engine-test-XXXXXX");
	if (!mkdtemp(world->folder) || sd_event_new(&world->loop) < 0)
		exit(1);
	snprintf(world->socket, sizeof(world->socket), "%s/s", world->folder);
	snprintf(world->host, sizeof(world->host), "unix://%s", world->socket);
	world->fake =
		fake_engine_new(world->loop, world->socket, script, world);
	world->engine = engine_new(world->loop, world->host, NULL, &err);
	if (!world->engine)
		exit(1);
}

static void close_world(struct world *world)
{
	engine_free(world->engine);
	fake_engine_free(world->fake);
	rmdir(world->folder);
	sd_event_unref(world->loop);
}

static void fresh_engine(struct world *world)
{
	engine_free(world->engine);
	world->engine = engine_new(world->loop, world->host, NULL, NULL);
}

/* The version is part of the last request's path. */
static void speaks(const struct world *world, const char *version,
		   const char *why)
{
	char begin[32];

	snprintf(begin, sizeof(begin), "GET /v%s/", version);
	ok(!strncmp(world->seen, begin, strlen(begin)),
	   "the requests are of version %s: %s", version, why);
}

static void versions(struct world *world)
{
	static const struct {
		const char *answer;
		const char *used; /* NULL: refused */
	} cases[] = {
		{ "{\"ApiVersion\":\"1.41\",\"MinAPIVersion\":\"1.12\"}",
		  "1.41" },
		{ "{\"ApiVersion\":\"1.40\"}", "1.40" },
		{ "{\"ApiVersion\":\"1.52\",\"MinAPIVersion\":\"1.24\"}",
		  "1.44" },
		{ "{\"ApiVersion\":\"1.52\",\"MinAPIVersion\":\"1.44\"}",
		  "1.44" },
		{ "{\"ApiVersion\":\"1.39\"}", NULL },
		{ "{\"ApiVersion\":\"2.0\"}", NULL },
		{ "{\"ApiVersion\":41}", NULL },
		{ "{\"ApiVersion\":\"1.99999999999999999999\"}", NULL },
		{ "{}", NULL },
		{ "[", NULL },
		{ "", NULL },
	};
	struct outcome outcome = { 0 };

	answer_with(world, 200, "{}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fresh_engine(world);
		world->version = cases[i].answer;
		inspect(world, &outcome);
		if (cases[i].used)
			speaks(world, cases[i].used, cases[i].answer);
		else
			ok(outcome.err.code == EPROTO, "%s is refused: %s",
			   cases[i].answer, outcome.err.text);
	}
	world->version = NULL;
	world->no_version = 400;
	fresh_engine(world);
	inspect(world, &outcome);
	ok(outcome.err.code == EINVAL &&
		   strstr(outcome.err.text, "speak TLS to me"),
	   "what answers otherwise is quoted: %s", outcome.err.text);
	world->no_version = 404;
	inspect(world, &outcome);
	is_int(outcome.err.code, EPROTO,
	       "and never taken for a missing container: %s", outcome.err.text);
	world->no_version = 0;
	fresh_engine(world);
	reset(&outcome);
}

static void waiting_for_the_version(struct world *world)
{
	struct outcome first = { 0 }, second = { 0 }, third = { 0 };

	answer_with(world, 200, "[{\"Id\":\"x\"}]");
	world->versions = 0;
	first.call = engine_image_list(world->engine, 5000, done, &first,
				       &first.err);
	second.call = engine_image_list(world->engine, 5000, done, &second,
					&second.err);
	third.call = engine_image_list(world->engine, 5000, done, &third,
				       &third.err);
	engine_call_cancel(third.call);
	ok(!first.done && !second.done, "nothing is done inside the call");
	wait_done(world, &first);
	wait_done(world, &second);
	is_int(world->versions, 1, "many calls ask for the version once");
	is(world->seen, "GET /v1.41/images/json ",
	   "and then go out in that version");
	is(first.answer, "[{\"Id\":\"x\"}]", "with their answers");
	is_int(third.done, 0, "one that is cancelled meanwhile stays silent");

	fresh_engine(world);
	world->versions = 0;
	reset(&first);
	reset(&second);
	first.call =
		engine_version(world->engine, 5000, done, &first, &first.err);
	second.call =
		engine_info(world->engine, 5000, done, &second, &second.err);
	wait_done(world, &first);
	wait_done(world, &second);
	ok(world->versions == 1 && strstr(first.answer, "ApiVersion"),
	   "who asks for the version meanwhile gets the same answer");
	reset(&first);
	first.call = engine_ping(world->engine, 5000, done, &first, &first.err);
	wait_done(world, &first);
	ok(!first.err.code && world->versions == 1,
	   "a ping is answered without a look at the version: %s",
	   first.err.text);

	fresh_engine(world);
	world->silent = true;
	reset(&first);
	first.call = engine_info(world->engine, 50, done, &first, &first.err);
	wait_done(world, &first);
	is_int(first.err.code, ETIMEDOUT,
	       "the wait counts against the call's own time: %s",
	       first.err.text);
	fresh_engine(world);
	reset(&first);
	reset(&second);
}

static void podman(struct world *world)
{
	struct outcome first = { 0 }, second = { 0 };

	fresh_engine(world);
	world->podman = true;
	world->versions = 0;
	answer_with(world, 200, "137\n");
	first.call =
		engine_version(world->engine, 5000, done, &first, &first.err);
	second.call = engine_container_wait(world->engine, ID, done, &second,
					    &second.err);
	wait_done(world, &first);
	wait_done(world, &second);
	reset(&first);
	first.call =
		engine_version(world->engine, 5000, done, &first, &first.err);
	wait_done(world, &first);
	is_int(world->versions, 0, "Podman is never asked for /version");
	is(first.answer,
	   "{\"Components\":[{\"Name\":\"Podman Engine\",\"Version\":"
	   "\"4.3.1\"}],\"Version\":\"4.3.1\",\"ApiVersion\":\"1.41\"}",
	   "which it tells in its answer to /_ping");
	is(world->seen, "POST /v1.41/libpod/containers/" ID "/wait ",
	   "and it is not made to wait as Docker does");
	is(second.answer, "137", "with a number as its answer");
	world->podman = false;
	fresh_engine(world);
	reset(&first);
	reset(&second);
}

static void wait_codes(void)
{
	static const struct {
		const char *answer;
		int code;
	} cases[] = {
		{ "{\"StatusCode\":3}", 3 },
		{ "4", 4 },
		{ "{}", -1 },
		{ "\"4\"", -1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cJSON *answer = cJSON_Parse(cases[i].answer);

		is_int(engine_wait_code(answer), cases[i].code,
		       "the exit code of %s", cases[i].answer);
		cJSON_Delete(answer);
	}
	is_int(engine_wait_code(NULL), -1, "and of no answer");
}

static void engine_goes_away(struct world *world)
{
	struct outcome outcome = { 0 };

	answer_with(world, 200, "{}");
	inspect(world, &outcome);
	fake_engine_free(world->fake);
	inspect(world, &outcome);
	ok(outcome.err.code == ECONNREFUSED &&
		   strstr(outcome.err.text, "start Docker"),
	   "without an engine: %s", outcome.err.text);
	inspect(world, &outcome);
	is_int(outcome.err.code, ECONNREFUSED, "and so the second time");
	world->fake =
		fake_engine_new(world->loop, world->socket, script, world);
	world->version = "{\"ApiVersion\":\"1.42\"}";
	inspect(world, &outcome);
	ok(!outcome.err.code, "when it is back, calls work again");
	speaks(world, "1.42", "and its version is asked for again");
	answer_with(world, 400,
		    "{\"message\":\"client version 1.42 is too new. Maximum "
		    "supported API version is 1.41\"}");
	world->version = NULL;
	inspect(world, &outcome);
	answer_with(world, 200, "{}");
	inspect(world, &outcome);
	speaks(world, "1.41",
	       "an engine exchanged unseen is noticed by its complaint");
	reset(&outcome);
}

static void codes(struct world *world)
{
	static const struct {
		int status;
		int code;
		int created; /* the code when it is a create */
	} cases[] = {
		{ 400, EINVAL, EINVAL }, { 401, EACCES, EACCES },
		{ 403, EACCES, EACCES }, { 404, ENOENT, ENOENT },
		{ 406, EINVAL, EINVAL }, { 409, EBUSY, EEXIST },
		{ 500, EIO, EIO },       { 503, EIO, EIO },
		{ 302, EPROTO, EPROTO },
	};
	struct outcome outcome = { 0 };
	cJSON *body = cJSON_CreateObject();
	char text[3000];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		answer_with(world, cases[i].status,
			    "{\"message\":\"so it is\"}\n");
		inspect(world, &outcome);
		ok(outcome.err.code == cases[i].code &&
			   !strcmp(outcome.err.text, "engine: so it is"),
		   "status %d is %s", cases[i].status, strerror(cases[i].code));
		reset(&outcome);
		outcome.call = engine_container_create(world->engine, "name",
						       body, 5000, done,
						       &outcome, &outcome.err);
		wait_done(world, &outcome);
		is_int(outcome.err.code, cases[i].created,
		       "status %d of a create is %s", cases[i].status,
		       strerror(cases[i].created));
	}
	reset(&outcome);
	answer_with(world, 500,
		    "{\"cause\":\"that name is already in use\",\"message\":"
		    "\"the name is in use\",\"response\":500}");
	outcome.call =
		engine_container_create(world->engine, "name", body, 5000, done,
					&outcome, &outcome.err);
	wait_done(world, &outcome);
	is_int(outcome.err.code, EEXIST, "a name in use is, to Podman, a 500");
	reset(&outcome);
	inspect(world, &outcome);
	is_int(outcome.err.code, EIO, "only of a create");
	reset(&outcome);
	answer_with(world, 500, "<html>\noops");
	inspect(world, &outcome);
	is(outcome.err.text, "engine: <html>", "what is not JSON is quoted");
	answer_with(world, 500, NULL);
	inspect(world, &outcome);
	is(outcome.err.text, "engine: HTTP status 500 without a message",
	   "an error without a word has its number");
	memset(text, 'm', sizeof(text));
	text[sizeof(text) - 1] = 0;
	answer_with(world, 500, text);
	inspect(world, &outcome);
	is(outcome.err.text + strlen(outcome.err.text) - 5, "mm...",
	   "a long message is shortened");
	answer_with(world, 200, "{\"Id\":");
	inspect(world, &outcome);
	ok(outcome.err.code == EPROTO, "half an answer: %s", outcome.err.text);
	reset(&outcome);
	answer_with(world, 200, "{\"message\":\"later\"}");
	outcome.call = engine_image_list(world->engine, 5000, done, &outcome,
					 &outcome.err);
	wait_done(world, &outcome);
	ok(outcome.err.code == EPROTO, "no list is no empty one: %s",
	   outcome.err.text);
	cJSON_Delete(body);
	reset(&outcome);
}

#define SENT(want, call_)                                                      \
	do {                                                                   \
		struct outcome outcome = { 0 };                                \
		struct error *err = &outcome.err;                              \
		outcome.call = (call_);                                        \
		wait_done(world, &outcome);                                    \
		is(world->seen, want, "%.*s", (int)strcspn(#call_, "("),       \
		   #call_);                                                    \
		ok(!outcome.err.code, "  and its answer is good: %s",          \
		   outcome.err.text);                                          \
		reset(&outcome);                                               \
	} while (0)

static void requests(struct world *world)
{
	struct engine *engine = world->engine;
	cJSON *body = cJSON_Parse("{\"Image\":\"i\"}");
	char *items[] = { (char *)"a=1 2", (char *)"b" };
	struct strings labels = { .items = items, .count = 2 };

	answer_with(world, 200, "{}\n");
	SENT("GET /v1.41/version ",
	     engine_version(engine, 5000, done, &outcome, err));
	SENT("GET /info ", engine_info(engine, 5000, done, &outcome, err));
	SENT("POST /v1.41/containers/create?name=n {\"Image\":\"i\"}",
	     engine_container_create(engine, "n", body, 5000, done, &outcome,
				     err));
	SENT("GET /v1.41/containers/4bcd/json ",
	     engine_container_inspect(engine, ID, 5000, done, &outcome, err));
	SENT("POST /v1.41/containers/4bcd/wait?condition=not-running ",
	     engine_container_wait(engine, ID, done, &outcome, err));
	answer_with(world, 200, "[]\n");
	SENT("GET /v1.41/containers/json?all=1&filters="
	     "%7B%22label%22%3A%5B%22a%3D1%202%22%2C%22b%22%5D%7D ",
	     engine_container_list(engine, true, &labels, 5000, done, &outcome,
				   err));
	SENT("GET /v1.41/containers/json?all=0&filters=%7B%7D ",
	     engine_container_list(engine, false, NULL, 5000, done, &outcome,
				   err));
	answer_with(world, 200, "{}\n");
	SENT("GET /v1.41/images/h:5/a/b:t/json ",
	     engine_image_inspect(engine, "h:5/a/b:t", 5000, done, &outcome,
				  err));
	SENT("DELETE /v1.41/images/a?force=1 ",
	     engine_image_remove(engine, "a", true, 5000, done, &outcome, err));
	answer_with(world, 201, "\n"); /* as Podman does */
	SENT("POST /v1.41/images/a/tag?repo=b&tag=c ",
	     engine_image_tag(engine, "a", "b", "c", 5000, done, &outcome,
			      err));
	answer_with(world, 204, NULL);
	SENT("POST /v1.41/containers/4bcd/start ",
	     engine_container_start(engine, ID, 5000, done, &outcome, err));
	SENT("POST /v1.41/containers/4bcd/stop?t=7 ",
	     engine_container_stop(engine, ID, 7, 9000, done, &outcome, err));
	SENT("DELETE /v1.41/containers/4bcd?force=1&v=1 ",
	     engine_container_remove(engine, ID, 5000, done, &outcome, err));
	answer_with(world, 304, NULL);
	SENT("POST /v1.41/containers/4bcd/start ",
	     engine_container_start(engine, ID, 5000, done, &outcome, err));
	cJSON_Delete(body);
}

static void bad_names(struct world *world)
{
	static const char *const bad[] = { "",    "-a",  "a/b",     "../x",
					   "a b", "a?b", "\xc3\xa9" };
	struct error err;
	char longest[300];
	int before = fake_engine_requests(world->fake);

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!engine_container_start(world->engine, bad[i], 5000, done,
					   NULL, &err) &&
			   err.code == EINVAL,
		   "container \"%s\" is refused", bad[i]);
	memset(longest, 'x', sizeof(longest));
	longest[256] = 0;
	ok(!engine_container_start(world->engine, longest, 5000, done, NULL,
				   &err),
	   "256 bytes of name are too many");
	ok(!engine_image_pull(world->engine, "A", NULL, 0, object, done, NULL,
			      &err),
	   "a wrong reference is refused: %s", err.text);
	sd_event_run(world->loop, 0);
	is_int(fake_engine_requests(world->fake), before, "nothing was sent");
}

static void pull(struct world *world, struct outcome *outcome,
		 const char *const *chunks)
{
	reset(outcome);
	answer_with(world, 200, NULL);
	world->chunks = chunks;
	outcome->world = world;
	outcome->call = engine_image_pull(world->engine, "busybox", NULL, 1000,
					  object, done, outcome, &outcome->err);
}

static void streams(struct world *world)
{
	static const char *const pieces[] = {
		"{\"id\":\"a\"}\r\n{\"id\":",
		"\"b\"",
		"}",
		"\n\r\n",
		"{\"id\":\"c\"}",
		NULL,
	};
	static const char *const wrong[] = {
		"{\"id\":\"a\"}\n",
		"{\"errorDetail\":{\"message\":\"no space left\"},"
		"\"error\":\"short\"}\n{\"id\":\"b\"}\n",
		NULL,
	};
	static const char *const garbage[] = { "{\"id\":\"a\"}\nnonsense\n",
					       NULL };
	static const char *const list[] = { "[1]\n", NULL };
	static const char *const half[] = { "{\"id\":\"a\"}\n{\"id\"", NULL };
	struct outcome outcome = { 0 };

	pull(world, &outcome, pieces);
	wait_done(world, &outcome);
	ok(!outcome.err.code && !strcmp(outcome.text, "a,b,c,"),
	   "objects come one by one, however they were cut: %s", outcome.text);
	is(world->seen,
	   "POST /v1.41/images/create?fromImage=busybox&tag=latest ",
	   "a pull without tag asks for one image, not for all");
	pull(world, &outcome, wrong);
	wait_done(world, &outcome);
	is(outcome.err.text, "engine: no space left",
	   "an error in the stream is the call's");
	ok(outcome.err.code == EIO && outcome.objects == 1,
	   "nothing of the stream is shown after it");
	pull(world, &outcome, garbage);
	wait_done(world, &outcome);
	ok(outcome.err.code == EPROTO, "garbage: %s", outcome.err.text);
	pull(world, &outcome, list);
	wait_done(world, &outcome);
	ok(outcome.err.code == EPROTO, "no object: %s", outcome.err.text);
	pull(world, &outcome, half);
	wait_done(world, &outcome);
	ok(outcome.err.code == EPROTO, "half an object at the end: %s",
	   outcome.err.text);
	pull(world, &outcome, half);
	world->cut = true;
	wait_done(world, &outcome);
	ok(outcome.err.code == ECONNRESET && outcome.objects == 1,
	   "closed in mid-stream: %s", outcome.err.text);
	pull(world, &outcome, pieces);
	world->open = true;
	wait_done(world, &outcome);
	is_int(outcome.err.code, ETIMEDOUT, "silence in mid-stream: %s",
	       outcome.err.text);
	reset(&outcome);
}

static void long_line(struct world *world)
{
	struct outcome outcome = { 0 };
	char *line = malloc(JSON_STREAM_LINE_MAX + 2);
	const char *chunks[] = { line, NULL };

	memset(line, ' ', JSON_STREAM_LINE_MAX + 1);
	line[JSON_STREAM_LINE_MAX + 1] = 0;
	pull(world, &outcome, chunks);
	wait_done(world, &outcome);
	is_int(outcome.err.code, EPROTO, "a line without end: %s",
	       outcome.err.text);
	free(line);
	reset(&outcome);
}

static void inside_callbacks(struct world *world)
{
	static const char *const pieces[] = {
		"{\"id\":\"a\"}\n{\"id\":\"b\"}\n", "{\"id\":\"c\"}\n", NULL
	};
	static const char *const last[] = { "{\"id\":\"a\"}", NULL };
	struct outcome outcome = { 0 }, other = { 0 };

	for (int i = 0; i < 2; i++) {
		pull(world, &outcome, i ? last : pieces);
		outcome.cancel_inside = true;
		while (!outcome.objects || !world->gone)
			if (sd_event_run(world->loop, 100000) == 0 && i)
				break; /* the stream ended by itself */
		ok(outcome.objects == 1 && !outcome.done,
		   "a stream cancelled in its callback is silent");
	}
	for (int i = 0; i < 2; i++) {
		pull(world, &outcome, i ? last : pieces);
		outcome.free_inside = true;
		while (!outcome.objects)
			sd_event_run(world->loop, UINT64_MAX);
		world->engine =
			engine_new(world->loop, world->host, NULL, NULL);
		inspect(world, &other);
		ok(outcome.objects == 1 && !outcome.done,
		   "the engine can be freed in a stream's callback");
	}
	answer_with(world, 200, "{}");
	reset(&outcome);
	reset(&other);
	outcome.call = engine_info(world->engine, 5000, done, &outcome, NULL);
	other.call = engine_info(world->engine, 5000, done, &other, NULL);
	outcome.victim = other.call;
	wait_done(world, &outcome);
	inspect(world, &outcome);
	is_int(other.done, 0, "one call's end may cancel another call");
	reset(&outcome);
}

static void failing_together(struct world *world)
{
	struct outcome outcome = { 0 }, other = { 0 };

	fresh_engine(world);
	fake_engine_free(world->fake);
	outcome.call = engine_info(world->engine, 5000, done, &outcome, NULL);
	other.call = engine_info(world->engine, 5000, done, &other, NULL);
	outcome.victim = other.call;
	wait_done(world, &outcome);
	ok(outcome.err.code == ECONNREFUSED && !other.done,
	   "also when both are about to fail");
	world->fake =
		fake_engine_new(world->loop, world->socket, script, world);
	outcome.victim = NULL;
	inspect(world, &outcome);
	ok(!outcome.err.code && !other.done, "and nothing of it comes later");
	reset(&outcome);
}

struct transfer {
	struct outcome outcome;
	size_t bytes;
	size_t left;
};

static int data(void *arg, const void *bytes, size_t size, struct error *err)
{
	struct transfer *transfer = arg;

	transfer->bytes += size;
	return 0;
}

static ssize_t source(void *arg, void *buffer, size_t size, struct error *err)
{
	struct transfer *transfer = arg;

	size = size < transfer->left ? size : transfer->left;
	memset(buffer, 's', size);
	transfer->left -= size;
	return (ssize_t)size;
}

static void archives(struct world *world)
{
	static const char *const pieces[] = { "tar", "bytes", NULL };
	static const char *const build[] = { "{\"stream\":\"Step 1/1\"}\n",
					     NULL };
	struct transfer transfer = { 0 };
	struct outcome *outcome = &transfer.outcome;

	answer_with(world, 200, NULL);
	world->chunks = pieces;
	outcome->call = engine_image_save(world->engine, "x:1", 1000, data,
					  done, &transfer, NULL);
	wait_done(world, outcome);
	ok(transfer.bytes == 8 && !outcome->err.code,
	   "an image comes as bytes");
	reset(outcome);
	answer_with(world, 404, "{\"message\":\"no such image\"}");
	outcome->call = engine_image_save(world->engine, "y:1", 1000, data,
					  done, &transfer, NULL);
	wait_done(world, outcome);
	ok(outcome->err.code == ENOENT && transfer.bytes == 8,
	   "an error is no image");
	reset(outcome);
	answer_with(world, 200, NULL);
	transfer.left = 100000;
	world->chunks = build;
	outcome->call = engine_image_build(world->engine, "x:1", "a", "1", NULL,
					   &(struct engine_build_limits){
						   1 << 20, 1.5, "none" },
					   1000, source, &transfer, object,
					   done, outcome, NULL);
	wait_done(world, outcome);
	is(world->seen,
	   "POST /v1.41/build?t=x%3A1&rm=1&forcerm=1&labels="
	   "%7B%22a%22%3A%221%22%7D&memory=1048576&memswap=1048576"
	   "&cpuperiod=100000&cpuquota=150000&networkmode=none ",
	   "a build has its tag, label and limits");
	ok(world->body == 100000 && outcome->objects == 1 && !outcome->err.code,
	   "sends its context and shows its steps");
	reset(outcome);
}

static void is_of_ids(const char *words, bool told, const char *name)
{
	struct error err;

	engine_error(&err, EIO, words);
	ok(told ? err.code == ENOTSUP && strstr(err.text, "/etc/subuid")
		: err.code == EIO && strstr(err.text, words),
	   "%s", name);
}

/* An image with users that an engine without root has not. */
static void missing_ids(void)
{
	is_of_ids("writing blob: adding layer with blob \"sha256:3f4a\": Error "
		  "processing tar file(exit status 1): potentially "
		  "insufficient UIDs or GIDs available in user namespace "
		  "(requested 0:42 for /etc/shadow): Check /etc/subuid",
		  true, "Podman's words of missing ids");
	is_of_ids("failed to register layer: ApplyLayer exit status 1 stdout:  "
		  "stderr: lchown /etc/shadow: invalid argument",
		  true, "Docker's words of missing ids");
	is_of_ids("failed to register layer: lchown /etc/shadow: read-only "
		  "file "
		  "system",
		  false, "another failure of the same call");
	is_of_ids("invalid argument", false, "other words");
}

int main(void)
{
	struct world world;

	signal(SIGPIPE, SIG_IGN);
	tap_begin(60);
	open_world(&world);
	versions(&world);
	waiting_for_the_version(&world);
	podman(&world);
	wait_codes();
	engine_goes_away(&world);
	codes(&world);
	requests(&world);
	bad_names(&world);
	streams(&world);
	long_line(&world);
	inside_callbacks(&world);
	failing_together(&world);
	archives(&world);
	missing_ids();
	close_world(&world);
	return tap_done();
}
