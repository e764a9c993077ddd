/* wire.h - the authenticated channel between the controller and its peers.
 *
 * ZeroMQ on the event loop: ROUTER at the controller, DEALER at agents and
 * command lines. At a TCP port it is always CURVE, which encrypts; at a unix
 * socket, which nobody else can reach (local_endpoint.h), a proof of the key
 * (zap.h), and the limit of unread bytes does not hold. The sender of a message
 * is the name of the key that its connection was authenticated with; no message
 * names its sender. A
 * session begins with the peer's hello. It ends when the peer is silent for
 * three heartbeats, when it is dropped, or when its connection breaks (the
 * server notices that within two seconds).
 *
 * libzmq's own heartbeats cost time quadratic in peers, so ours are messages:
 * the client sends one at least every heartbeat_ms of the server's welcome, and
 * the server answers each; the answer may change the interval. Machines that
 * are lost are noticed by TCP, within half a minute, where heartbeats are
 * rarer.
 *
 * Everything that a peer can make grow has a limit: the size of messages
 * (message.h), received but unread messages (256 of a peer; unread.h for all),
 * unsent ones (1,000 per peer; sessions.h for their bytes), and per key
 * sessions, waiting requests, messages a second and a viewer's processor time
 * (budget.h). Beyond a limit all sessions of the key are dropped with a
 * sentence, and the key is refused for WIRE_BAN_MS. Other keys are not
 * affected.
 */
#pragma once

#include "protocol/message/message.h"
#include "protocol/wire/clock_offset.h"
#include "protocol/wire/keyring.h"
#include "protocol/wire/server_keys.h"

#include <systemd/sd-event.h>

#define WIRE_HEARTBEAT_MS 5000
#define WIRE_HEARTBEAT_MAX_MS 60000 /* that a client accepts */
#define WIRE_BAN_MS 10000

/* The server. */

struct wire_server;
struct wire_peer; /* one session */

struct wire_server_handler {
	/* A message that the peer's role may send; hello is the first one. body
	 * (the type's struct) and payload are borrowed.
	 */
	void (*message)(void *arg, struct wire_peer *peer,
			enum message_type type, void *body, const void *payload,
			size_t size);
	/* The session has ended; peer is not valid afterwards. Only for peers
	 * whose hello was delivered.
	 */
	void (*gone)(void *arg, struct wire_peer *peer, const char *why);
	/* A connection was refused, before or in a session; for the log. who:
	 * a key's name, or an address. Beyond 20 at once, and 20 a minute of
	 * strangers or 60 of known keys, they are only counted.
	 */
	void (*refused)(void *arg, const char *who, const char *why);
};

/* key: the server's own. keyring: the keys that may connect; borrowed. */
struct wire_server *wire_server_new(sd_event *loop, const struct key *key,
				    struct keyring *keyring,
				    const struct wire_server_handler *handler,
				    void *arg, struct error *err);
void wire_server_free(struct wire_server *server);
OWNED_POINTER(struct wire_server, wire_server_free)

/* Listen at "tcp://ADDRESS:PORT" ("*" chooses a port) or "ipc:///PATH". EPERM:
 * others can write in the folder of the path.
 */
int wire_server_bind(struct wire_server *server, const char *endpoint,
		     struct error *err);
/* The endpoint of the last bind, with its port. */
const char *wire_server_endpoint(const struct wire_server *server);
/* What the keys may cost; borrowed. */
struct budgets *wire_server_budgets(const struct wire_server *server);

/* The time between heartbeats (WIRE_HEARTBEAT_MS at first) for peers that come,
 * and for the others from their next heartbeat on. A peer that is silent for
 * three times as long as it was told is gone.
 */
void wire_server_set_heartbeat(struct wire_server *server,
			       uint32_t heartbeat_ms);

/* The server's next public key, which heartbeats announce; NULL: none. */
void wire_server_set_next_key(struct wire_server *server, const char *public);

/* Queue a message for the peer. wire_server_flush() sends queued messages in
 * order, those to one peer together in frames of about 64 KiB. In between the
 * caller commits the changes that the messages report. Payload is copied.
 * E2BIG: more than MESSAGE_REPLY_MAX or MESSAGE_PAYLOAD_MAX; EINVAL: a field is
 * missing; ENOBUFS: the peer does not read, and is cut in the next turn of the
 * loop; ENOMEM.
 */
