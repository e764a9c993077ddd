/* blob_service_test.c - contents that people are still sending, given to a
 * node.
 */
#include "controller/blobs/blob_service.h"

#include "controller/effects.h"
#include "controller/nodes/node_internal.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/digest.h"
#include "tests/tap.h"
#include "tests/unit/wire_hall.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#define BYTES 3000
#define HALF 2000

/* Linked with -Wl,--wrap=clock_mono_ms: the blob service's clock, for a while.
 */
static int64_t ahead_ms;

int64_t __real_clock_mono_ms(void);
int64_t __wrap_clock_mono_ms(void);

int64_t __wrap_clock_mono_ms(void)
{
	return __real_clock_mono_ms() + ahead_ms;
}

static char top[] = "/tmp/stock-test-XXXXXX";

/* The node's end of the channel. */
struct agent {
	struct wire_client *wire;
	int told, pieces;
	int64_t code;             /* of the last that it was told */
	char from[KEY_NAME_SIZE]; /* likewise; "": the controller */
	uint64_t bytes;
	uint64_t offset; /* of the last piece */
	size_t size;
};

static void connected(void *arg)
{
	struct agent *agent = arg;
	struct message_hello hello = { .version = PROTOCOL_VERSION,
				       .software = (char *)"test" };

	wire_client_send(agent->wire, MESSAGE_HELLO, &hello, NULL, 0, NULL);
}

static void heard(void *arg, enum message_type type, void *body,
		  const void *payload, size_t size)
{
	struct agent *agent = arg;
	const struct message_blob_from *from = body;
	const struct message_blob_piece *piece = body;

	if (type == MESSAGE_BLOB_FROM) {
		agent->told++;
		agent->code = from->code;
		agent->bytes = from->bytes;
		snprintf(agent->from, sizeof(agent->from), "%s",
			 from->name ? from->name : "");
	} else if (type == MESSAGE_BLOB_PIECE) {
		agent->pieces++;
		agent->offset = piece->offset;
		agent->size = size;
	}
}

static void lost(void *arg, int code, const char *why)
{
}

struct bed {
	struct world world;
	struct changes changes;
	struct nodes *nodes;
	struct blob_service *blobs;
	struct hall hall;
	struct agent agent, giver;
	struct node *node;
	const struct wire_peer *sender;
	char data[BYTES];
	char hash[BLOB_HASH_SIZE];
	struct error err;
};

/* So often the agent has heard of it; or so long nobody says a word. */
static bool until(struct bed *bed, const int *count, int want, int limit_ms)
{
	int64_t limit = clock_mono_ms() + limit_ms;

	while (*count < want && clock_mono_ms() < limit) {
		wire_server_flush(bed->hall.server);
		sd_event_run(bed->hall.loop, 10000);
	}
	return *count == want;
}

static bool told(struct bed *bed, int count)
{
	return until(bed, &bed->agent.told, count, 10000);
}

static bool pieces(struct bed *bed, int count)
{
	return until(bed, &bed->agent.pieces, count, 10000);
}

static bool silent(struct bed *bed)
{
	int heard = bed->agent.told + bed->agent.pieces;

	until(bed, &bed->agent.told, INT_MAX, 100);
	return bed->agent.told + bed->agent.pieces == heard;
}

static void want(struct bed *bed, bool awaited)
{
	const struct message_blob_want message = { .hash = bed->hash,
						   .awaited = awaited };

	blob_service_want(bed->blobs, bed->node, &message);
}

static void read_piece(struct bed *bed, uint64_t offset, uint32_t size)
{
	const struct message_blob_read message = { .hash = bed->hash,
						   .offset = offset,
						   .size = size };

	blob_service_read(bed->blobs, bed->node, &message);
}

