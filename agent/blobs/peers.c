/* peers.c - exchanges blobs between agents, without the controller.
 */
#include "agent/blobs/peers.h"

#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/blob/chunk_sender.h"
#include "protocol/wire/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <zmq.h>

#define IDLE_MS 10000 /* a link without use is closed after that */

/* The connection to another agent that we read from. */
struct link {
	struct peers *peers;
	char name[KEY_NAME_SIZE];
	char public[KEY_TEXT_SIZE];
	char endpoint[256];
	struct wire_client *wire;
	bool up;
	bool replaced; /* a newer link has this name */
	unsigned int users;
	int64_t used_ms;
	TAILQ_ENTRY(link) next;
};

/* An agent that may read a blob. */
struct grant {
	char name[KEY_NAME_SIZE];
	char hash[BLOB_HASH_SIZE];
	TAILQ_ENTRY(grant) next;
};

struct peers {
	sd_event *loop;
	const struct key *key;
	struct peers_handler handler;
	void *arg;
	struct keyring *keyring;
	struct wire_server *server; /* NULL: it could not listen */
	struct chunk_sender *chunk_sender;
	char endpoint[300];
	void *zmq; /* context of the links */
	sd_event_source *idle;
	TAILQ_HEAD(, link) links;
	TAILQ_HEAD(, grant) grants; /* the newest last */
	size_t grants_count;
};

/* Serving. A peer of NULL is the controller. */

static bool peers_is_ready(void *arg, void *peer)
{
	return !peer || wire_peer_ready(peer);
}

static int peers_send_piece(void *arg, void *peer,
			    const struct message_blob_piece *piece,
			    const void *data, size_t size)
{
	struct peers *peers = arg;
	int rc;

	if (!peer)
		return peers->handler.to_controller(peers->arg, piece, data,
						    size);
	rc = wire_server_send(peer, MESSAGE_BLOB_PIECE, piece, data, size,
			      NULL);
	wire_server_flush(peers->server);
	return rc;
}

static void peers_welcome(struct peers *peers, struct wire_peer *peer)
{
	struct message_welcome message = {
		.version = PROTOCOL_VERSION,
		.heartbeat_ms = WIRE_HEARTBEAT_MS,
		.time_ms = (uint64_t)clock_wall_ms(),
	};

	wire_server_send(peer, MESSAGE_WELCOME, &message, NULL, 0, NULL);
	wire_server_flush(peers->server);
}

static void peers_drop_grant(struct peers *peers, struct grant *grant)
{
	TAILQ_REMOVE(&peers->grants, grant, next);
	peers->grants_count--;
	free(grant);
}

static struct grant *peers_find_grant(struct peers *peers, const char *name,
				      const char *hash)
{
	struct grant *grant;

	TAILQ_FOREACH(grant, &peers->grants, next)
		if (!strcmp(grant->name, name) &&
		    (!hash || !strcmp(grant->hash, hash)))
			return grant;
	return NULL;
}

static void peers_read_from_us(struct peers *peers, struct wire_peer *peer,
			       const struct message_blob_read *read)
{
	struct message_blob_piece piece = {
		.hash = read->hash,
		.offset = read->offset,
		.code = EACCES,
		.text = (char *)"the controller did not say that this node may "
				"read it",
	};
	struct error err;

	if (!peers_find_grant(peers, wire_peer_name(peer), read->hash))
		peers_send_piece(peers, peer, &piece, NULL, 0);
	else if (chunk_sender_read(peers->chunk_sender, peer, read, &err) < 0)
		wire_server_drop(peer, err.code, err.text);
}

static void peers_take_message(void *arg, struct wire_peer *peer,
			       enum message_type type, void *body,
			       const void *payload, size_t size)
{
	struct peers *peers = arg;

	if (type == MESSAGE_HELLO)
		peers_welcome(peers, peer);
	else if (type == MESSAGE_BLOB_READ)
		peers_read_from_us(peers, peer, body);
}

static void peers_peer_gone(void *arg, struct wire_peer *peer, const char *why)
{
	struct peers *peers = arg;

	chunk_sender_forget(peers->chunk_sender, peer);
}

static void peers_report_refused(void *arg, const char *who, const char *why)
{
	log_warning("refused %s: %s", who, why);
}

