/* blob_service.c - gives nodes the blobs that they want.
 */
#include "controller/blobs/blob_service.h"
#include "controller/blobs/blob_users.h"
#include "controller/blobs/distribution_tree.h"
#include "controller/nodes/node.h"
#include "controller/store/store.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/blob/chunk_sender.h"
#include "protocol/blob/incoming.h"
#include "protocol/wire/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_MS 60000
#define CLEAN_MS 3600000
#define STALL_MS 5000 /* shorter than nodes wait for each other */

struct upload {
	char hash[BLOB_HASH_SIZE];
	struct incoming *incoming; /* NULL: this place is free */
	uint64_t bytes;
	int64_t used_ms;
};

/* The exchange of blobs between a node and others. Its failures outlive its
 * session: a node cannot leave them behind.
 */
struct sharing {
	unsigned int gives_failed;   /* failed fetches of others from it */
	unsigned int takes_failed;   /* its failed fetches in a row */
	int64_t gives_again_ms;      /* monotonic; until then it is no source */
	int64_t takes_again_ms;      /* until then only the controller sends to
					it, and what it says of others does not
					count */
	char awaits[BLOB_HASH_SIZE]; /* wanted, and not here yet */
};

struct blob_service {
	struct store *store;
	struct nodes *nodes;
	struct sharing *sharings; /* NODES_MAX of them, by node_index() */
	struct blob_store *blobs;
	struct chunk_sender *chunk_sender;
	struct distribution_tree *distribution;
	struct upload uploads[BLOB_UPLOADS_MAX];
	const struct wire_peer *senders[BLOB_UPLOADS_SENDERS_MAX];
	size_t senders_count;
	int64_t expected_ms; /* monotonic; until then more uploads may come */
	int64_t cleaned_ms;
	bool releasing; /* workspaces of old sweeps are being released */
};

/* Uploads. */

static void upload_end(struct upload *upload)
{
	incoming_free(take(upload->incoming));
}

/* NULL: the blob is not arriving. hash "": a free place; NULL: there is none.
 */
static struct upload *upload_find(struct blob_service *blobs, const char *hash)
{
	for (size_t i = 0; i < BLOB_UPLOADS_MAX; i++) {
		struct upload *upload = &blobs->uploads[i];

		if (!strcmp(upload->incoming ? upload->hash : "", hash))
			return upload;
	}
	return NULL;
}

static struct upload *upload_begin(struct blob_service *blobs, const char *hash,
				   uint64_t bytes, struct error *err)
{
	struct upload *upload = upload_find(blobs, "");

	if (!upload)
		return error_null(error_set(err, EBUSY,
					    "%d blobs are already being "
					    "received; try again "
					    "later",
					    BLOB_UPLOADS_MAX));
	upload->incoming = incoming_new(blobs->blobs, hash, bytes, err);
	if (!upload->incoming)
		return NULL;
	memcpy(upload->hash, hash, sizeof(upload->hash));
	upload->bytes = bytes;
	return upload;
}

static void note_sender(struct blob_service *blobs,
			const struct wire_peer *sender)
{
	blobs->expected_ms = clock_mono_ms() + BLOB_UPLOADS_AWAIT_MS;
	for (size_t i = 0; i < blobs->senders_count; i++)
		if (blobs->senders[i] == sender)
			return;
	if (blobs->senders_count < BLOB_UPLOADS_SENDERS_MAX)
		blobs->senders[blobs->senders_count++] = sender;
}

void blob_service_sender_gone(struct blob_service *blobs,
			      const struct wire_peer *sender)
{
	int64_t back_ms = clock_mono_ms() + BLOB_UPLOADS_BACK_MS;

	for (size_t i = 0; i < blobs->senders_count; i++) {
		if (blobs->senders[i] != sender)
			continue;
		blobs->senders[i] = blobs->senders[--blobs->senders_count];
		if (!blobs->senders_count && blobs->expected_ms > back_ms)
			blobs->expected_ms = back_ms;
		return;
	}
}

/* Write the bytes, and finish what is complete. */
static ssize_t upload_take(struct upload *upload,
			   const struct message_blob_put *message,
			   const void *data, size_t size,
			   struct reply_blob_put *reply, struct error *err)
{
	uint64_t length = incoming_length(upload->incoming);
	char hash[BLOB_HASH_SIZE];
	size_t taken = 0;
	int rc = 1;

	upload->used_ms = clock_mono_ms();
	if (size && message->offset == length) {
		if (incoming_write(upload->incoming, data, size, err) < 0) {
			upload_end(upload);
			return -1;
		}
		taken = size;
	}
	/* If checking takes longer, the sender asks again without bytes. */
	if (length + taken == upload->bytes)
		rc = incoming_finish(upload->incoming, hash, err);
	if (rc <= 0)
		upload_end(upload);
	*reply = (struct reply_blob_put){ .length = length + taken,
					  .whole = !rc };
	return rc < 0 ? -1 : (ssize_t)taken;
}

