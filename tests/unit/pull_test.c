/* pull_test.c - a pull: what the engine is asked, and what becomes of failures.
 */
#include "agent/images/pull.h"
#include "agent/images/registry_access.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/fake_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DIGEST "sha256:" HEX
#define NAME "127.0.0.1:1/a/b"
#define SEEN_MAX 1000

struct world {
	sd_event *loop;
	struct fake_engine *fake;
	struct engine *engine;
	struct registries registries;
	struct image_services services;
	/* What the engine does. */
	int status;         /* of /distribution */
	const char *answer; /* its body */
	const char *text;   /* what a pull prints, once */
	/* What it saw. */
	int asked, pulls, tags;
	char path[SEEN_MAX]; /* of the last pull */
	bool auth[2];        /* there was one: asked, pulled */
	/* What came of it. */
	int done;
	char early[600]; /* the digest that was told first */
	char target[SEEN_MAX];
	struct error err;
};

static bool has_auth(const struct fake_request *request)
{
	return strstr(request->headers, "X-Registry-Auth: ");
}

static void script(void *arg, struct fake_exchange *exchange,
		   const struct fake_request *request)
{
	struct world *world = arg;
	const char *path = fake_path(request);

	if (fake_version(exchange, request))
		return;
	if (!strcmp(path, "/info")) {
		fake_answer(exchange, 200, "{\"DockerRootDir\":\"/tmp\"}");
	} else if (!strncmp(path, "/distribution/", 14)) {
		world->asked++;
		world->auth[0] = has_auth(request);
		is(path, "/distribution/" NAME ":1/json",
		   "the engine is asked what the name means");
		fake_answer(exchange, world->status, world->answer);
	} else if (!strncmp(path, "/images/create?", 15)) {
		world->pulls++;
		world->auth[1] = has_auth(request);
		snprintf(world->path, sizeof(world->path), "%s", path);
		fake_answer(exchange, 200, world->text ? world->text : "{}");
		world->text = NULL;
	} else {
		world->tags += strstr(path, "/tag?") != NULL;
		fake_answer(exchange, 201, NULL);
	}
}

static void on_news(void *arg, const struct image_news *news)
{
	struct world *world = arg;

	if (!world->early[0] && news->digest)
		snprintf(world->early, sizeof(world->early), "%s",
			 news->digest);
}

static void on_done(void *arg, const struct error *err, const char *target)
{
	struct world *world = arg;

	world->done++;
	world->err = err ? *err : (struct error){ 0 };
	snprintf(world->target, sizeof(world->target), "%s", target);
}

/* How long it took. */
static int64_t bring(struct world *world, const char *reference)
{
	int64_t began = clock_mono_ms();

	world->done = world->asked = world->pulls = world->tags = 0;
	world->early[0] = 0;
	if (!pull_begin(&world->services, reference, NULL, 0, on_news, on_done,
			world, NULL))
		exit(1);
	while (!world->done)
		sd_event_run(world->loop, 10000);
	return clock_mono_ms() - began;
}

static void engine_says(struct world *world, int status, const char *answer)
{
	world->status = status;
	world->answer = answer;
}

static void open_world(struct world *world)
{
	char socket[64], host[80];

	*world = (struct world){ 0 };
	if (sd_event_new(&world->loop) < 0)
		exit(1);
	snprintf(socket, sizeof(socket), "/tmp/pull-test-%d", getpid());
	snprintf(host, sizeof(host), "unix://%s", socket);
	world->fake = fake_engine_new(world->loop, socket, script, world);
	world->engine = engine_new(world->loop, host, NULL, NULL);
	if (!world->engine)
		exit(1);
	world->registries.local = true;
	world->services = (struct image_services){
		.loop = world->loop,
		.engine = world->engine,
		.registries = &world->registries,
		.stall_ms = 20000,
		.retry_ms = 5,
	};
}

static void close_world(struct world *world)
{
	engine_free(world->engine);
	fake_engine_free(world->fake);
	sd_event_unref(world->loop);
}

