/* pull_test.c - a pull at a bounded rate: what it says and how long it waits.
 */
#include "agent/registry/pull.h"
#include "agent/registry/registries.h"
#include "agent/registry/relay.h"
#include "protocol/file.h"
#include "tests/tap.h"
#include "tests/unit/fake_engine.h"

#include <errno.h>
#include <signal.h>

#define DOCKER                                                                 \
	"{\"RegistryConfig\":{\"InsecureRegistryCIDRs\":[\"127.0.0.0/8\"]}}"
#define PODMAN                                                                 \
	"{\"BuildahVersion\":\"1.28.2\",\"RegistryConfig\":"                   \
	"{\"IndexConfigs\":{\"127.0.0.1:%u\":{\"Secure\":false}}}}"

struct world {
	sd_event *loop;
	struct fake_engine *engine, *registry;
	unsigned int port;
	struct engine *client;
	struct relays *relays;
	struct registries registries;
	struct pull_room room;
	char reference[64];
	/* What they do. */
	char info[400];
	const char *line; /* of a 429, which comes once */
	const char *text; /* what a pull prints, once */
	bool hangs_up;    /* instead */
	bool lifts;       /* the rate, once that 429 came */
	/* What they saw. */
	int pulls, relayed, asked;
	/* What came of it. */
	int done;
	struct error err;
};

static void engine_script(void *arg, struct fake_exchange *exchange,
			  const struct fake_request *request)
{
	struct world *world = arg;
	const char *path = fake_path(request);

	if (fake_version(exchange, request))
		return;
	if (!strcmp(path, "/info")) {
		fake_answer(exchange, 200, world->info);
	} else if (!strncmp(path, "/images/create?", 15)) {
		world->pulls++;
		world->relayed += strstr(path, "regatta-relay") != NULL;
		if (world->hangs_up)
			fake_close(exchange);
		else
			fake_answer(exchange, 200,
				    world->text ? world->text : "{}");
		world->text = NULL;
	} else if (!strncmp(path, "/images/json", 12)) {
		fake_answer(exchange, 200, "[]");
	} else {
		fake_answer(exchange, 201, NULL);
	}
}

static void registry_script(void *arg, struct fake_exchange *exchange,
			    const struct fake_request *request)
{
	struct world *world = arg;
	char text[300];

	world->asked++;
	if (!world->line) {
		fake_answer(exchange, 200, "{\"layers\":[]}");
		return;
	}
	snprintf(text, sizeof(text),
		 "HTTP/1.1 429 Many\r\n%s\r\nContent-Length: 2\r\n\r\n{}",
		 world->line);
	world->line = NULL;
	fake_raw(exchange, text, strlen(text));
}

static void on_progress(void *arg, const struct image_progress *progress)
{
}

static void on_done(void *arg, const struct error *err, const char *target)
{
	struct world *world = arg;

	world->done++;
	world->err = err ? *err : (struct error){ 0 };
}

/* How long it took. */
static int64_t bring(struct world *world, uint64_t rate)
{
	int64_t began = clock_mono_ms();
	struct pull *pull;
	int turns = 0;

	world->done = world->pulls = world->relayed = world->asked = 0;
	pull = pull_begin(&world->room, world->reference, rate, NULL, 0,
			  on_progress, on_done, world, NULL);
	if (!pull)
		exit(1);
	while (!world->done) {
		sd_event_run(world->loop, 10000);
		if (!world->lifts || world->line || world->done)
			continue;
		/* Most likely it pauses by then. */
		if (++turns == 100)
			pull_rate(pull, 0);
	}
	return clock_mono_ms() - began;
}

static void open_world(struct world *world)
{
	char socket[64], host[80];

	*world = (struct world){ 0 };
	if (sd_event_new(&world->loop) < 0)
		exit(1);
	snprintf(socket, sizeof(socket), "/tmp/pull-test-%d", getpid());
	snprintf(host, sizeof(host), "unix://%s", socket);
	world->engine =
		fake_engine_new(world->loop, socket, engine_script, world);
	world->registry = fake_server_new(world->loop, &world->port,
					  registry_script, world);
	world->client = engine_new(world->loop, host, NULL, NULL);
	world->relays = relays_new(world->loop, world->client, "0123", NULL);
	if (!world->client || !world->relays)
		exit(1);
	snprintf(world->reference, sizeof(world->reference),
		 "127.0.0.1:%u/a/b:1", world->port);
	snprintf(world->info, sizeof(world->info), DOCKER);
	world->room = (struct pull_room){
		.loop = world->loop,
		.engine = world->client,
		.registries = &world->registries,
		.relays = world->relays,
		.stall_ms = 20000,
		.retry_ms = 5,
	};
}

static void close_world(struct world *world)
{
	relays_free(world->relays);
	engine_free(world->client);
	fake_engine_free(world->engine);
	fake_engine_free(world->registry);
	sd_event_unref(world->loop);
}

static void patience(struct world *world)
{
	int64_t ms;

	world->line = "Retry-After: 1";
	ms = bring(world, 1 << 20);
	ok(!world->err.code && world->asked == 2 && ms >= 1000,
	   "a registry that wants to be left alone for a second is: %lld ms",
	   (long long)ms);
	ok(world->pulls == 2 && world->relayed == 1,
	   "then its image comes by way of the relay, and by its name");
	world->line = "Retry-After: many";
	ms = bring(world, 1 << 20);
	ok(!world->err.code && world->asked == 2 && ms >= 75,
	   "one that does not say for how long is met with patience");
	world->line = "Retry-After: 900";
	world->lifts = true;
	bring(world, 1 << 20);
	world->lifts = false;
	ok(!world->err.code && world->asked == 1 && world->pulls == 1,
	   "who lifts the rate does not wait for a quarter of an hour");
	world->line = "Retry-After: 900";
	world->text = "{\"error\":\"toomanyrequests: slow down\"}";
	bring(world, 0);
	ok(!world->err.code && world->pulls == 2 && world->asked == 1,
	   "an engine that asks by itself does as it always did");
}

static void words(struct world *world)
{
	world->hangs_up = true;
	bring(world, 1 << 20);
	ok(world->err.code == ECONNRESET && world->relayed >= 3 &&
		   !strstr(world->err.text, "127.0.0.1 of this"),
	   "of an engine that goes away is not said what it reaches: %s",
	   world->err.text);
	world->hangs_up = false;
	snprintf(world->info, sizeof(world->info), PODMAN, world->port);
	bring(world, 1 << 20);
	ok(world->err.code == ENOTSUP && !world->pulls &&
		   strstr(world->err.text, "insecure=true") &&
		   strstr(world->err.text, "preload_rate: 0"),
	   "one that wants TLS of a relay is not asked at all: %s",
	   world->err.text);
	bring(world, 0);
	ok(!world->err.code && world->pulls == 1 && !world->relayed,
	   "without a rate it pulls as ever");
}

int main(void)
{
	struct world world;

	signal(SIGPIPE, SIG_IGN);
	tap_begin(60);
	open_world(&world);
	patience(&world);
	words(&world);
	close_world(&world);
	return tap_done();
}
