/* chunk_receiver.h - receives one content in pieces, from one source after
 * another.
 *
 * It reads ahead: CHUNK_RECEIVER_WINDOW pieces of CHUNK_RECEIVER_PIECE bytes
 * are asked for and not yet here. Pieces come in their order; one that does not
 * continue what is here was asked of a source that was left, and is dropped.
 */
#ifndef PROTOCOL_BLOB_CHUNK_RECEIVER_H
#define PROTOCOL_BLOB_CHUNK_RECEIVER_H

#include "protocol/blob/blob_store.h"
#include "protocol/blob/incoming.h"
#include "protocol/message/message.h"

#define CHUNK_RECEIVER_PIECE (512 << 10)
#define CHUNK_RECEIVER_WINDOW 8

/* Send a read to the source of now; -1: it cannot be. */
typedef int chunk_receiver_send_fn(void *arg,
				   const struct message_content_read *read);

struct chunk_receiver;

/* EBUSY, ENOSPC ...: incoming_new(). Nothing is asked for yet. */
struct chunk_receiver *chunk_receiver_new(struct blob_store *contents,
					  const char *hash, uint64_t bytes,
					  chunk_receiver_send_fn *send,
					  void *arg, struct error *err);
void chunk_receiver_free(
	struct chunk_receiver *receiver); /* what has come is kept */
OWNED_POINTER(struct chunk_receiver, chunk_receiver_free)

uint64_t chunk_receiver_length(const struct chunk_receiver *receiver);
uint64_t chunk_receiver_bytes(const struct chunk_receiver *receiver);
const char *chunk_receiver_hash(const struct chunk_receiver *receiver);

/* There is a source (again): ask it for what is missing. -1: it cannot be
 * asked.
 */
int chunk_receiver_begin(struct chunk_receiver *receiver);

/* A piece has come. 1: all is here, chunk_receiver_finish() follows; 0: there
 * is more to come; -1: the source says that it has none of it, or ENOSPC ...
 */
int chunk_receiver_piece(struct chunk_receiver *receiver,
			 const struct message_content_piece *piece,
			 const void *data, size_t size, struct error *err);

/* As incoming_finish(): 1: call again. EBADMSG: all has to come anew. */
int chunk_receiver_finish(struct chunk_receiver *receiver, struct error *err);

#endif