/* chunk_sender's functions; its peers are nodes. */
static bool blob_node_ready(void *arg, void *peer)
{
	const struct node *node = peer;

	return !node_peer(node) || wire_peer_ready(node_peer(node));
}

static int blob_give_piece(void *arg, void *peer,
			   const struct message_blob_piece *piece,
			   const void *data, size_t size)
{
	const struct node *node = peer;

	return node_peer(node)
		       ? wire_server_send(node_peer(node), MESSAGE_BLOB_PIECE,
					  piece, data, size, NULL)
		       : 0;
}

struct blob_service *blob_service_new(const struct blob_service_config *config,
				      const char *folder, struct error *err)
{
	owned(blob_service_free) struct blob_service *blobs =
		calloc(1, sizeof(*blobs));

	if (!blobs)
		return error_null(error_nomem(err, "blobs"));
	blobs->store = config->store;
	blobs->nodes = config->nodes;
	blobs->sharings = calloc(NODES_MAX, sizeof(*blobs->sharings));
	if (!blobs->sharings)
		return error_null(error_nomem(err, "blobs"));
	blobs->blobs = blob_store_new(folder, err);
	if (!blobs->blobs)
		return NULL;
	blobs->chunk_sender =
		chunk_sender_new(config->loop, blobs->blobs, blob_node_ready,
				 blob_give_piece, NULL, err);
	blobs->distribution = distribution_tree_new(err);
	/* Uploaders of an earlier controller may come back. */
	blobs->expected_ms = clock_mono_ms() + BLOB_UPLOADS_BACK_MS;
	return blobs->chunk_sender && blobs->distribution ? take(blobs) : NULL;
}

void blob_service_free(struct blob_service *blobs)
{
	if (!blobs)
		return;
	for (size_t i = 0; i < BLOB_UPLOADS_MAX; i++)
		upload_end(&blobs->uploads[i]);
	chunk_sender_free(blobs->chunk_sender);
	distribution_tree_free(blobs->distribution);
	blob_store_free(blobs->blobs);
	free(blobs->sharings);
	free(blobs);
}

struct blob_store *blob_service_store(const struct blob_service *blobs)
{
	return blobs->blobs;
}

static struct sharing *sharing_of(struct blob_service *blobs,
				  const struct node *node)
{
	return &blobs->sharings[node_index(node)];
}

/* People. */

/* The blob begins to arrive: nodes that await it may read it. */
static void tell_awaiting(struct blob_service *blobs, const char *hash)
{
	const struct message_blob_want want = { .hash = (char *)hash,
						.awaited = true };

	for (size_t i = 0; i < node_count(blobs->nodes); i++) {
		struct node *node = node_at(blobs->nodes, i);
		struct sharing *sharing = sharing_of(blobs, node);

		if (strcmp(sharing->awaits, hash) != 0)
			continue;
		sharing->awaits[0] = 0;
		if (node_peer(node))
			blob_service_want(blobs, node, &want);
	}
}

int blob_service_put(struct blob_service *blobs, const struct wire_peer *sender,
		     const struct message_blob_put *message, const void *data,
		     size_t size, struct reply_blob_put *reply,
		     struct error *err)
{
	struct upload *upload;
	ssize_t taken;
	bool begins;

	if (blob_store_look(blobs->blobs, message->hash, &reply->length,
			    &reply->whole, err) < 0)
		return -1;
	note_sender(blobs, sender);
	if (reply->whole)
		return 0;
	upload = upload_find(blobs, message->hash);
	if (upload && upload->bytes != message->bytes)
		return error_set(err, EBUSY,
				 "blob %.12s is already being received with "
				 "another size",
				 message->hash);
	begins = !upload;
	if (begins)
		upload =
			upload_begin(blobs, message->hash, message->bytes, err);
	if (!upload)
		return -1;
	taken = upload_take(upload, message, data, size, reply, err);
	if (begins)
		tell_awaiting(blobs, message->hash);
	if (taken > 0)
		chunk_sender_match(blobs->chunk_sender, (size_t)taken);
	return taken < 0 ? -1 : 0;
}

int blob_service_get(struct blob_service *blobs,
		     const struct message_blob_get *get,
		     struct reply_blob_get *reply, struct buffer *bytes,
		     struct error *err)
{
	struct blob_store *held = blobs->blobs;
	uint64_t length, left;
	bool whole;

