/* image_chain_test.c - which layers of an image an engine has already, and the
 * layers that a config lists.
 */
#include "agent/images/image_chain.h"

#include "protocol/base/file.h"
#include "protocol/blob/incoming.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <sodium.h>
#include <string.h>

#define TEN "0123456789"
#define SIXTY TEN TEN TEN TEN TEN TEN
#define A "aaaa" SIXTY
#define B "bbbb" SIXTY
#define C "cccc" SIXTY
#define S "sha256:"

struct world {
	struct blob_store *blobs;
};

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

/* How many of the lowest layers of this list are there, after images with
 * these? "is": it is one of them.
 */
static const char *there(struct world *world, const char *layers, size_t count,
			 const char *const images[])
{
	static char text[200];
	char json[1000];
	struct image_chain chain = { 0 };
	struct error err = { 0 };
	size_t is = 0;

	snprintf(json, sizeof(json), "{\"rootfs\":{\"diff_ids\":%s}}", layers);
	if (image_chain_read(world->blobs, config(world, json), count, &chain,
			     &err) < 0)
		ok(false, "a config: %s", err.text);
	for (size_t i = 0; images[i]; i++) {
		cJSON *answer;

		snprintf(json, sizeof(json), "{\"RootFS\":{\"Layers\":%s}}",
			 images[i]);
		answer = cJSON_Parse(json);
		is += image_chain_compare(&chain, answer);
		cJSON_Delete(answer);
	}
	snprintf(text, sizeof(text), "%zu%s", chain.there, is ? " is" : "");
	image_chain_clear(&chain);
	return text;
}

#define LIST(...) "[" __VA_ARGS__ "]"
#define L(x) "\"" S x "\""

#define IMAGES(...)                                                            \
	(const char *const[])                                                  \
	{                                                                      \
		__VA_ARGS__, NULL                                              \
	}

static void tests(struct world *world)
{
	static const char *const images[] = { LIST(L(A)), LIST(L(A) "," L(B)),
					      LIST(L(B) "," L(C)), NULL };

	is(there(world, LIST(L(A) "," L(B) "," L(C)), 3, images), "2",
	   "layers below that an image of it has are there");
	is(there(world, LIST(L(C) "," L(A) "," L(B)), 3, images), "0",
	   "the same ones upon another are not");
	is(there(world, LIST(L(A) "," L(C)), 2, images), "1",
	   "as far as they are the same");
	is(there(world, LIST(L(A) "," L(B)), 2, images), "2 is",
	   "the image itself is known");
	is(there(world, LIST(L(A) "," L(B)), 2, IMAGES("7", "[5,{}]")), "0",
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

int main(void)
{
	char top[] = "/tmp/chain-test-XXXXXX";
	struct world world = { 0 };

	tap_begin(9);
	if (!mkdtemp(top) || sodium_init() < 0)
		return 1;
	world.blobs = blob_store_new(top, NULL);
	tests(&world);
	configs(&world);
	blob_store_free(world.blobs);
	file_remove_tree(AT_FDCWD, top, NULL);
	return tap_done();
}
