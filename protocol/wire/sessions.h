/* sessions.h - the sessions of a server: their limits in time, and their end.
 *
 * A session ends when its key is no longer in the keyring, when it is silent
 * for three heartbeats, when its connection breaks, or when it is refused or
 * dropped (wire.h). The peer is told why, and its connection is closed a moment
 * later.
 *
 * Only for the server; other modules use wire.h.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/wire/budget.h"
#include "protocol/wire/frame.h"
#include "protocol/wire/wire.h"

#include <sys/queue.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

/* Counts the bytes that peers were sent and have not received, and
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

struct wire_peer;

/* What is counted of a peer. The caller sets the first members. */
struct unsent_peer {
	struct wire_peer *peer; /* whose it is */
	int fd;                 /* its connection, while the inode is this */
	ino_t inode;
	struct budget *budget; /* of its key */
	bool alone; /* other sessions of the key are not cut with it */
	/* Of the unsent messages: */
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
void unsent_free(struct unsent *unsent); /* all peers have left */
OWNED_POINTER(struct unsent, unsent_free)

/* Count from now on, and no more. To leave twice is fine. */

/* Has the peer received all but UNSENT_BULK, and does the server have room for
 * more?
 */
#define UNSENT_BULK (8 << 20)

#define KEY_GONE "its key is no longer in the list"

TAILQ_HEAD(peer_list, wire_peer);
struct outgoing;

/* A connection that has sent a message. */
struct wire_peer {
	struct frames_id id;
	struct sessions *sessions; /* that it is one of */
	char name[KEY_NAME_SIZE];
	char public[KEY_TEXT_SIZE];
	char address[64];
	enum role role;
	int fd; /* libzmq's; the same connection while its inode is the same */
	ino_t inode;
	bool greeted; /* hello was delivered, gone() not yet */
	bool ended;   /* its messages are ignored */
	bool closed;  /* the last sweep found its connection closed */
	bool lagged;
	struct outgoing_frame *open; /* frame to which messages are added */
	struct unsent_peer unsent;
	int64_t heard_ms;      /* last message, or when it ended */
	uint32_t heartbeat_ms; /* that it was told last */
	struct budget *budget; /* of its key; NULL: it has too many sessions */
	void *data;
	struct peer_list *list; /* that it is in */
	TAILQ_ENTRY(wire_peer) next;
};

/* All pointers are borrowed; the handler is copied. */
struct sessions;
struct sessions *sessions_new(sd_event *loop, struct keyring *keyring,
			      struct outgoing *outgoing,
			      const struct wire_server_handler *handler,
			      void *arg, struct error *err);
void sessions_free(struct sessions *sessions);
OWNED_POINTER(struct sessions, sessions_free)

/* The peer of this id, or of this connection. NULL: no message came from it
 * yet.
 */
struct wire_peer *sessions_peer(struct sessions *sessions,
				const struct frames_id *id);
struct wire_peer *sessions_of_fd(struct sessions *sessions, int fd);
/* Add the sender of a first message. NULL: ENOMEM. */
struct wire_peer *sessions_add(struct sessions *sessions,
			       struct frames *frames);

/* A message of the peer was accepted for reading. */
void sessions_heard(struct wire_peer *peer);
/* A valid hello begins a session, also within one. False: the peer was refused
 * while the old session ended.
 */
bool sessions_begin(struct wire_peer *peer);

/* The present time between heartbeats, which the peer is to be told. */
uint32_t sessions_pace(struct wire_peer *peer);

/* Send at once, without the queue: for messages that need no commit. */
void sessions_send_now(struct wire_peer *peer, enum message_type type,
		       const void *body);
/* Refuse one request (0: all that the peer sent), and go on. */
void sessions_refuse_request(struct wire_peer *peer, uint64_t request, int code,
			     const char *why);
/* End the peer's session, which costs the server too much: an agent may connect
 * again at once, the key of a person is refused for WIRE_BAN_MS.
 */
void sessions_cut(struct wire_peer *peer, const char *why);
/* Pass a refusal to the handler, unless there were many lately. known: who is a
 * key of the keyring; strangers do not hide what such a key is told.
 */
void sessions_report(struct sessions *sessions, bool known, const char *who,
		     const char *why);

/* A connection is about to close: the next sweeps look at all of them. */
void sessions_look(struct sessions *sessions);

struct budgets *sessions_budgets(const struct sessions *sessions);

/* See wire.h. */
void sessions_flush(struct sessions *sessions);
void sessions_recheck(struct sessions *sessions);
void sessions_set_heartbeat(struct sessions *sessions, uint32_t heartbeat_ms);
void sessions_pause(struct sessions *sessions, bool paused);
