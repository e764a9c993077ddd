/* unsent.h - counts the bytes that peers were sent and have not received, and
 * bounds them.
 *
 * libzmq limits whole messages (ZMQ_SNDHWM), not bytes. This module counts the
 * bytes of messages that are queued here, and of those that libzmq was given,
 * minus those whose receipt the peer's machine has acknowledged (TCP_INFO,
 * tcpi_bytes_acked). A key may have BUDGET_UNSENT_MAX of them, all keys
 * together BUDGET_UNSENT_ALL. Where that is too little, the peer with most, of
 * the key or of all, is heard no more, gets no more messages, and is cut in the
 * next turn of the loop.
 *
 * Acknowledgements are asked for only where a peer or a sum has grown by much.
 * Of connections that are not TCP, queued bytes alone are counted.
 *
 * Only for the server.
 */
#ifndef PROTOCOL_WIRE_UNSENT_H
#define PROTOCOL_WIRE_UNSENT_H

#include "protocol/wire/budget.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <sys/queue.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

struct wire_peer;

/* What is counted of a peer. The caller sets the first members. */
struct unsent_peer {
	struct wire_peer *peer; /* whose it is */
	int fd;                 /* its connection, while the inode is this */
	ino_t inode;
	struct budget *budget; /* of its key */
	bool alone; /* other sessions of the key are not cut with it */
	/* Of unsent.c: */
	struct unsent *unsent; /* NULL: nothing is counted */
	size_t queued;         /* bytes that libzmq was not given yet */
	uint64_t given;        /* bytes on the wire that it was given */
	size_t bytes;          /* of both, not received when last looked at */
	size_t cut_bytes;      /* it is to be cut for so many; 0: no */
	TAILQ_ENTRY(unsent_peer) next;
};

/* Cut this peer, for which so many bytes are unsent: unsent_leave(). */
typedef void unsent_cut_fn(void *arg, struct wire_peer *peer, size_t bytes);

/* budgets: borrowed. */
struct unsent;
struct unsent *unsent_new(sd_event *loop, const struct budgets *budgets,
			  unsent_cut_fn *cut, void *arg, struct error *err);
void unsent_free(struct unsent *unsent); /* all peers have left */
OWNED_POINTER(struct unsent, unsent_free)

/* Count from now on, and no more. To leave twice is fine. */
void unsent_join(struct unsent *unsent, struct unsent_peer *peer);
void unsent_leave(struct unsent_peer *peer);

/* A message of so many bytes was queued for the peer. */
void unsent_queued(struct unsent_peer *peer, size_t bytes);
/* So many queued bytes were given to libzmq, as `wire` bytes on the wire; 0:
 * they were dropped.
 */
void unsent_given(struct unsent_peer *peer, size_t bytes, size_t wire);

/* Has the peer received all but UNSENT_BULK, and does the server have room for
 * more?
 */
#define UNSENT_BULK (8 << 20)
bool unsent_is_low(struct unsent_peer *peer);

#endif
