/* fetch_test.c - contents between agents, over real channels, without a
 * controller: the test says what it would say.
 */
#include "agent/blobs/fetch.h"

#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "protocol/blob/incoming.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>

#define LARGE (6 << 20)

static char top[] = "/tmp/fetch-test-XXXXXX";

struct node {
	sd_event *loop;
	struct key key;
	struct blob_store *blobs;
	struct fetch_config config;
	struct fetches *fetches;
	struct message_blob_want want; /* the last one, hash borrowed */
	int wants, news, pieces;
	bool awaited; /* of the last want */
	char failed[KEY_NAME_SIZE];
	int done;
	struct error err;
};

static int say(void *arg, enum message_type type, const void *body,
	       const void *data, size_t size)
{
	struct node *node = arg;
	const struct message_blob_want *want = body;

	node->pieces += type == MESSAGE_BLOB_PIECE;
	if (type != MESSAGE_BLOB_WANT)
		return 0;
	node->news += want->source != NULL;
	if (want->source)
		return 0;
	node->wants++;
	node->awaited = want->awaited;
	snprintf(node->failed, sizeof(node->failed), "%s",
		 want->failed ? want->failed : "");
	return 0;
}

static void done(void *arg, const struct error *err)
{
	struct node *node = arg;

	node->done++;
	node->err = err ? *err : (struct error){ 0 };
}

static void node_init(struct node *node, sd_event *loop, const char *name)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	file_make_folders(path, 0700, NULL);
	memset(node, 0, sizeof(*node));
	node->loop = loop;
	key_generate(&node->key, name, ROLE_AGENT, NULL);
	node->blobs = blob_store_new(path, NULL);
	node->config = (struct fetch_config){
		.loop = loop,
		.blobs = node->blobs,
		.key = &node->key,
		.address = "127.0.0.1",
		.say = say,
		.arg = node,
	};
	node->fetches = fetches_new(&node->config, NULL);
	fetches_session(node->fetches, true);
}

static void node_clear(struct node *node)
{
	fetches_free(node->fetches);
	blob_store_free(node->blobs);
}

static void put(struct node *node, const void *data, size_t size,
		char hash[BLOB_HASH_SIZE])
{
	struct incoming *incoming = incoming_new(node->blobs, NULL, size, NULL);

	incoming_write(incoming, data, size, NULL);
	while (incoming_finish(incoming, hash, NULL) > 0)
		;
	incoming_free(incoming);
}

static bool has(struct node *node, const char *hash)
{
	uint64_t bytes;
	bool whole;

	return blob_store_look(node->blobs, hash, &bytes, &whole, NULL) == 0 &&
	       whole;
}

static uint64_t length(struct node *node, const char *hash)
{
	uint64_t bytes = 0;
	bool whole;

	blob_store_look(node->blobs, hash, &bytes, &whole, NULL);
	return bytes;
}

/* Tell `to` that it gets it from `from` (NULL: the controller). */
static void tell(struct node *to, struct node *from, const char *hash,
		 uint64_t bytes)
{
	struct message_blob_from message = { .hash = (char *)hash,
					     .bytes = bytes };
	struct message_blob_grant grant = { to->key.name, to->key.public,
					    (char *)hash };

	if (from) {
		message.name = from->key.name;
		message.endpoint = (char *)fetches_endpoint(from->fetches);
		message.public = from->key.public;
		fetches_heard(from->fetches, MESSAGE_BLOB_GRANT, &grant, NULL,
			      0);
	}
	fetches_heard(to->fetches, MESSAGE_BLOB_FROM, &message, NULL, 0);
}

static void run_until(struct node *node, const int *count, int want)
{
	int64_t limit = clock_mono_ms() + 20000;

	while (*count < want && clock_mono_ms() < limit)
		sd_event_run(node->loop, 100000);
}

static void chain(sd_event *loop, const char *data)
{
	struct node first, second, third;
	char hash[BLOB_HASH_SIZE];
	struct fetch_wait *one, *two;

	node_init(&first, loop, "n1");
	node_init(&second, loop, "n2");
	node_init(&third, loop, "n3");
	put(&first, data, LARGE, hash);
	one = fetch_begin(second.fetches, hash, false, NULL, done, &second,
			  NULL);
	two = fetch_begin(second.fetches, hash, false, NULL, done, &second,
			  NULL);
	ok(one && two && second.wants == 1, "two wait, the controller is asked "
					    "once");
	fetch_begin(third.fetches, hash, false, NULL, done, &third, NULL);
	tell(&third, &second, hash, LARGE);
	/* It is connected by then, and has asked. */
	for (int64_t limit = clock_mono_ms() + 500;
	     third.wants == 1 && clock_mono_ms() < limit;)
		sd_event_run(loop, 10000);
	ok(!third.done && third.wants == 1,
	   "who is behind one that has nothing yet waits for it");
	tell(&second, &first, hash, LARGE);
	run_until(&third, &third.done, 1);
	ok(third.done == 1 && !third.err.code && has(&third, hash),
	   "what the one before it gets, it gets, too");
	run_until(&second, &second.done, 2);
	ok(second.done == 2 && has(&second, hash), "both that waited are told");
	ok(second.news > 0, "and the controller, that it has it");
	second.done = 0;
	fetch_begin(second.fetches, hash, false, NULL, done, &second, NULL);
	ok(!second.done, "what is there is told later");
	run_until(&second, &second.done, 1);
	ok(second.done == 1 && second.wants == 1, "without asking anybody");
	node_clear(&third);
	node_clear(&second);
	node_clear(&first);
}

