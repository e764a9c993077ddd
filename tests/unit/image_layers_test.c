/* image_layers_test.c - which layers an engine has already, against a scripted
 * one; and the layers that a config lists.
 */
#include "agent/images/image_layers.h"

#include "protocol/base/file.h"
#include "protocol/blob/incoming.h"
#include "tests/tap.h"
#include "tests/unit/fake_engine.h"

#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <string.h>

#define TEN "0123456789"
#define SIXTY TEN TEN TEN TEN TEN TEN
#define A "aaaa" SIXTY
#define B "bbbb" SIXTY
#define C "cccc" SIXTY
#define S "sha256:"

struct world {
	sd_event *loop;
	struct fake_engine *fake;
	struct engine *engine;
	struct blob_store *blobs;
	const char *images[4]; /* RootFS.Layers of each, as JSON */
	bool containerd;       /* it has containerd's image store */
	int done;
};

static void script(void *arg, struct fake_exchange *exchange,
		   const struct fake_request *request)
{
	struct world *world = arg;
	const char *path = fake_path(request);
	char text[1000] = "[";
	int i;

	if (fake_version(exchange, request))
		return;
	if (!strncmp(path, "/info", 5)) {
		fake_answer(exchange, 200,
			    world->containerd
				    ? "{\"DriverStatus\":[[\"driver-type\","
				      "\"io.containerd.snapshotter.v1\"]]}"
				    : "{\"DriverStatus\":[[\"Backing "
				      "Filesystem\",\"extfs\"],7]}");
		return;
	}
	if (!strncmp(path, "/images/json", 12)) {
		for (i = 0; world->images[i]; i++)
			snprintf(text + strlen(text),
				 sizeof(text) - strlen(text),
				 "%s{\"Id\":\"" S "%d%s\"}", i ? "," : "", i,
				 A + 1);
		strncat(text, "]", 2);
		fake_answer(exchange, 200, text);
		return;
	}
	i = path[strlen("/images/" S)] - '0';
	if (i < 0 || i > 3 || !*world->images[i]) {
		fake_answer(exchange, 404, "{\"message\":\"no such image\"}");
		return;
	}
	snprintf(text, sizeof(text), "{\"RootFS\":{\"Layers\":%s}}",
		 world->images[i]);
	fake_answer(exchange, 200, text);
}

static void on_done(void *arg)
{
	struct world *world = arg;

	world->done++;
}

/* A config as a content; its hash. */
static const char *config(struct world *world, const char *text)
{
	static char hash[BLOB_HASH_SIZE];
	struct incoming *incoming =
		incoming_new(world->blobs, NULL, 2000, NULL);

	incoming_write(incoming, text, strlen(text), NULL);
	while (incoming_finish(incoming, hash, NULL) > 0)
		;
	incoming_free(incoming);
	return hash;
}

/* The layers of this list. */
static void chain(struct world *world, const char *layers, size_t count,
		  struct image_chain *chain)
{
	char text[1000];
	struct error err = { 0 };

	snprintf(text, sizeof(text), "{\"rootfs\":{\"diff_ids\":%s}}", layers);
	if (image_chain_read(world->blobs, config(world, text), count, chain,
			     &err) < 0)
		ok(false, "a config: %s", err.text);
}

/* How many of the lowest layers of each are there? */
static const char *there(struct world *world, const char *one, size_t count,
			 const char *other, size_t others)
{
	static char text[40];
	struct image_chain chains[2] = { 0 };
	struct error err;

	chain(world, one, count, &chains[0]);
	if (other)
		chain(world, other, others, &chains[1]);
	world->done = 0;
	if (image_layers_begin(world->engine, chains, other ? 2 : 1, on_done,
			       world, &err))
		while (!world->done)
			sd_event_run(world->loop, UINT64_MAX);
	snprintf(text, sizeof(text), "%zu %zu", chains[0].there,
		 chains[1].there);
	image_chain_clear(&chains[0]);
	image_chain_clear(&chains[1]);
	return text;
}

#define LIST(...) "[" __VA_ARGS__ "]"
#define L(x) "\"" S x "\""

static void tests(struct world *world)
{
	is(there(world, LIST(L(A) "," L(B) "," L(C)), 3, NULL, 0), "0 0",
	   "an engine without images has none");
	world->images[0] = LIST(L(A));
	world->images[1] = LIST(L(A) "," L(B));
	world->images[2] = LIST(L(B) "," L(C));
	is(there(world, LIST(L(A) "," L(B) "," L(C)), 3, NULL, 0), "2 0",
	   "layers below that an image of it has are there");
	is(there(world, LIST(L(C) "," L(A) "," L(B)), 3, NULL, 0), "0 0",
	   "the same ones upon another are not");
	is(there(world, LIST(L(A) "," L(C)), 2, LIST(L(A) "," L(B)), 2), "1 2",
	   "of several images each has its own");
	world->containerd = true;
	is(there(world, LIST(L(A) "," L(B)), 2, NULL, 0), "0 0",
	   "an engine with containerd's store gets all");
	world->containerd = false;
	world->images[1] = "";
	is(there(world, LIST(L(A) "," L(B)), 2, NULL, 0), "1 0",
	   "an image that is gone meanwhile has none");
	world->images[0] = "7";
	world->images[2] = "[5,{}]";
	is(there(world, LIST(L(A) "," L(B)), 2, NULL, 0), "0 0",
	   "what the engine says may be anything");
}

/* The layers of a config: what is wrong with it. */
static const char *wrong(struct world *world, const char *text, size_t count)
{
	static struct error err;
	struct image_chain chain = { 0 };

	err = (struct error){ 0 };
	image_chain_read(world->blobs, config(world, text), count, &chain,
			 &err);
	image_chain_clear(&chain);
	return err.text;
}

static void configs(struct world *world)
{
	is(wrong(world, "{}", 0), "", "a config of no layers");
	ok(strstr(wrong(world, "{}", 1),
		  "is not the config of an image of 1 layer"),
	   "a config of fewer layers than the file has");
	ok(strstr(wrong(world, "words", 0), "is not the config"), "no config");
	ok(strstr(wrong(world, "{\"rootfs\":{\"diff_ids\":[7]}}", 1),
		  "a layer without a hash"),
	   "a layer that is none");
}

static void given_up(struct world *world)
{
	struct image_chain one = { 0 };
	struct image_layers_call *call =
		image_layers_begin(world->engine, &one, 1, on_done, world,
				   NULL);

	world->done = 0;
	image_layers_cancel(call);
	sd_event_run(world->loop, 1000);
	is_int(world->done, 0, "whoever gives up is not told");
}

int main(void)
{
	char top[] = "/tmp/layers-test-XXXXXX", path[100], host[120];
	struct world world = { 0 };

	tap_begin(39);
	signal(SIGPIPE, SIG_IGN);
	if (!mkdtemp(top) || sodium_init() < 0)
		return 1;
	sd_event_new(&world.loop);
	world.blobs = blob_store_new(top, NULL);
	snprintf(path, sizeof(path), "%s/socket", top);
	snprintf(host, sizeof(host), "unix://%s", path);
	world.fake = fake_engine_new(world.loop, path, script, &world);
	world.engine = engine_new(world.loop, host, NULL, NULL);
	tests(&world);
	configs(&world);
	given_up(&world);
	engine_free(world.engine);
	fake_engine_free(world.fake);
	blob_store_free(world.blobs);
	sd_event_unref(world.loop);
	file_remove_tree(AT_FDCWD, top, NULL);
	return tap_done();
}