int wire_server_send(struct wire_peer *peer, enum message_type type,
		     const void *body, const void *payload, size_t size,
		     struct error *err);
void wire_server_flush(struct wire_server *server);

/* Stop and resume receiving. Meanwhile no peer counts as silent. But heartbeats
 * are not answered, so peers end their sessions after three of them.
 */
void wire_server_pause(struct wire_server *server, bool paused);
/* Receive nothing for rest_ms, so that more messages are handled in one turn.
 */
void wire_server_rest(struct wire_server *server, uint32_t rest_ms);

/* End all sessions of the peer's key: send it code and text, and refuse the key
 * for WIRE_BAN_MS. refused() and gone() run before this returns. The connection
 * is closed a moment later, so that the text arrives.
 */
void wire_server_drop(struct wire_peer *peer, int code, const char *text);
/* End the peer's session in the same way, but let the key connect again at
 * once.
 */
void wire_server_refuse(struct wire_peer *peer, int code, const char *text);

/* Keys were added, removed or revoked: end the sessions of keys that are not in
 * the keyring any more, with a text. After a change of the keyring's file this
 * happens within a second by itself.
 */
void wire_server_recheck(struct wire_server *server);

const char *wire_peer_name(const struct wire_peer *peer);
const char *wire_peer_public(const struct wire_peer *peer); /* key */
const char *wire_peer_address(const struct wire_peer *peer);
/* For its welcome. */
uint32_t wire_peer_heartbeat_ms(const struct wire_peer *peer);
enum role wire_peer_role(const struct wire_peer *peer);
void wire_peer_set_data(struct wire_peer *peer, void *data);
void *wire_peer_data(const struct wire_peer *peer);
/* Were messages to the peer dropped, because its queue was full? The call
 * resets it.
 */
bool wire_peer_lagged(struct wire_peer *peer);
/* Has it received most of what it was sent? Large data waits for that. */
bool wire_peer_ready(struct wire_peer *peer);

/* What a peer's requests cost later is charged to its key, too (budget.h). A
 * request of it waits; false: too many of its key do. wire_peer_waited() undoes
 * it.
 */
bool wire_peer_wait(struct wire_peer *peer);
void wire_peer_waited(struct wire_peer *peer);
/* The peer's request took so much processor time outside of message(). */
void wire_peer_spend(struct wire_peer *peer, int64_t cpu_us);
/* EAGAIN: the requests of its key, or of all viewers, used too much of it. */
int wire_peer_check_time(const struct wire_peer *peer, struct error *err);

/* Is its connection open, with a message within the last two heartbeats? */
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
	/* The session has ended, or no connection could be made (then about
	 * every second). The client tries again by itself: at once after a
	 * session with a welcome, else after 250 ms to 2 s. code: EACCES, the
	 * server refuses the key; EPROTO, the answer is not valid, or two
	 * handshakes in a row failed (another public key, or no controller);
	 * ECONNREFUSED, ECONNRESET, ETIMEDOUT; or the code of a refused
	 * message.
	 */
	void (*lost)(void *arg, int code, const char *why);
	/* The server's next key cannot be stored; tried again with the next
	 * heartbeat. May be NULL.
	 */
	void (*unkept)(void *arg, const char *why);
	/* The time between heartbeats was changed by the server. May be NULL.
	 */
	void (*paced)(void *arg, uint32_t heartbeat_ms);
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

/* Follow the server's key rotations: load and store its keys in the file at
 * path (server_keys.h). EINVAL: the file is damaged, and ignored.
 */
int wire_client_remember(struct wire_client *client, const char *path,
			 struct error *err);
/* The server's present keys. */
const struct server_keys *wire_client_server(const struct wire_client *client);

/* Send. ENOTCONN: no session; EAGAIN: 1,000 messages wait already. */
int wire_client_send(struct wire_client *client, enum message_type type,
		     const void *body, const void *payload, size_t size,
		     struct error *err);

/* The controller's clock (clock_offset.h), from hello and welcome, and from
 * heartbeats; false: none yet. It is kept when a session is lost.
 */
bool wire_client_clock(const struct wire_client *client, struct exchange *best);