static void digests(struct world *world)
{
	static const char *const useless[] = {
		"{}",
		"{\"Descriptor\":{\"digest\":7}}",
		"{\"Descriptor\":{\"digest\":\"latest\"}}",
		"{\"Descriptor\":{\"digest\":\"" DIGEST "/../x\"}}",
	};

	engine_says(world, 200, "{\"Descriptor\":{\"digest\":\"" DIGEST "\"}}");
	bring(world, NAME ":1");
	is(world->early, NAME "@" DIGEST, "a digest is told before all bytes");
	is(world->target, NAME "@" DIGEST, "and is what was pulled");
	ok(strstr(world->path, "tag=sha256%3A" HEX) && world->tags == 1,
	   "by the engine, too, which then has it by its name");
	bring(world, NAME "@" DIGEST);
	ok(!world->asked && world->pulls == 1 && !world->tags,
	   "one that is named by its digest has no other");
	engine_says(world, 404, "{\"message\":\"page not found\"}");
	bring(world, NAME ":1");
	ok(!world->err.code && strstr(world->path, "tag=1") && !world->tags,
	   "an engine that cannot tell pulls by the name");
	is(world->target, NAME ":1", "which is what it has then");
	for (size_t i = 0; i < sizeof(useless) / sizeof(useless[0]); i++) {
		engine_says(world, 200, useless[i]);
		bring(world, NAME ":1");
		ok(!world->err.code && strstr(world->path, "tag=1"),
		   "what is no digest is none: %s", useless[i]);
	}
}

static void credentials(struct world *world)
{
	static const char text[] = "{\"auths\":{\"127.0.0.1:1\":{"
				   "\"username\":\"u\",\"password\":\"p\"}}}";
	char path[] = "/tmp/pull-test.XXXXXX";
	int fd = mkstemp(path);

	file_write(AT_FDCWD, path, text, strlen(text), 0600, 0, NULL);
	bring(world, NAME ":1");
	ok(!world->auth[0] && !world->auth[1], "nobody is nobody");
	world->registries.credentials = path;
	bring(world, NAME ":1");
	ok(world->auth[0] && world->auth[1],
	   "the engine is told who we are whenever it asks the registry");
	world->registries.credentials = NULL;
	unlink(path);
	close(fd);
}

static void patience(struct world *world)
{
	int64_t ms;

	engine_says(world, 500, "{\"message\":\"toomanyrequests: slow\"}");
	world->text = "{\"error\":\"toomanyrequests: slow down\"}";
	ms = bring(world, NAME ":1");
	ok(!world->err.code && world->pulls == 2 && world->asked == 1 &&
		   ms >= 75,
	   "a registry with too many requests is left alone: %lld ms",
	   (long long)ms);
}

#define LAYER(id, status, detail)                                              \
	"{\"id\":\"" id "\",\"status\":\"" status                              \
	"\",\"progressDetail\":{" detail "}}\n"
#define FULL "{\"error\":\"write /tmp/x: no space left on device\"}\n"

static void rooms(struct world *world)
{
	engine_says(world, 404, "{}");
	world->text = LAYER("a", "Pulling fs layer",
			    "") LAYER("b", "Pulling fs layer", "")
		LAYER("a", "Downloading", "\"current\":1,\"total\":3145728")
			FULL;
	bring(world, NAME ":1");
	ok(world->err.code == ENOSPC && world->pulls == 1,
	   "a full disk is final");
	ok(strstr(world->err.text,
		  "disk full: the pull needs more than 3.0 MiB and the same "
		  "again to unpack; /tmp had "),
	   "what is known of it is told: %s", world->err.text);
	ok(strstr(world->err.text, "MiB free: engine: write /tmp/x: no space"),
	   "with the engine's words");
	world->text = LAYER("a", "Downloading",
			    "\"current\":1,\"total\":3145728") FULL;
	bring(world, NAME ":1");
	ok(strstr(world->err.text, "disk full: the pull needs 3.0 MiB and"),
	   "once all sizes are known they are exact: %s", world->err.text);
	world->text = FULL;
	bring(world, NAME ":1");
	ok(strstr(world->err.text, "disk full: /tmp had ") &&
		   !strstr(world->err.text, "the pull needs"),
	   "nothing is guessed where nothing is known: %s", world->err.text);
}

int main(void)
{
	struct world world;

	signal(SIGPIPE, SIG_IGN);
	tap_begin(60);
	open_world(&world);
	digests(&world);
	credentials(&world);
	patience(&world);
	rooms(&world);
	close_world(&world);
	return tap_done();
}