static bool put(struct bed *bed, uint64_t bytes, uint64_t offset, size_t size)
{
	const struct message_blob_put message = { .hash = bed->hash,
						  .bytes = bytes,
						  .offset = offset };
	struct reply_blob_put reply = { 0 };

	return blob_service_put(bed->blobs, bed->sender, &message,
				bed->data + offset, size, &reply,
				&bed->err) == 0;
}

/* Other bytes than before. */
static void change(struct bed *bed, char byte)
{
	struct digest digest;

	memset(bed->data, byte, BYTES);
	digest_init(&digest);
	digest_add(&digest, bed->data, BYTES);
	digest_hex(&digest, bed->hash);
}

static void comes_in(struct bed *bed)
{
	struct agent *agent = &bed->agent;

	change(bed, 'a');
	want(bed, true);
	ok(silent(bed), "what is awaited and not here: not a word");
	put(bed, BYTES, 0, 0);
	ok(told(bed, 1) && !agent->code && agent->bytes == BYTES,
	   "when somebody begins to send it, the node is told");
	read_piece(bed, 0, HALF);
	read_piece(bed, 0, HALF);
	ok(silent(bed), "what has not come yet is waited for");
	put(bed, BYTES, 0, HALF);
	ok(pieces(bed, 1) && agent->size == HALF && silent(bed),
	   "and sent when it has, once, however often it was asked for");
	read_piece(bed, HALF, BYTES - HALF);
	put(bed, BYTES, HALF, BYTES - HALF);
	ok(pieces(bed, 2) && agent->offset == HALF, "to the end");
	want(bed, true);
	ok(told(bed, 2) && !agent->code, "then it is here as any other");
}

static void stays_away(struct bed *bed)
{
	struct agent *agent = &bed->agent;

	agent->told = 0;
	change(bed, 'b');
	want(bed, false);
	ok(told(bed, 1) && agent->code == ENOENT,
	   "what nobody is said to send is not here");
	want(bed, true);
	put(bed, BYTES, 0, 0);
	ok(told(bed, 2) && !agent->code, "unless somebody sends it");
	ok(!put(bed, BYTES + 1, 0, 0) && bed->err.code == EBUSY,
	   "what comes in has one size: %s", bed->err.text);
	change(bed, 'c');
	want(bed, true);
	blob_service_gone(bed->blobs, bed->node);
	put(bed, BYTES, 0, 0);
	ok(silent(bed), "a node that is gone awaits nothing");
}

/* The node asks again, so much later. */
static void want_later(struct bed *bed, int64_t ms)
{
	ahead_ms = ms;
	want(bed, true);
	ahead_ms = 0;
}

static void sender_leaves(struct bed *bed)
{
	const struct wire_peer *const two[] = { bed->sender, (void *)bed };
	struct agent *agent = &bed->agent;

	agent->told = 0;
	change(bed, 'd');
	for (size_t i = 0; i < 2; i++) {
		bed->sender = two[i];
		put(bed, BYTES, 0, BYTES);
	}
	change(bed, 'e');
	blob_service_sender_gone(bed->blobs, two[0]);
	want_later(bed, BLOB_UPLOADS_BACK_MS + 1000);
	ok(silent(bed), "one of two who send leaves: there is hope");
	blob_service_sender_gone(bed->blobs, two[1]);
	want_later(bed, BLOB_UPLOADS_BACK_MS - 1000);
	ok(silent(bed), "the other one, too: one of them may come back");
	want_later(bed, BLOB_UPLOADS_BACK_MS + 1000);
	ok(told(bed, 1) && agent->code == ENOENT,
	   "but nodes do not wait long for it");
	bed->sender = two[0];
	put(bed, BYTES, 0, 0);
	ok(told(bed, 2) && !agent->code, "and it comes when it is sent again");
}

/* A content that the other node says it has; from whom the node gets it, when
 * this one (NULL: none) failed.
 */
