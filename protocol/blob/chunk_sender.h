/* chunk_sender.h - sends pieces of blobs to peers that read them.
 *
 * A read waits until its bytes are here, if the blob is still arriving. One
 * piece is sent in a turn of the loop, at the lowest priority, so that logs and
 * orders go first.
 */
#pragma once

#include "protocol/blob/blob_store.h"
#include "protocol/message/message.h"

#include <stdbool.h>
#include <systemd/sd-event.h>

/* Waiting reads of one peer: CHUNK_RECEIVER_WINDOW each for 64 blobs, a
 * node's largest number of tasks.
 */
#define CHUNK_SENDER_READS_MAX 512

/* May a piece be sent to the peer now? */
typedef bool chunk_sender_ready_fn(void *arg, void *peer);
/* Send to the peer. -1: not now; it is tried again a little later. */
typedef int chunk_sender_send_fn(void *arg, void *peer,
				 const struct message_blob_piece *piece,
				 const void *data, size_t size);

struct chunk_sender;
struct chunk_sender *chunk_sender_new(sd_event *loop, struct blob_store *blobs,
				      chunk_sender_ready_fn *ready,
				      chunk_sender_send_fn *send, void *arg,
				      struct error *err);
void chunk_sender_free(struct chunk_sender *sender);
OWNED_POINTER(struct chunk_sender, chunk_sender_free)

/* A read of a peer (any pointer that identifies it). A read that fails is
 * answered with a piece whose text says why. A read that waits already, because
 * the peer repeated it, is answered once. EBUSY: too many reads of the peer
 * wait.
 */
int chunk_sender_read(struct chunk_sender *sender, void *peer,
		      const struct message_blob_read *read, struct error *err);

/* Drop the reads of a peer that is gone. */
void chunk_sender_forget(struct chunk_sender *sender, const void *peer);

/* A blob has grown: answer reads that wait for it. */
void chunk_sender_wake(struct chunk_sender *sender);

/* So many bytes were received: send as many now, so that uploads do not keep
 * readers waiting.
 */
void chunk_sender_match(struct chunk_sender *sender, size_t size);