static int peers_listen_at(struct peers *peers, const char *address,
			   uint32_t port, struct error *err)
{
	static const struct wire_server_handler handler = {
		.message = peers_take_message,
		.gone = peers_peer_gone,
		.refused = peers_report_refused,
	};
	const char *open = strchr(address, ':') ? "[" : "";
	const char *close = *open ? "]" : "";
	char wanted[300], number[16] = "*";

	peers->server = wire_server_new(peers->loop, peers->key, peers->keyring,
					&handler, peers, err);
	if (!peers->server)
		return -1;
	if (port)
		snprintf(number, sizeof(number), "%u", port);
	snprintf(wanted, sizeof(wanted), "tcp://%s%s%s:%s", open, address,
		 close, number);
	/* Other nodes may reach this one by a name, or by the address of a
	 * router.
	 */
	if (wire_server_bind(peers->server, wanted, err) < 0) {
		snprintf(wanted, sizeof(wanted), "tcp://*:%s", number);
		if (wire_server_bind(peers->server, wanted, err) < 0)
			return -1;
	}
	snprintf(peers->endpoint, sizeof(peers->endpoint), "tcp://%s%s%s%s",
		 open, address, close,
		 strrchr(wire_server_endpoint(peers->server), ':'));
	return 0;
}

struct peers *peers_new(sd_event *loop, struct blob_store *blobs,
			const struct key *key, const char *address,
			uint32_t port, const struct peers_handler *handler,
			void *arg, struct error *err)
{
	owned(peers_free) struct peers *peers =
		error_calloc(sizeof(*peers), "peers", err);
	struct error why;

	if (!peers)
		return NULL;
	TAILQ_INIT(&peers->links);
	TAILQ_INIT(&peers->grants);
	peers->loop = sd_event_ref(loop);
	peers->key = key;
	peers->handler = *handler;
	peers->arg = arg;
	peers->keyring = keyring_new(NULL, err);
	peers->chunk_sender = chunk_sender_new(loop, blobs, peers_is_ready,
					       peers_send_piece, peers, err);
	if (!peers->keyring || !peers->chunk_sender)
		return NULL;
	if (peers_listen_at(peers, address, port, &why) < 0) {
		log_warning("blobs cannot be served to other agents: %s",
			    why.text);
		wire_server_free(take(peers->server));
	}
	return take(peers);
}

static void link_free(struct link *link)
{
	TAILQ_REMOVE(&link->peers->links, link, next);
	wire_client_free(link->wire);
	free(link);
}

void peers_free(struct peers *peers)
{
	if (!peers)
		return;
	while (!TAILQ_EMPTY(&peers->links))
		link_free(TAILQ_FIRST(&peers->links));
	while (!TAILQ_EMPTY(&peers->grants))
		peers_drop_grant(peers, TAILQ_FIRST(&peers->grants));
	loop_source_free(&peers->idle);
	chunk_sender_free(peers->chunk_sender);
	wire_server_free(peers->server);
	keyring_free(peers->keyring);
	if (peers->zmq)
		zmq_ctx_term(peers->zmq);
	sd_event_unref(peers->loop);
	free(peers);
}

const char *peers_endpoint(const struct peers *peers)
{
	return peers->server ? peers->endpoint : NULL;
}

static void peers_revoke(struct peers *peers, const char *name)
{
	const struct key *key = keyring_named(peers->keyring, name);
	struct grant *grant;

	while ((grant = peers_find_grant(peers, name, NULL)))
		peers_drop_grant(peers, grant);
	if (key) {
		const struct key gone = *key;

		keyring_forget(peers->keyring, gone.public);
		if (peers->server)
			wire_server_recheck(peers->server);
	}
}

int peers_grant(struct peers *peers, const char *name, const char *public,
		const char *hash, struct error *err)
{
	struct grant *grant;

	if (!public) {
		peers_revoke(peers, name);
		return 0;
	}
	if (!blob_hash_valid(hash))
		return error_set(err, EPROTO, "a grant names no blob");
	if (keyring_admit(peers->keyring, name, ROLE_AGENT, public, err) < 0)
		return -1;
	grant = peers_find_grant(peers, name, hash);
	if (!grant && peers->grants_count == PEERS_GRANTS_MAX)
		peers_drop_grant(peers, TAILQ_FIRST(&peers->grants));
	if (grant)
		return 0;
	grant = error_calloc(sizeof(*grant), "grant", err);
	if (!grant)
		return -1;
	snprintf(grant->name, sizeof(grant->name), "%s", name);
	snprintf(grant->hash, sizeof(grant->hash), "%s", hash);
	TAILQ_INSERT_TAIL(&peers->grants, grant, next);
	peers->grants_count++;
	return 0;
}

void peers_controller_reads(struct peers *peers,
			    const struct message_blob_read *read)
{
	struct error err;

	if (chunk_sender_read(peers->chunk_sender, NULL, read, &err) < 0)
		log_warning("the controller's request for a blob: %s",
			    err.text);
}