	if (blob_store_look(held, get->hash, &length, &whole, err) < 0)
		return -1;
	if (!whole || get->offset > length) {
		error_set(err, ENOENT, "blob %.12s does not exist here",
			  get->hash);
		return -1;
	}
	left = length - get->offset;
	if (left > BLOB_SERVICE_PIECE)
		left = BLOB_SERVICE_PIECE;
	if (buffer_reserve(bytes, left, err) < 0 ||
	    (left && blob_store_read(held, get->hash, get->offset, bytes->data,
				     left, err) < 0))
		return -1;
	bytes->size = left;
	reply->bytes = length;
	return 0;
}

/* Nodes. */

static void blob_send_message(struct node *node, enum message_type type,
			      const void *body)
{
	struct error err;

	if (node_peer(node) &&
	    wire_server_send(node_peer(node), type, body, NULL, 0, &err) < 0)
		log_error("node=%s: %s", node_name(node), err.text);
}

/* Tell the source about the other node, before that one asks it. */
static bool name_source(struct blob_service *blobs, struct node *to,
			const char *name, struct message_blob_from *from)
{
	struct node *source = name ? node_find(blobs->nodes, name) : NULL;
	struct message_blob_grant grant = { .name = (char *)node_name(to),
					    .hash = from->hash };

	if (!source || !node_peer(source) || !node_view(source)->peers ||
	    !node_peer(to) ||
	    clock_mono_ms() < sharing_of(blobs, source)->gives_again_ms)
		return false;
	grant.public = (char *)wire_peer_public(node_peer(to));
	blob_send_message(source, MESSAGE_BLOB_GRANT, &grant);
	from->name = (char *)node_name(source);
	from->endpoint = node_view(source)->peers;
	from->public = (char *)wire_peer_public(node_peer(source));
	return true;
}

static void blob_refuse(struct node *node, const char *hash,
			const struct error *why)
{
	struct message_blob_from from = { .hash = (char *)hash,
					  .code = why->code,
					  .text = (char *)why->text };

	blob_send_message(node, MESSAGE_BLOB_FROM, &from);
}

/* Note from what nodes report which of them can reach each other. */
static void note_failures(struct blob_service *blobs, struct node *node,
			  const struct message_blob_want *want)
{
	const char *name = want->failed ? want->failed : want->source;
	struct node *other =
		name && *name ? node_find(blobs->nodes, name) : NULL;
	struct sharing *takes = sharing_of(blobs, node);
	struct sharing *gives = other ? sharing_of(blobs, other) : NULL;
	int64_t now_ms = clock_mono_ms();

	/* A node that answers "none" can be reached; it removed the blob. */
	if (!other || (want->failed && want->none) ||
	    now_ms < takes->takes_again_ms)
		return;
	if (!want->failed) {
		if (want->length)
			takes->takes_failed = gives->gives_failed = 0;
		return;
	}
	/* That a node is away is no failure. */
	if (node_peer(other) && ++gives->gives_failed >= BLOB_SERVICE_FAILURES)
		gives->gives_again_ms = now_ms + BLOB_SERVICE_ALONE_MS;
	if (++takes->takes_failed < BLOB_SERVICE_FAILURES)
		return;
	log_warning("node=%s cannot get blobs from other nodes; the "
		    "controller sends them for a while",
		    node_name(node));
	takes->takes_failed = 0;
	takes->takes_again_ms = now_ms + BLOB_SERVICE_ALONE_MS;
}

static void advise(struct blob_service *blobs, struct node *node,
		   const struct message_blob_want *want, uint64_t bytes)
{
	struct message_blob_from from = { .hash = want->hash, .bytes = bytes };
	const char *source = NULL;
	struct error err;

	bool alone = clock_mono_ms() < sharing_of(blobs, node)->takes_again_ms;
	struct distribution_tree *distribution = blobs->distribution;
	int rc = want->none && want->failed &&
				 node_find(blobs->nodes, want->failed)
			 ? distribution_tree_has(distribution, want->hash,
						 bytes, want->failed, 0, &err)
			 : 0;

	if (rc == 0)
		rc = alone ? distribution_tree_has(distribution, want->hash,
						   bytes, node_name(node),
						   want->length, &err)
			   : distribution_tree_source(distribution, want->hash,
						      bytes, node_name(node),
						      want->length,
						      want->failed, &source,
						      &err);

	if (rc < 0) {
		blob_refuse(node, want->hash, &err);
		return;
	}
	if (source && !name_source(blobs, node, source, &from)) {
		/* It cannot serve any node. */
		distribution_tree_gone(blobs->distribution, source);
		from.name = NULL;
	}
	log_debug("blob=%.12s node=%s from=%s at=%" PRIu64, want->hash,
		  node_name(node), from.name ? from.name : "here",
		  want->length);
	blob_send_message(node, MESSAGE_BLOB_FROM, &from);
}

