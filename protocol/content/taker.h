/* taker.h - one content that comes in, in pieces, from one source after
 * another.
 *
 * It reads ahead: TAKER_WINDOW pieces of TAKER_PIECE bytes are asked for and
 * not yet here. Pieces come in their order; one that does not continue what is
 * here was asked of a source that was left, and is dropped.
 */
#ifndef PROTOCOL_CONTENT_TAKER_H
#define PROTOCOL_CONTENT_TAKER_H

#include "protocol/content/contents.h"
#include "protocol/message.h"

#define TAKER_PIECE (512 << 10)
#define TAKER_WINDOW 8

/* Send a read to the source of now; -1: it cannot be. */
typedef int taker_send_fn(void *arg, const struct message_content_read *read);

struct taker;

/* EBUSY, ENOSPC ...: incoming_new(). Nothing is asked for yet. */
struct taker *taker_new(struct contents *contents, const char *hash,
			uint64_t bytes, taker_send_fn *send, void *arg,
			struct error *err);
void taker_free(struct taker *taker); /* what has come is kept */
OWNED_POINTER(struct taker, taker_free)

uint64_t taker_length(const struct taker *taker);
uint64_t taker_bytes(const struct taker *taker);
const char *taker_hash(const struct taker *taker);

/* There is a source (again): ask it for what is missing. -1: it cannot be
 * asked.
 */
int taker_begin(struct taker *taker);

/* A piece has come. 1: all is here, taker_finish() follows; 0: there is more to
 * come; -1: the source says that it has none of it, or ENOSPC ...
 */
int taker_piece(struct taker *taker, const struct message_content_piece *piece,
		const void *data, size_t size, struct error *err);

/* As incoming_finish(): 1: call again. EBADMSG: all has to come anew. */
int taker_finish(struct taker *taker, struct error *err);

#endif