static const char *source_of(struct bed *bed, struct node *giver, char byte,
			     const char *failed)
{
	struct message_blob_want message = { .hash = bed->hash,
					     .failed = (char *)failed };
	const struct message_blob_want has = { .hash = bed->hash,
					       .length = BYTES,
					       .source = (char *)"" };

	bed->agent.told = 0;
	if (!failed) {
		change(bed, byte);
		put(bed, BYTES, 0, BYTES);
		blob_service_want(bed->blobs, giver, &has);
	}
	blob_service_want(bed->blobs, bed->node, &message);
	told(bed, 1);
	return bed->agent.from;
}

static void failures_stay(struct bed *bed)
{
	struct node *giver = node_get(bed->nodes, "n2", NULL);
	const struct message_blob_want good = { .hash = bed->hash,
						.length = 1,
						.source = (char *)"n3" };

	node_get(bed->nodes, "n3", NULL);
	giver->peer = bed->hall.peer;
	giver->view.peers = strdup("tcp://127.0.0.1:1");
	for (char byte = 'f'; byte < 'f' + BLOB_SERVICE_FAILURES; byte++) {
		is(source_of(bed, giver, byte, NULL), "n2",
		   "a node gives what it says it has");
		is(source_of(bed, giver, byte, "n2"), "",
		   "if it fails, the controller does");
		/* Others do not: the node itself can be reached. */
		blob_service_want(bed->blobs, bed->node, &good);
	}
	is(source_of(bed, giver, 'p', NULL), "",
	   "a node that failed often is no source");
	blob_service_gone(bed->blobs, giver);
	is(source_of(bed, giver, 'q', NULL), "",
	   "nor is it when it connects again");
	ahead_ms = BLOB_SERVICE_ALONE_MS + 1000;
	is(source_of(bed, giver, 'r', NULL), "n2", "but after a while");
	is(source_of(bed, giver, 'r', "n2"), "", "and if it fails again");
	is(source_of(bed, giver, 's', NULL), "", "it is none again");
	ahead_ms = 0;
	giver->peer = NULL;
}

int main(void)
{
	static const struct wire_client_handler handler = {
		.connected = connected,
		.message = heard,
		.lost = lost,
	};
	struct blob_service_config config = { 0 };
	struct bed bed = { 0 };
	struct wire_peer *first;

	tap_begin(60);
	if (!mkdtemp(top))
		return 1;
	hall_init(&bed.hall, NULL, 0);
	effects_connect(&bed.world);
	bed.nodes = nodes_new(&bed.world.effects, NULL, &bed.changes, NULL);
	config.loop = bed.hall.loop;
	config.nodes = bed.nodes;
	bed.blobs = blob_service_new(&config, top, &bed.err);
	if (!bed.blobs)
		return 1;
	bed.agent.wire =
		wire_client_new(bed.hall.loop, NULL, bed.hall.endpoint,
				&bed.hall.keys[HALL_AGENT], bed.hall.own.public,
				&handler, &bed.agent, &bed.err);
	WAIT(&bed.hall, bed.hall.peer);
	bed.node = node_get(bed.nodes, "n1", NULL);
	bed.node->peer = bed.hall.peer;
	bed.sender = (void *)&bed.node; /* it is only told apart from others */
	comes_in(&bed);
	stays_away(&bed);
	sender_leaves(&bed);
	first = bed.hall.peer;
	bed.giver.wire =
		wire_client_new(bed.hall.loop, NULL, bed.hall.endpoint,
				&bed.hall.keys[HALL_OTHER], bed.hall.own.public,
				&handler, &bed.giver, &bed.err);
	WAIT(&bed.hall, bed.hall.peer && bed.hall.peer != first);
	failures_stay(&bed);
	bed.node->peer = NULL;
	wire_client_free(bed.agent.wire);
	wire_client_free(bed.giver.wire);
	blob_service_free(bed.blobs);
	nodes_free(bed.nodes);
	hall_clear(&bed.hall);
	file_remove_tree(AT_FDCWD, top, NULL);
	return tap_done();
}
