/* chunk_receiver.h - receives one blob in pieces, from one source after
 * another.
 *
 * It reads ahead: up to CHUNK_RECEIVER_WINDOW pieces of CHUNK_RECEIVER_PIECE
 * bytes are requested and not here yet. Pieces come in order. A piece that does
 * not continue the blob comes from an earlier source, and is dropped.
 */
#pragma once

#include "protocol/blob/blob_store.h"
#include "protocol/blob/incoming.h"
#include "protocol/message/message.h"

#define CHUNK_RECEIVER_PIECE (512 << 10)
#define CHUNK_RECEIVER_WINDOW 8

/* Send a read to the present source; -1: not possible. */
typedef int chunk_receiver_send_fn(void *arg,
				   const struct message_blob_read *read);

struct chunk_receiver;

/* Errors as of incoming_new(). Nothing is requested yet. */
struct chunk_receiver *chunk_receiver_new(struct blob_store *blobs,
					  const char *hash, uint64_t bytes,
					  chunk_receiver_send_fn *send,
					  void *arg, struct error *err);
void chunk_receiver_free(
	struct chunk_receiver *receiver); /* the received bytes stay */
OWNED_POINTER(struct chunk_receiver, chunk_receiver_free)

uint64_t chunk_receiver_length(const struct chunk_receiver *receiver);
uint64_t chunk_receiver_bytes(const struct chunk_receiver *receiver);

/* There is a (new) source: request the missing pieces. -1: not possible. */
int chunk_receiver_begin(struct chunk_receiver *receiver);

/* A piece has arrived. 1: all bytes are here, call chunk_receiver_finish(); 0:
 * more will come; -1: the source does not have it, or ENOSPC ...
 */
int chunk_receiver_piece(struct chunk_receiver *receiver,
			 const struct message_blob_piece *piece,
			 const void *data, size_t size, struct error *err);

/* As incoming_finish(). 1: call again. EBADMSG: start again from the first
 * byte.
 */
int chunk_receiver_finish(struct chunk_receiver *receiver, struct error *err);
