/* wire_peer.c - one session of the channel's server, and the list of all.
 */
#include "protocol/wire/wire_peer.h"

#include "protocol/base/clock.h"
#include "protocol/wire/zap.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int wire_peers_init(struct wire_peers *peers, struct error *err)
{
	*peers = (struct wire_peers){ 0 };
	TAILQ_INIT(&peers->active);
	TAILQ_INIT(&peers->lost);
	TAILQ_INIT(&peers->ended);
	peers->budgets = budgets_new();
	return peers->budgets ? 0 : error_nomem(err, "budgets");
}

void wire_peers_clear(struct wire_peers *peers)
{
	struct wire_peer *peer;

	while ((peer = TAILQ_FIRST(&peers->active)) ||
	       (peer = TAILQ_FIRST(&peers->lost)) ||
	       (peer = TAILQ_FIRST(&peers->ended)))
		peer_forget(peers, peer);
	budgets_free(peers->budgets);
	peers->budgets = NULL;
}

static int compare_ids(const void *a, const void *b)
{
	const struct wire_peer *x = a, *y = b;

	if (x->id_size != y->id_size)
		return x->id_size < y->id_size ? -1 : 1;
	return memcmp(x->id, y->id, x->id_size);
}

struct wire_peer *wire_peers_find(struct wire_peers *peers,
				  const struct frames *frames)
{
	struct wire_peer key = { .id_size = frames->id_size };
	void *found;

	memcpy(key.id, frames->id, frames->id_size);
	found = tfind(&key, &peers->tree, compare_ids);
	return found ? *(struct wire_peer **)found : NULL;
}

struct wire_peer *wire_peers_twin(struct wire_peers *peers,
				  const struct wire_peer *peer)
{
	struct wire_peer *twin;

	TAILQ_FOREACH(twin, &peers->active, next)
	{
		if (twin != peer && !strcmp(twin->public, peer->public))
			return twin;
	}
	return NULL;
}

struct wire_peer *wire_peers_of_fd(struct wire_peers *peers, int fd)
{
	struct wire_peer *peer;

	TAILQ_FOREACH(peer, &peers->active, next)
	{
		if (peer->fd == fd && peer_connected(peer))
			return peer;
	}
	return NULL;
}

void peer_move(struct wire_peer *peer, struct peer_list *to)
{
	if (peer->list)
		TAILQ_REMOVE(peer->list, peer, next);
	peer->list = to;
	if (to)
		TAILQ_INSERT_TAIL(to, peer, next);
}

void peer_forget(struct wire_peers *peers, struct wire_peer *peer)
{
	tdelete(peer, &peers->tree, compare_ids);
	peer_move(peer, NULL);
	budget_leave(peer->budget, clock_mono_ms());
	free(peer);
}

/* A text of the connection, cut to fit; "" when there is none. */
static void metadata(struct frames *frames, const char *property, char *to,
		     size_t size)
{
	const char *text = zmq_msg_gets(&frames->text, property);

	snprintf(to, size, "%s", text ? text : "");
}

struct wire_peer *wire_peers_add(struct wire_peers *peers,
				 struct sessions *sessions,
				 struct keyring *keyring, struct frames *frames)
{
	const struct key *key;
	struct wire_peer *peer = calloc(1, sizeof(*peer));
	struct stat st;

	if (!peer)
		return NULL;
	memcpy(peer->id, frames->id, frames->id_size);
	peer->id_size = frames->id_size;
	peer->sessions = sessions;
	metadata(frames, "User-Id", peer->name, sizeof(peer->name));
	metadata(frames, ZAP_KEY, peer->public, sizeof(peer->public));
	metadata(frames, "Peer-Address", peer->address, sizeof(peer->address));
	key = keyring_known(keyring, peer->public);
	peer->role =
		key && !strcmp(key->name, peer->name) ? key->role : ROLE_NONE;
	peer->fd = zmq_msg_get(&frames->text, ZMQ_SRCFD);
	peer->inode = fstat(peer->fd, &st) == 0 ? st.st_ino : 0;
	peer->heard_ms = clock_mono_ms();
	if (!tsearch(peer, &peers->tree, compare_ids)) {
		free(peer);
		return NULL;
	}
	peer_move(peer, &peers->active);
	peer->budget = budget_join(peers->budgets, peer->public, peer->role,
				   peer->heard_ms);
	return peer;
}

const char *wire_peer_name(const struct wire_peer *peer)
{
	return peer->name;
}

const char *wire_peer_public(const struct wire_peer *peer)
{
	return peer->public;
}

const char *wire_peer_address(const struct wire_peer *peer)
{
	return peer->address;
}

uint32_t wire_peer_heartbeat_ms(const struct wire_peer *peer)
{
	return peer->heartbeat_ms;
}

enum role wire_peer_role(const struct wire_peer *peer)
{
	return peer->role;
}

void wire_peer_set_data(struct wire_peer *peer, void *data)
{
	peer->data = data;
}

void *wire_peer_data(const struct wire_peer *peer)
{
	return peer->data;
}

bool wire_peer_lagged(struct wire_peer *peer)
{
	bool lagged = peer->lagged;

	peer->lagged = false;
	return lagged;
}

bool peer_admitted(const struct wire_peer *peer, struct keyring *keyring)
{
	const struct key *key = keyring_known(keyring, peer->public);

	return key && key->role == peer->role && !strcmp(key->name, peer->name);
}

bool peer_connected(const struct wire_peer *peer)
{
	struct stat st;

	return peer->fd < 0 ||
	       (fstat(peer->fd, &st) == 0 && st.st_ino == peer->inode);
}
