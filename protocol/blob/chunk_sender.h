/* chunk_sender.h - sends pieces of contents to those who read them.
 *
 * Reads wait here until their bytes are there (of a content that is still
 * coming in) and until nothing more urgent is to be done: one piece is sent in
 * a turn of the loop, at the lowest priority, so logs and orders pass by.
 */
#ifndef PROTOCOL_BLOB_CHUNK_SENDER_H
#define PROTOCOL_BLOB_CHUNK_SENDER_H

#include "protocol/blob/blob_store.h"
#include "protocol/message/message.h"

#include <systemd/sd-event.h>

/* Reads that wait, of one peer: of 64 contents at a time, a node's largest
 * number of tasks, CHUNK_RECEIVER_WINDOW each.
 */
#define CHUNK_SENDER_READS_MAX 512

/* Send to the peer. -1: not now, it is tried again a little later. */
typedef int chunk_sender_send_fn(void *arg, void *peer,
				 const struct message_content_piece *piece,
				 const void *data, size_t size);

struct chunk_sender;
struct chunk_sender *chunk_sender_new(sd_event *loop,
				      struct blob_store *contents,
				      chunk_sender_send_fn *send, void *arg,
				      struct error *err);
void chunk_sender_free(struct chunk_sender *chunk_sender);
OWNED_POINTER(struct chunk_sender, chunk_sender_free)

/* A peer (any pointer that stands for one) reads. What cannot be is answered
 * with a piece that says why. A read that waits already, as of one who lost
 * patience, is answered once. EBUSY: too many reads of it wait.
 */
int chunk_sender_read(struct chunk_sender *chunk_sender, void *peer,
		      const struct message_content_read *read,
		      struct error *err);

/* The peer is gone. */
void chunk_sender_forget(struct chunk_sender *chunk_sender, const void *peer);

/* Something has come in that reads may wait for. */
void chunk_sender_wake(struct chunk_sender *chunk_sender);

/* So many bytes have come in: let as many go out now, or those who send would
 * keep those who read waiting.
 */
void chunk_sender_match(struct chunk_sender *chunk_sender, size_t size);

#endif