void peers_controller_gone(struct peers *peers)
{
	chunk_sender_forget(peers->chunk_sender, NULL);
}

void peers_wake(struct peers *peers)
{
	chunk_sender_wake(peers->chunk_sender);
}

/* Asking. */

static struct link *link_find(struct peers *peers, const char *name)
{
	struct link *link;

	TAILQ_FOREACH(link, &peers->links, next)
		if (!link->replaced && !strcmp(link->name, name))
			return link;
	return NULL;
}

/* A client is never freed from inside its own callbacks. */
static int idle_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct peers *peers = arg;
	int64_t limit = clock_mono_ms() - IDLE_MS;
	struct link *link, *next;

	for (link = TAILQ_FIRST(&peers->links); link; link = next) {
		next = TAILQ_NEXT(link, next);
		if (link->replaced || (!link->users && link->used_ms <= limit))
			link_free(link);
	}
	if (!TAILQ_EMPTY(&peers->links))
		loop_timer(peers->loop, &peers->idle, IDLE_MS, idle_run, peers,
			   NULL);
	return 0;
}

static void peer_link_connected(void *arg)
{
	struct link *link = arg;
	struct message_hello hello = {
		.version = PROTOCOL_VERSION,
		.software = (char *)"regatta-agent " REGATTA_VERSION,
	};

	wire_client_send(link->wire, MESSAGE_HELLO, &hello, NULL, 0, NULL);
}

static void heard(void *arg, enum message_type type, void *body,
		  const void *payload, size_t size)
{
	struct link *link = arg;
	struct peers *peers = link->peers;

	if (link->replaced)
		return;
	link->used_ms = clock_mono_ms();
	if (type == MESSAGE_WELCOME) {
		link->up = true;
		peers->handler.up(peers->arg, link->name);
	} else if (type == MESSAGE_BLOB_PIECE) {
		peers->handler.piece(peers->arg, link->name, body, payload,
				     size);
	}
}

static void peer_link_lost(void *arg, int code, const char *why)
{
	struct link *link = arg;

	link->up = false;
	/* The channel's own text is about controllers. */
	if (!link->replaced)
		link->peers->handler
			.lost(link->peers->arg, link->name,
			      code == ECONNRESET
				      ? "the connection to it was lost"
				      : why);
}

static struct link *link_new(struct peers *peers, const char *name,
			     const char *endpoint, const char *public,
			     struct error *err)
{
	static const struct wire_client_handler handler = {
		.connected = peer_link_connected,
		.message = heard,
		.lost = peer_link_lost,
	};
	struct link *link = calloc(1, sizeof(*link));

	if (!peers->zmq)
		peers->zmq = zmq_ctx_new();
	if (!link || !peers->zmq) {
		free(link);
		return error_null(error_nomem(err, "peers"));
	}
	link->peers = peers;
	snprintf(link->name, sizeof(link->name), "%s", name);
	snprintf(link->public, sizeof(link->public), "%s", public);
	snprintf(link->endpoint, sizeof(link->endpoint), "%s", endpoint);
	TAILQ_INSERT_TAIL(&peers->links, link, next);
	link->wire = wire_client_new(peers->loop, peers->zmq, endpoint,
				     peers->key, public, &handler, link, err);
	if (!link->wire) {
		link_free(link);
		return NULL;
	}
	return link;
}

int peers_open(struct peers *peers, const char *name, const char *endpoint,
	       const char *public, struct error *err)
{
	struct link *link = link_find(peers, name);

	if (link && (strcmp(link->endpoint, endpoint) != 0 ||
		     strcmp(link->public, public) != 0)) {
		link->replaced = true;
		link = NULL;
	}
	if (!link)
		link = link_new(peers, name, endpoint, public, err);
	if (!link)
		return -1;
	link->users++;
	loop_timer(peers->loop, &peers->idle, IDLE_MS, idle_run, peers, NULL);
	if (link->up)
		peers->handler.up(peers->arg, name);
	return 0;
}

void peers_close(struct peers *peers, const char *name)
{
	struct link *link = link_find(peers, name);

	if (link && link->users)
		link->users--;
	if (link)
		link->used_ms = clock_mono_ms();
}

int peers_read(struct peers *peers, const char *name,
	       const struct message_blob_read *read)
{
	struct link *link = link_find(peers, name);

	return link && link->up
		       ? wire_client_send(link->wire, MESSAGE_BLOB_READ, read,
					  NULL, 0, NULL)
		       : -1;
}