static void revoked(sd_event *loop, const char *data)
{
	struct node first = { 0 }, second = { 0 };
	struct message_blob_grant grant = { .name = second.key.name };
	char hash[BLOB_HASH_SIZE];

	node_init(&first, loop, "r1");
	node_init(&second, loop, "r2");
	put(&first, data, 1000, hash);
	fetch_begin(second.fetches, hash, false, NULL, done, &second, NULL);
	tell(&second, &first, hash, 1000);
	fetches_heard(first.fetches, MESSAGE_BLOB_GRANT, &grant, NULL, 0);
	run_until(&second, &second.wants, 2);
	ok(!second.done && !strcmp(second.failed, "r1"),
	   "whose key is revoked gets nothing");
	node_clear(&second);
	node_clear(&first);
}

static void not_granted(sd_event *loop, const char *data)
{
	struct node first = { 0 }, second = { 0 };
	struct message_blob_from from = { .bytes = 1000 };
	char hash[BLOB_HASH_SIZE], other[BLOB_HASH_SIZE];
	int wants;

	node_init(&first, loop, "g1");
	node_init(&second, loop, "g2");
	put(&first, data, 1000, hash);
	put(&first, data + 1, 1000, other);
	fetch_begin(second.fetches, hash, false, NULL, done, &second, NULL);
	tell(&second, &first, hash, 1000);
	run_until(&second, &second.done, 1);
	ok(has(&second, hash), "a node gets what it may read");
	wants = second.wants;
	fetch_begin(second.fetches, other, false, NULL, done, &second, NULL);
	from.hash = other;
	from.name = first.key.name;
	from.endpoint = (char *)fetches_endpoint(first.fetches);
	from.public = first.key.public;
	fetches_heard(second.fetches, MESSAGE_BLOB_FROM, &from, NULL, 0);
	run_until(&second, &second.wants, wants + 2);
	ok(!length(&second, other) && !strcmp(second.failed, "g1"),
	   "and nothing else that the other one has");
	node_clear(&second);
	node_clear(&first);
}

static void dies(sd_event *loop, const char *data)
{
	struct node first, second, third;
	char hash[BLOB_HASH_SIZE];
	struct message_blob_piece piece;
	uint64_t had;

	node_init(&first, loop, "d1");
	node_init(&second, loop, "d2");
	node_init(&third, loop, "d3");
	put(&first, data, LARGE, hash);
	fetch_begin(second.fetches, hash, false, NULL, done, &second, NULL);
	tell(&second, &first, hash, LARGE);
	while (length(&second, hash) < (1 << 20))
		sd_event_run(loop, 100000);
	node_clear(&first);
	run_until(&second, &second.wants, 2);
	had = length(&second, hash);
	ok(second.wants == 2 && !strcmp(second.failed, "d1") && had < LARGE,
	   "a source that dies is left, and the controller told");
	tell(&second, NULL, hash, LARGE);
	fetch_begin(third.fetches, hash, false, NULL, done, &third, NULL);
	tell(&third, &second, hash, LARGE);
	while (had < LARGE) {
		uint32_t size = LARGE - had < (512 << 10)
					? (uint32_t)(LARGE - had)
					: 512 << 10;

		piece = (struct message_blob_piece){ .hash = hash,
						     .offset = had };
		fetches_heard(second.fetches, MESSAGE_BLOB_PIECE, &piece,
			      data + had, size);
		had += size;
	}
	run_until(&second, &second.done, 1);
	ok(second.done == 1 && !second.err.code && has(&second, hash),
	   "from another it goes on where it was");
	run_until(&third, &third.done, 1);
	ok(third.done == 1 && has(&third, hash), "and so do those behind it");
	node_clear(&third);
	node_clear(&second);
}

static void hash_of(const char *data, size_t size, char hash[BLOB_HASH_SIZE])
{
	unsigned char digest[32];

	crypto_hash_sha256(digest, (const unsigned char *)data, size);
	sodium_bin2hex(hash, BLOB_HASH_SIZE, digest, sizeof(digest));
}

