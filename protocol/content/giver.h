/* giver.h - answers those who read contents, a piece at a time.
 *
 * Reads wait here until their bytes are there (of a content that is still
 * coming in) and until nothing more urgent is to be done: one piece is sent in
 * a turn of the loop, at the lowest priority, so logs and orders pass by.
 */
#ifndef PROTOCOL_CONTENT_GIVER_H
#define PROTOCOL_CONTENT_GIVER_H

#include "protocol/content/contents.h"
#include "protocol/message.h"

#include <systemd/sd-event.h>

/* Reads that wait, of one peer: of 64 contents at a time, a node's largest
 * number of tasks, TAKER_WINDOW each.
 */
#define GIVER_READS_MAX 512

/* Send to the peer. -1: not now, it is tried again a little later. */
typedef int giver_send_fn(void *arg, void *peer,
			  const struct message_content_piece *piece,
			  const void *data, size_t size);

struct giver;
struct giver *giver_new(sd_event *loop, struct contents *contents,
			giver_send_fn *send, void *arg, struct error *err);
void giver_free(struct giver *giver);
OWNED_POINTER(struct giver, giver_free)

/* A peer (any pointer that stands for one) reads. What cannot be is answered
 * with a piece that says why. A read that waits already, as of one who lost
 * patience, is answered once. EBUSY: too many reads of it wait.
 */
int giver_read(struct giver *giver, void *peer,
	       const struct message_content_read *read, struct error *err);

/* The peer is gone. */
void giver_forget(struct giver *giver, const void *peer);

/* Something has come in that reads may wait for. */
void giver_wake(struct giver *giver);

/* So many bytes have come in: let as many go out now, or those who send would
 * keep those who read waiting.
 */
void giver_match(struct giver *giver, size_t size);

#endif
