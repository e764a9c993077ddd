/* wire.h - the encrypted channel between the controller and its peers.
 *
 * ZeroMQ on the event loop: ROUTER at the controller, DEALER at agents and
 * command lines, always CURVE. Who speaks is the name of the key that the
 * connection was authenticated with, never a word in a message. A session
 * begins with the peer's hello and ends when the peer is silent for three
 * heartbeats, when it is dropped, or when its connection breaks (the server
 * sees that within two seconds).
 *
 * libzmq's own heartbeats cost time quadratic in peers, so ours are messages:
 * the client says something every heartbeat_ms of the server's welcome, the
 * server answers each heartbeat.
 *
 * What a peer can make grow has a limit: message sizes (message.h), received
 * but unread messages (256 of a peer, unread.h of all), unsent ones (1,000 per
 * peer); sessions, messages a
 * second and a viewer's processor time per key (budget.h). Past a limit all
 * sessions of the key are dropped with a sentence, the key is refused for
 * WIRE_BAN_MS, and nobody else notices.
 */
#ifndef PROTOCOL_WIRE_WIRE_H
#define PROTOCOL_WIRE_WIRE_H

#include "protocol/message/message.h"
#include "protocol/wire/clock_offset.h"
#include "protocol/wire/keyring.h"
#include "protocol/wire/server_keys.h"

#include <systemd/sd-event.h>

#define WIRE_HEARTBEAT_MS 5000
#define WIRE_BAN_MS 10000

/* The server. */

struct wire_server;
struct wire_peer; /* one session */

struct wire_server_handler {
	/* A message that its role may send; hello comes first. body (the
	 * type's struct) and payload are borrowed.
	 */
	void (*message)(void *arg, struct wire_peer *peer,
			enum message_type type, void *body, const void *payload,
			size_t size);
	/* The session is over; peer is invalid afterwards. Only for peers
	 * whose hello was delivered.
	 */
	void (*gone)(void *arg, struct wire_peer *peer, const char *why);
	/* Somebody was turned away, before or in a session; for the log. who
	 * is a key's name, or an address. Of more than 20 a second the others
	 * are only counted.
	 */
	void (*refused)(void *arg, const char *who, const char *why);
};

/* key: the server's own. keyring: borrowed, who may connect. */
struct wire_server *wire_server_new(sd_event *loop, const struct key *key,
				    struct keyring *keyring,
				    const struct wire_server_handler *handler,
				    void *arg, struct error *err);
void wire_server_free(struct wire_server *server);
OWNED_POINTER(struct wire_server, wire_server_free)

/* Listen at "tcp://ADDRESS:PORT" ("*" chooses a port) or "ipc://PATH". */
int wire_server_bind(struct wire_server *server, const char *endpoint,
		     struct error *err);
/* Where the last bind listens, with the port it got. */
const char *wire_server_endpoint(const struct wire_server *server);

/* How often peers are to speak (WIRE_HEARTBEAT_MS at first), which a welcome
 * tells them. A peer that is silent for three times as long is gone.
 */
void wire_server_set_heartbeat(struct wire_server *server,
			       uint32_t heartbeat_ms);

/* The public key that this server is going to have, which heartbeats tell its
 * peers; NULL: none.
 */
void wire_server_set_next_key(struct wire_server *server, const char *public);

/* Queue a message for the peer; wire_server_flush() sends what is queued, in
 * order, and those to one peer together in frames of about 64 KiB. The caller
 * commits what the messages speak of in between. Payload is copied. E2BIG: more
 * than MESSAGE_REPLY_MAX or MESSAGE_PAYLOAD_MAX; EINVAL: a field is missing;
 * ENOMEM.
 */
int wire_server_send(struct wire_peer *peer, enum message_type type,
		     const void *body, const void *payload, size_t size,
		     struct error *err);
void wire_server_flush(struct wire_server *server);

/* Stop and resume taking messages. Nobody is silent meanwhile; but heartbeats
 * are not answered either, so peers leave when it takes three of them.
 */
