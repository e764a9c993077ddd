/* image_layers_test.c - which layers an engine needs not get, against a
 * scripted one.
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
	struct blob_store *contents;
	const char *images[4]; /* RootFS.Layers of each, as JSON */
	int done;
	char spare[400]; /* first letters */
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

static void on_done(void *arg, const struct strings *contents)
{
	struct world *world = arg;

	world->done++;
	world->spare[0] = 0;
	for (size_t i = 0; i < contents->count; i++)
		strncat(world->spare, contents->items[i], 1);
}

/* A config as a content; its id. */
static char *config(struct world *world, const char *layers)
{
	char text[1000], hash[CONTENT_HASH_SIZE], *id;
	struct incoming *incoming =
		incoming_new(world->contents, NULL, sizeof(text), NULL);

	snprintf(text, sizeof(text), "{\"rootfs\":{\"diff_ids\":%s}}", layers);
	incoming_write(incoming, text, strlen(text), NULL);
	while (incoming_finish(incoming, hash, NULL) > 0)
		;
	incoming_free(incoming);
	return asprintf(&id, S "%s", hash) < 0 ? NULL : id;
}

/* Of a file with these images, and the layers A, B and C: what is spare. */
static const char *spare(struct world *world, const char *one,
			 const char *other)
{
	struct image_bundle_entry entries[] = {
		{ (char *)"a", (char *)A, 1, NULL },
		{ (char *)"b", (char *)B, 1, NULL },
		{ (char *)"l", NULL, 0, (char *)"a" },
		{ (char *)"c", (char *)C, 1, NULL },
	};
	struct image_bundle_image images[2] = { { config(world, one), { 0 } } };
	struct image_bundle bundle = { .images = images,
				       .images_count = 1,
				       .entries = entries,
				       .entries_count = 4 };
	struct error err;

	if (other)
		images[bundle.images_count++].id = config(world, other);
	world->done = 0;
	if (image_layers_begin(world->engine, world->contents, &bundle, on_done,
			       world, &err))
		while (!world->done)
			sd_event_run(world->loop, UINT64_MAX);
	else
		snprintf(world->spare, sizeof(world->spare), "%s", err.text);
	free(images[0].id);
	free(images[1].id);
	return world->spare;
}

#define LIST(...) "[" __VA_ARGS__ "]"
#define L(x) "\"" S x "\""

static void tests(struct world *world)
{
	is(spare(world, LIST(L(A) "," L(B) "," L(C)), NULL), "",
	   "an engine without images needs all");
	world->images[0] = LIST(L(A));
	world->images[1] = LIST(L(A) "," L(B));
	world->images[2] = LIST(L(B) "," L(C));
	is(spare(world, LIST(L(A) "," L(B) "," L(C)), NULL), "ab",
	   "layers below that an image of it has are not needed");
	is(spare(world, LIST(L(C) "," L(A) "," L(B)), NULL), "",
	   "the same ones upon another are");
	is(spare(world, LIST(L(A) "," L(B)), LIST(L(C) "," L(B))), "a",
	   "nor is one spare that another image of the file needs");
	is(spare(world, LIST(L(A) "," L(C)), LIST(L(A) "," L(B))), "ab",
	   "of several images each has its own");
	world->images[1] = "";
	is(spare(world, LIST(L(A) "," L(B)), NULL), "a",
	   "an image that is gone meanwhile has none");
	world->images[0] = "7";
	world->images[2] = "[5,{}]";
	is(spare(world, LIST(L(A) "," L(B)), NULL), "",
	   "what the engine says may be anything");
	ok(strstr(spare(world, "[7]", NULL), "without a hash"),
	   "a config that is none: %s", world->spare);
	world->images[0] = LIST(L(A));
	is(spare(world, "null", NULL), "", "one without layers has none");
}

static void given_up(struct world *world)
{
	struct image_bundle_entry entry = { (char *)"a", (char *)A, 1, NULL };
	struct image_bundle_image image = { config(world, LIST(L(A))), { 0 } };
	struct image_bundle bundle = { &image, 1, &entry, 1 };
	struct image_layers_call *call =
		image_layers_begin(world->engine, world->contents, &bundle,
				   on_done, world, NULL);

	world->done = 0;
	image_layers_cancel(call);
	sd_event_run(world->loop, 1000);
	is_int(world->done, 0, "whoever gives up is not told");
	free(image.id);
}

int main(void)
{
	char top[] = "/tmp/layers-test-XXXXXX", path[100], host[120];
	struct world world = { 0 };

	tap_begin(40);
	signal(SIGPIPE, SIG_IGN);
	if (!mkdtemp(top) || sodium_init() < 0)
		return 1;
	sd_event_new(&world.loop);
	world.contents = blob_store_new(top, NULL);
	snprintf(path, sizeof(path), "%s/socket", top);
	snprintf(host, sizeof(host), "unix://%s", path);
	world.fake = fake_engine_new(world.loop, path, script, &world);
	world.engine = engine_new(world.loop, host, NULL, NULL);
	tests(&world);
	given_up(&world);
	engine_free(world.engine);
	fake_engine_free(world.fake);
	blob_store_free(world.contents);
	sd_event_unref(world.loop);
	file_remove_tree(AT_FDCWD, top, NULL);
	return tap_done();
}