/* The blob is not here. A node that awaits it is told only if it will not
 * come.
 */
static void send_none(struct blob_service *blobs, struct node *node,
		      const struct message_blob_want *want)
{
	struct error err;

	if (want->awaited && clock_mono_ms() < blobs->expected_ms) {
		struct sharing *sharing = sharing_of(blobs, node);

		memcpy(sharing->awaits, want->hash, sizeof(sharing->awaits));
		return;
	}
	if (want->awaited)
		error_set(&err, ENOENT,
			  "blob %.12s is no longer being sent; run regatta "
			  "image load with its file again to continue",
			  want->hash);
	else
		error_set(&err, ENOENT,
			  "blob %.12s does not exist on the controller (any "
			  "more); submit its sweep again, or load its image "
			  "file",
			  want->hash);
	blob_refuse(node, want->hash, &err);
}

void blob_service_want(struct blob_service *blobs, struct node *node,
		       const struct message_blob_want *want)
{
	const struct upload *upload;
	struct error err;
	uint64_t bytes;
	bool whole;

	if (blob_store_look(blobs->blobs, want->hash, &bytes, &whole, &err) <
	    0) {
		if (!want->source)
			blob_refuse(node, want->hash, &err);
		return;
	}
	upload = whole ? NULL : upload_find(blobs, want->hash);
	if (upload)
		bytes = upload->bytes;
	/* While the uploader is silent, failures are not those of nodes. */
	if (!upload || clock_mono_ms() - upload->used_ms < STALL_MS)
		note_failures(blobs, node, want);
	if (!whole && !upload) {
		if (!want->source)
			send_none(blobs, node, want);
	} else if (want->length > bytes) {
		error_set(&err, EPROTO,
			  "blob %.12s: the offset is beyond its end",
			  want->hash);
		blob_refuse(node, want->hash, &err);
	} else if (!want->source) {
		advise(blobs, node, want, bytes);
	} else if (node_view(node)->peers) {
		distribution_tree_has(blobs->distribution, want->hash, bytes,
				      node_name(node), want->length, NULL);
	}
}

void blob_service_read(struct blob_service *blobs, struct node *node,
		       const struct message_blob_read *read)
{
	struct error err;

	if (chunk_sender_read(blobs->chunk_sender, node, read, &err) < 0)
		wire_server_drop(node_peer(node), err.code, err.text);
}

#define DENIED "blob %.12s is needed by no task or image operation of this node"

void blob_service_deny_want(struct node *node,
			    const struct message_blob_want *want)
{
	struct error err;

	error_set(&err, EACCES, DENIED, want->hash);
	blob_refuse(node, want->hash, &err);
}

void blob_service_deny_read(struct node *node,
			    const struct message_blob_read *read)
{
	struct message_blob_piece piece = { .hash = read->hash,
					    .offset = read->offset,
					    .code = EACCES };
	struct error err;

	error_set(&err, EACCES, DENIED, read->hash);
	piece.text = err.text;
	blob_send_message(node, MESSAGE_BLOB_PIECE, &piece);
}

void blob_service_revoked(struct blob_service *blobs, const char *name)
{
	struct message_blob_grant grant = { .name = (char *)name };

	for (size_t i = 0; i < node_count(blobs->nodes); i++)
		blob_send_message(node_at(blobs->nodes, i), MESSAGE_BLOB_GRANT,
				  &grant);
}

void blob_service_gone(struct blob_service *blobs, struct node *node)
{
	sharing_of(blobs, node)->awaits[0] = 0;
	chunk_sender_forget(blobs->chunk_sender, node);
	distribution_tree_gone(blobs->distribution, node_name(node));
}

void blob_service_tick(struct blob_service *blobs)
{
	int64_t now = clock_mono_ms();
	uint64_t bytes = 0;
	struct error err;

	for (size_t i = 0; i < BLOB_UPLOADS_MAX; i++)
		if (now - blobs->uploads[i].used_ms > IDLE_MS)
			upload_end(&blobs->uploads[i]);
	if (blobs->releasing)
		blobs->releasing =
			blob_users_release(blobs->blobs, blobs->store);
	if (blobs->cleaned_ms && now - blobs->cleaned_ms < CLEAN_MS)
		return;
	blobs->cleaned_ms = now;
	blobs->releasing = true;
	if (blob_store_clean(blobs->blobs, BLOB_SERVICE_AGE_MS, &bytes, &err) <
	    0)
		log_warning("%s", err.text);
	else if (bytes)
		log_info("blobs: %" PRIu64 " unused bytes removed", bytes);
}