void wire_server_pause(struct wire_server *server, bool paused);
/* For a moment take nothing, and then at once all that has come. */
void wire_server_rest(struct wire_server *server, uint32_t rest_ms);

/* End all sessions of the peer's key: it is told code and text, and the key is
 * refused for WIRE_BAN_MS. refused() and gone() run before this returns. The
 * connection is closed a moment later, so that the sentence gets through.
 */
void wire_server_drop(struct wire_peer *peer, int code, const char *text);
/* The same, but its key is not at fault: it may come back at once. */
void wire_server_refuse(struct wire_peer *peer, int code, const char *text);

/* Keys were admitted, forgotten or revoked: sessions of those that are no
 * longer in the keyring end, with a word. Those of a list that changed end by
 * themselves within a second.
 */
void wire_server_recheck(struct wire_server *server);

const char *wire_peer_name(const struct wire_peer *peer);
const char *wire_peer_public(const struct wire_peer *peer); /* key */
const char *wire_peer_address(const struct wire_peer *peer);
enum role wire_peer_role(const struct wire_peer *peer);
void wire_peer_set_data(struct wire_peer *peer, void *data);
void *wire_peer_data(const struct wire_peer *peer);
/* The server could not send everything: the peer's view is stale. Reading it
 * clears it.
 */
bool wire_peer_lagged(struct wire_peer *peer);
/* Is its connection open, and was it heard within two heartbeats? */
bool wire_peer_alive(const struct wire_peer *peer);

/* The client. */

struct wire_client;

struct wire_client_handler {
	/* The connection is authenticated: send hello now. Runs again after
	 * each loss.
	 */
	void (*connected)(void *arg);
	/* A message; body and payload are borrowed. */
	void (*message)(void *arg, enum message_type type, void *body,
			const void *payload, size_t size);
	/* The session is over, or no connection could be made (then every
	 * second or so); the client goes on trying by itself, at once after a
	 * session that was welcomed, else after 250 ms to 2 s. code is EACCES
	 * when the server refuses the key, EPROTO when what answers there
	 * sends nonsense, or fails to complete a handshake twice in a row (it
	 * has another public key, or is something else), ECONNREFUSED,
	 * ECONNRESET, ETIMEDOUT; or that of a refused message.
	 */
	void (*lost)(void *arg, int code, const char *why);
	/* The server's next key cannot be kept; may be NULL. It is tried again
	 * with the next heartbeat.
	 */
	void (*unkept)(void *arg, const char *why);
};

/* server_public: Z85 public key of the controller. zmq: a ZeroMQ context that
 * several clients share, or NULL: one of its own. Does not wait. Do not free
 * the client from inside its callbacks.
 */
struct wire_client *wire_client_new(sd_event *loop, void *zmq,
				    const char *endpoint, const struct key *key,
				    const char *server_public,
				    const struct wire_client_handler *handler,
				    void *arg, struct error *err);
void wire_client_free(struct wire_client *client);
OWNED_POINTER(struct wire_client, wire_client_free)

/* Follow the server when it changes its key: keep what it tells in the file at
 * path, and begin with what stands there. EINVAL: that is damaged, and does not
 * count.
 */
int wire_client_remember(struct wire_client *client, const char *path,
			 struct error *err);
/* Its keys as of now. */
const struct server_keys *wire_client_server(const struct wire_client *client);

/* Send. ENOTCONN: no session; EAGAIN: 1,000 messages wait already. */
int wire_client_send(struct wire_client *client, enum message_type type,
		     const void *body, const void *payload, size_t size,
		     struct error *err);

/* The controller's clock, by the shortest of the last exchanges of hello and
 * welcome, heartbeat and heartbeat; false: none yet. What was known is kept
 * when a session is lost.
 */
bool wire_client_clock(const struct wire_client *client, struct exchange *best);

/* End the session and connect anew; lost() does not run. */
void wire_client_reset(struct wire_client *client);

#endif