static void lies(sd_event *loop, const char *data)
{
	struct node node;
	char hash[BLOB_HASH_SIZE] = "";
	struct message_blob_piece piece = { .hash = hash };
	struct message_blob_from from = { .hash = hash };
	struct fetch_wait *wait;
	struct error err = { 0 };

	node_init(&node, loop, "l1");
	hash_of(data, 1000, hash);
	fetch_begin(node.fetches, hash, false, NULL, done, &node, NULL);
	tell(&node, NULL, hash, 1000);
	fetches_heard(node.fetches, MESSAGE_BLOB_PIECE, &piece, data + 1, 1000);
	run_until(&node, &node.wants, 2);
	ok(node.wants == 2 && !node.done && length(&node, hash) == 0,
	   "wrong bytes are dropped, and another source is asked for");
	tell(&node, NULL, hash, 1000);
	piece.text = (char *)"none here";
	piece.code = ENOENT;
	fetches_heard(node.fetches, MESSAGE_BLOB_PIECE, &piece, "", 0);
	ok(node.wants == 3, "and when one says that it has none");
	from.text = (char *)"gone";
	from.code = ENOENT;
	fetches_heard(node.fetches, MESSAGE_BLOB_FROM, &from, NULL, 0);
	ok(node.done == 1 && node.err.code == ENOENT, "none at all: %s",
	   node.err.text);
	wait = fetch_begin(node.fetches, hash, true, NULL, done, &node, NULL);
	ok(node.wants == 4 && node.awaited,
	   "the controller is told that it is awaited");
	fetch_release(wait);
	ok(!fetch_begin(node.fetches, "../x", false, NULL, done, &node, &err) &&
		   err.code == EPROTO,
	   "no hash: %s", err.text);
	node_clear(&node);
}

static void damaged(sd_event *loop, const char *data)
{
	struct node node;
	char hash[BLOB_HASH_SIZE];
	struct message_blob_piece piece = { .hash = hash };

	node_init(&node, loop, "b1");
	hash_of(data, 1000, hash);
	fetch_begin(node.fetches, hash, false, NULL, done, &node, NULL);
	for (int i = 1; i <= 2; i++) {
		tell(&node, NULL, hash, 1000);
		fetches_heard(node.fetches, MESSAGE_BLOB_PIECE, &piece,
			      data + 1, 1000);
		run_until(&node, &node.wants, i + 1);
	}
	ok(!node.done, "wrong bytes of the controller's are asked for again");
	tell(&node, NULL, hash, 1000);
	piece.text = (char *)"content 0123456789ab: Input/output error";
	piece.code = EIO;
	fetches_heard(node.fetches, MESSAGE_BLOB_PIECE, &piece, "", 0);
	ok(node.done == 1 && node.err.code == EIO && node.wants == 3,
	   "but not for ever: %s", node.err.text);
	node_clear(&node);
}

static void resized(sd_event *loop, const char *data)
{
	struct node node;
	char hash[BLOB_HASH_SIZE];
	struct message_blob_piece piece = { .hash = hash };

	node_init(&node, loop, "s1");
	hash_of(data, 1000, hash);
	fetch_begin(node.fetches, hash, false, NULL, done, &node, NULL);
	tell(&node, NULL, hash, 2000);
	fetches_heard(node.fetches, MESSAGE_BLOB_PIECE, &piece, data, 500);
	piece.text = (char *)"asked for bytes behind its end";
	piece.code = EPROTO;
	fetches_heard(node.fetches, MESSAGE_BLOB_PIECE, &piece, "", 0);
	tell(&node, NULL, hash, 1000);
	piece = (struct message_blob_piece){ .hash = hash, .offset = 500 };
	fetches_heard(node.fetches, MESSAGE_BLOB_PIECE, &piece, data + 500,
		      500);
	run_until(&node, &node.done, 1);
	ok(node.done == 1 && !node.err.code && has(&node, hash),
	   "a size that was wrong at first is put right");
	node_clear(&node);
}

/* 16 contents at a time are read from a node, 8 pieces of each ahead. */
static void gives(sd_event *loop, const char *data)
{
	struct node node;
	char hash[BLOB_HASH_SIZE];
	struct message_blob_read read = { .hash = hash, .size = 1 };

	node_init(&node, loop, "g1");
	put(&node, data, LARGE, hash);
	for (read.offset = 0; read.offset < 128; read.offset++)
		fetches_heard(node.fetches, MESSAGE_BLOB_READ, &read, NULL, 0);
	run_until(&node, &node.pieces, 128);
	is_int(node.pieces, 128,
	       "all that a controller reads at a time is answered");
	node_clear(&node);
}

int main(void)
{
	sd_event *loop = NULL;
	char *data = malloc(LARGE);

	tap_begin(60);
	if (sodium_init() < 0 || !mkdtemp(top) || sd_event_new(&loop) < 0)
		return 1;
	randombytes_buf(data, LARGE);
	chain(loop, data);
	revoked(loop, data);
	not_granted(loop, data);
	dies(loop, data);
	lies(loop, data);
	damaged(loop, data);
	resized(loop, data);
	gives(loop, data);
	free(data);
	sd_event_unref(loop);
	file_remove_tree(AT_FDCWD, top, NULL);
	return tap_done();
}
