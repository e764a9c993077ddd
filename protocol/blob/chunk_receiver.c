/* chunk_receiver.c - receives one blob in pieces, from one source after
 * another.
 */
#include "protocol/blob/chunk_receiver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct chunk_receiver {
	struct incoming *incoming;
	char hash[BLOB_HASH_SIZE];
	uint64_t bytes;
	uint64_t asked; /* up to here */
	chunk_receiver_send_fn *send;
	void *arg;
};

struct chunk_receiver *chunk_receiver_new(struct blob_store *blobs,
					  const char *hash, uint64_t bytes,
					  chunk_receiver_send_fn *send,
					  void *arg, struct error *err)
{
	owned(chunk_receiver_free) struct chunk_receiver *receiver =
		calloc(1, sizeof(*receiver));

	if (!receiver)
		return error_null(error_nomem(err, "blob"));
	receiver->incoming = incoming_new(blobs, hash, bytes, err);
	if (!receiver->incoming)
		return NULL;
	memcpy(receiver->hash, hash, sizeof(receiver->hash));
	receiver->bytes = bytes;
	receiver->send = send;
	receiver->arg = arg;
	return take(receiver);
}

void chunk_receiver_free(struct chunk_receiver *receiver)
{
	if (!receiver)
		return;
	incoming_free(receiver->incoming);
	free(receiver);
}

uint64_t chunk_receiver_length(const struct chunk_receiver *receiver)
{
	return incoming_length(receiver->incoming);
}

uint64_t chunk_receiver_bytes(const struct chunk_receiver *receiver)
{
	return receiver->bytes;
}

static int chunk_receiver_ask(struct chunk_receiver *receiver)
{
	uint64_t limit = incoming_length(receiver->incoming) +
			 (uint64_t)CHUNK_RECEIVER_WINDOW * CHUNK_RECEIVER_PIECE;

	while (receiver->asked < receiver->bytes && receiver->asked < limit) {
		uint64_t left = receiver->bytes - receiver->asked;
		struct message_blob_read read = {
			.hash = receiver->hash,
			.offset = receiver->asked,
			.size = left < CHUNK_RECEIVER_PIECE
					? (uint32_t)left
					: CHUNK_RECEIVER_PIECE,
		};

		if (receiver->send(receiver->arg, &read) < 0)
			return -1;
		receiver->asked += read.size;
	}
	return 0;
}

int chunk_receiver_begin(struct chunk_receiver *receiver)
{
	receiver->asked = incoming_length(receiver->incoming);
	return chunk_receiver_ask(receiver);
}

int chunk_receiver_piece(struct chunk_receiver *receiver,
			 const struct message_blob_piece *piece,
			 const void *data, size_t size, struct error *err)
{
	if (piece->text)
		return error_set(err, piece->code ? (int)piece->code : EIO,
				 "%s", piece->text);
	if (piece->offset != incoming_length(receiver->incoming) || !size)
		return incoming_length(receiver->incoming) == receiver->bytes;
	if (incoming_write(receiver->incoming, data, size, err) < 0)
		return -1;
	if (incoming_length(receiver->incoming) == receiver->bytes)
		return 1;
	return chunk_receiver_ask(receiver) < 0
		       ? error_set(err, ENOTCONN,
				   "blob %.12s: the request to "
				   "its source cannot be sent",
				   receiver->hash)
		       : 0;
}

int chunk_receiver_finish(struct chunk_receiver *receiver, struct error *err)
{
	char hash[BLOB_HASH_SIZE];

	return incoming_finish(receiver->incoming, hash, err);
}
