/* wire_peer.h - one session of the channel's server, and the list of all.
 *
 * Only for the server; other modules use wire.h.
 */
#ifndef PROTOCOL_WIRE_WIRE_PEER_H
#define PROTOCOL_WIRE_WIRE_PEER_H

#include "protocol/wire/budget.h"
#include "protocol/wire/frame.h"
#include "protocol/wire/wire.h"

#include <sys/queue.h>
#include <sys/types.h>

#define KEY_GONE "its key is no longer in the list"

TAILQ_HEAD(peer_list, wire_peer);
struct sessions;

/* A connection that has sent a message. */
struct wire_peer {
	uint8_t id[FRAMES_ID_MAX]; /* peers are compared by it */
	size_t id_size;
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
	struct outgoing_frame *unsent; /* frame to which messages are added */
	int64_t heard_ms;              /* last message, or when it ended */
	uint32_t heartbeat_ms;         /* that it was told last */
	struct budget *budget; /* of its key; NULL: it has too many sessions */
	void *data;
	struct peer_list *list; /* that it is in */
	TAILQ_ENTRY(wire_peer) next;
};

struct wire_peers {
	void *tree;              /* tsearch(3), by id */
	struct budgets *budgets; /* by key */
	struct peer_list active; /* the longest silent first */
	struct peer_list lost;   /* to be ended by the present sweep */
	struct peer_list ended;  /* to be disconnected, in order of their end */
};

/* ENOMEM; wire_peers_clear() is required also then. */
int wire_peers_init(struct wire_peers *peers, struct error *err);
void wire_peers_clear(struct wire_peers *peers);

/* The sender; NULL: this is its first message. */
struct wire_peer *wire_peers_find(struct wire_peers *peers,
				  const struct frames *frames);

/* Another active session of the peer's key, or NULL. */
struct wire_peer *wire_peers_twin(struct wire_peers *peers,
				  const struct wire_peer *peer);
/* The peer of this connection. NULL: no message came from it yet. */
struct wire_peer *wire_peers_of_fd(struct wire_peers *peers, int fd);

/* Add the sender of a first message to the active peers. NULL: ENOMEM. */
struct wire_peer *wire_peers_add(struct wire_peers *peers,
				 struct sessions *sessions,
				 struct keyring *keyring,
				 struct frames *frames);

void peer_move(struct wire_peer *peer, struct peer_list *to);
void peer_forget(struct wire_peers *peers, struct wire_peer *peer);

/* Is its key still in the keyring, with the same name and role? */
bool peer_admitted(const struct wire_peer *peer, struct keyring *keyring);

/* Is the descriptor still the same connection? libzmq does not report when a
 * connection closes, and the next one gets the same number.
 */
bool peer_connected(const struct wire_peer *peer);

#endif
