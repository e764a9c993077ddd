/* taker.c - one content that comes in, in pieces, from one source after
 * another.
 */
#include "protocol/content/taker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct taker {
	struct incoming *incoming;
	char hash[CONTENT_HASH_SIZE];
	uint64_t bytes;
	uint64_t asked; /* up to here */
	taker_send_fn *send;
	void *arg;
};

struct taker *taker_new(struct contents *contents, const char *hash,
			uint64_t bytes, taker_send_fn *send, void *arg,
			struct error *err)
{
	owned(taker_free) struct taker *taker = calloc(1, sizeof(*taker));

	if (!taker) {
		error_nomem(err, "content");
		return NULL;
	}
	taker->incoming = incoming_new(contents, hash, bytes, err);
	if (!taker->incoming)
		return NULL;
	memcpy(taker->hash, hash, sizeof(taker->hash));
	taker->bytes = bytes;
	taker->send = send;
	taker->arg = arg;
	return take(taker);
}

void taker_free(struct taker *taker)
{
	if (!taker)
		return;
	incoming_free(taker->incoming);
	free(taker);
}

uint64_t taker_length(const struct taker *taker)
{
	return incoming_length(taker->incoming);
}

uint64_t taker_bytes(const struct taker *taker)
{
	return taker->bytes;
}

const char *taker_hash(const struct taker *taker)
{
	return taker->hash;
}

static int ask(struct taker *taker)
{
	uint64_t limit = incoming_length(taker->incoming) +
			 (uint64_t)TAKER_WINDOW * TAKER_PIECE;

	while (taker->asked < taker->bytes && taker->asked < limit) {
		uint64_t left = taker->bytes - taker->asked;
		struct message_content_read read = {
			.hash = taker->hash,
			.offset = taker->asked,
			.size = left < TAKER_PIECE ? (uint32_t)left
						   : TAKER_PIECE,
		};

		if (taker->send(taker->arg, &read) < 0)
			return -1;
		taker->asked += read.size;
	}
	return 0;
}

int taker_begin(struct taker *taker)
{
	taker->asked = incoming_length(taker->incoming);
	return ask(taker);
}

int taker_piece(struct taker *taker, const struct message_content_piece *piece,
		const void *data, size_t size, struct error *err)
{
	if (piece->text)
		return error_set(err, piece->code ? (int)piece->code : EIO,
				 "%s", piece->text);
	if (piece->offset != incoming_length(taker->incoming) || !size)
		return incoming_length(taker->incoming) == taker->bytes;
	if (incoming_write(taker->incoming, data, size, err) < 0)
		return -1;
	if (incoming_length(taker->incoming) == taker->bytes)
		return 1;
	return ask(taker) < 0 ? error_set(err, ENOTCONN,
					  "content %.12s: its source cannot be "
					  "asked",
					  taker->hash)
			      : 0;
}

int taker_finish(struct taker *taker, struct error *err)
{
	char hash[CONTENT_HASH_SIZE];

	return incoming_finish(taker->incoming, hash, err);
}
