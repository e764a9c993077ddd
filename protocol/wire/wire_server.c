/* wire_server.c - the controller's end of the channel: its socket, and
 * the way of a message to the handler.
 */
#include "protocol/wire/wire.h"
#include "protocol/base/clock.h"
#include "protocol/base/loop.h"
#include "protocol/wire/connection_monitor.h"
#include "protocol/wire/local_endpoint.h"
#include "protocol/wire/outgoing.h"
#include "protocol/wire/sessions.h"
#include "protocol/wire/unread.h"
#include "protocol/wire/zap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Which messages a server accepts from a peer.
 *
 * Each function returns false where it has refused the request, or ended the
 * session with a text that says why.
 *
 * Only for the server.
 */

#define TOO_MANY "too many messages per second"

/* Frames. */

/* What is too large for its role is not decoded. */
static void admission_check_size(struct wire_peer *peer, size_t size)
{
	size_t max = budget_text_max(peer->role, peer->greeted);
	char why[120];

	if (size <= max)
		return;
	snprintf(why, sizeof(why),
		 "a %s of %zu bytes; a key of role %s may send %zu",
		 peer->greeted ? "message" : "hello", size,
		 role_name(peer->role), max);
	wire_server_drop(peer, EPROTO, why);
}

/* May these frames be decoded? Checks key, rate and size. */
static bool admission_frames(struct wire_peer *peer, struct frames *frames)
{
	const char *public = zmq_msg_gets(&frames->text, ZAP_KEY);

	if (peer->role == ROLE_NONE)
		wire_server_refuse(peer, EACCES, KEY_GONE);
	/* A new connection may choose the id of a closed one. */
	else if (!public || strcmp(public, peer->public) != 0)
		wire_server_refuse(peer, EACCES,
				   "another key uses its session");
	else if (!peer->budget)
		wire_server_refuse(peer, EUSERS,
				   "its key has too many connections");
	else if (!budget_message(peer->budget, clock_mono_ms()))
		wire_server_drop(peer, EPROTO, TOO_MANY);
	else
		admission_check_size(peer, zmq_msg_size(&frames->text));
	return !peer->ended;
}

/* May one more message of the same frames be decoded? Checks the rate. */
static bool admission_next(struct wire_peer *peer)
{
	if (!budget_message(peer->budget, clock_mono_ms()))
		wire_server_drop(peer, EPROTO, TOO_MANY);
	return !peer->ended;
}

/* The version in a hello that this version cannot read, or 0. */
static uint32_t foreign_version(struct frames *frames)
{
	cJSON *object = codec_parse(zmq_msg_data(&frames->text),
				    zmq_msg_size(&frames->text), NULL);
	const cJSON *type = cJSON_GetObjectItemCaseSensitive(object, "type");
	const cJSON *version =
		cJSON_GetObjectItemCaseSensitive(object, "version");
	uint32_t found = 0;

	if (cJSON_IsString(type) && !strcmp(type->valuestring, "hello") &&
	    cJSON_IsNumber(version) && version->valuedouble > 0 &&
	    version->valuedouble < UINT32_MAX)
		found = (uint32_t)version->valuedouble;
	cJSON_Delete(object);
	return found == PROTOCOL_VERSION ? 0 : found;
}

/* The key is not banned: it did nothing wrong, and gets this answer each time.
 */
static void refuse_version(struct wire_peer *peer, uint32_t version)
{
	char why[160];

	snprintf(why, sizeof(why),
		 "protocol version %u; expected %d: install the same release "
		 "on both sides",
		 version, PROTOCOL_VERSION);
	wire_server_refuse(peer, EPROTONOSUPPORT, why);
}

/* The frames cannot be decoded. A hello of another version is told so. */
static void admission_broken(struct wire_peer *peer, struct frames *frames,
			     const struct error *err)
{
	uint32_t version = foreign_version(frames);

	if (version)
		refuse_version(peer, version);
	else
		wire_server_drop(peer, EPROTO, err->text);
}

/* Messages. */

static void refuse_role(struct wire_peer *peer, enum message_type type,
			const void *body)
{
	const struct message_kind *kind = &message_kinds[type];
	const struct schema *schema = kind->schema;
	char why[200];

	if (kind->does)
		snprintf(why, sizeof(why),
			 "a key of role %s may not %s; regatta user roles "
			 "shows which roles may",
			 role_name(peer->role), kind->does);
	else
		snprintf(why, sizeof(why), "a key of role %s may not send '%s'",
			 role_name(peer->role), kind->name);
	/* Every request of a person begins with its number. */
	if (peer->role != ROLE_AGENT &&
	    !strcmp(schema->fields[0].name, "request")) {
		sessions_refuse_request(peer, *(const uint64_t *)body, EPERM,
					why);
		sessions_report(peer->sessions, true, peer->name, why);
	} else {
		wire_server_drop(peer, EPERM, why);
	}
}

/* Has it used up its processor time? Then the request is refused. */
static bool refuse_busy(struct wire_peer *peer, enum message_type type,
			const void *body)
{
	const struct schema *schema = message_kinds[type].schema;
	struct error err;

	if (!schema->count || strcmp(schema->fields[0].name, "request") != 0 ||
	    wire_peer_check_time(peer, &err) == 0)
		return false;
	sessions_refuse_request(peer, *(const uint64_t *)body, err.code,
				err.text);
	return true;
}

static bool greet(struct wire_peer *peer, const struct message_hello *hello)
{
	if (hello->version != PROTOCOL_VERSION) {
		refuse_version(peer, hello->version);
		return false;
	}
	return sessions_begin(peer);
}

/* May the message be handled? Checks session, role, payload, the key's
 * processor time, and the version of a hello, which begins a session.
 */
static bool admission_message(struct wire_peer *peer,
			      const struct frames *frames,
			      enum message_type type, const void *body)
{
	if (!peer->greeted && type != MESSAGE_HELLO) {
		wire_server_refuse(peer, ENOTCONN,
				   "no session; send hello first");
		return false;
	}
	if (!(message_kinds[type].senders & peer->role)) {
		refuse_role(peer, type, body);
		return false;
	}
	if (frames->has_payload != message_kinds[type].payload) {
		wire_server_drop(
			peer, EPROTO,
			frames->has_payload
				? "the message has an unexpected payload"
				: "the payload of the message is missing");
		return false;
	}
	if (refuse_busy(peer, type, body))
		return false;
	return type != MESSAGE_HELLO || greet(peer, body);
}

#define BURST 256             /* messages per turn of the loop */
#define BURST_BYTES (1 << 20) /* and of their payloads */
#define RECEIVE_QUEUE 256     /* per peer, in libzmq */
#define SEND_QUEUE 1000       /* per peer, in libzmq */
#define BACKLOG 4096          /* connections waiting for accept */
#define HANDSHAKE_MS 30000    /* from accept; thousands may come at once */
#define PROBE_S 8             /* of a silent machine, by the kernel, */
#define PROBES 2              /* that it leaves unanswered before it is lost */
#define ENVELOPE_MAX 1024     /* bytes that CURVE adds to a frame, and some */

struct wire_server {
	sd_event *loop;
	void *zmq, *router;
	struct key key;
	struct zap *zap;
	struct connection_monitor *monitor;
	struct zmq_watch *router_watch;
	struct unread *unread;
	struct outgoing *outgoing;
	struct sessions *sessions;
	sd_event_source *rest;
	struct keyring *keyring;
	struct wire_server_handler handler;
	void *arg;
	char endpoint[256];
	char next_key[KEY_TEXT_SIZE]; /* "": none */
	bool paused, rests;
	size_t taken; /* bytes of payload since a burst ended by them */
};

/* Receiving. */

static void answer_heartbeat(struct wire_server *server, struct wire_peer *peer)
{
	struct message_heartbeat beat = {
		.time_ms = (uint64_t)clock_wall_ms(),
		.next_key = server->next_key[0] ? server->next_key : NULL,
		.heartbeat_ms = sessions_pace(peer),
	};

	sessions_send_now(peer, MESSAGE_HEARTBEAT, &beat);
}

/* Decode the frame's messages and deal with them. */
static void wire_server_receive(struct wire_server *server,
				struct wire_peer *peer, struct frames *frames)
{
	const char *data = zmq_msg_data(&frames->text);
	size_t size = zmq_msg_size(&frames->text);
	enum message_type type;
	struct error err;
	void *body;

	do {
		if (message_next(&data, &size, &type, &body, &err) < 0) {
			admission_broken(peer, frames, &err);
			return;
		}
		if (admission_message(peer, frames, type, body)) {
			if (type == MESSAGE_HEARTBEAT)
				answer_heartbeat(server, peer);
			server->handler.message(server->arg, peer, type, body,
						zmq_msg_data(&frames->payload),
						zmq_msg_size(&frames->payload));
		}
		message_free(type, body);
	} while (size && !peer->ended && !peer->unsent.cut_bytes &&
		 admission_next(peer));
}

/* Payloads take time to handle: other messages must not wait for many of them.
 */
static bool burst_ends(struct wire_server *server, size_t size)
{
	server->taken += size;
	if (server->taken < BURST_BYTES)
		return false;
	server->taken = 0;
	return true;
}

static int router_ready(void *arg)
{
	struct wire_server *server = arg;
	owned(frames_clear) struct frames frames;
	struct wire_peer *peer;
	struct error err = { 0 };
	int64_t before_us;
	int got;

	frames_init(&frames);
	got = frames_receive(server->router, true, &frames, &err);
	if (got == 0)
		return 0;
	peer = sessions_peer(server->sessions, &frames.id);
	if (!peer) {
		peer = sessions_add(server->sessions, &frames);
		if (!peer)
			return 1;
		/* Its first message comes after the handshake. */
		connection_monitor_heard(server->monitor, peer->fd);
	}
	unread_took(server->unread, peer->fd, peer->inode, &frames);
	if (peer->ended || peer->unsent.cut_bytes ||
	    !admission_frames(peer, &frames))
		return 1;
	sessions_heard(peer);
	if (got < 0) {
		admission_broken(peer, &frames, &err);
	} else if (budget_timed(peer->budget)) {
		before_us = clock_cpu_us();
		wire_server_receive(server, peer, &frames);
		wire_peer_spend(peer, clock_cpu_us() - before_us);
	} else {
		wire_server_receive(server, peer, &frames);
	}
	return !burst_ends(server, zmq_msg_size(&frames.payload));
}

/* Connections. */

static void key_refused(void *arg, const char *address, const char *why)
{
	struct wire_server *server = arg;

	connection_monitor_explained(server->monitor);
	sessions_report(server->sessions, false, address, why);
}

/* The key of a connection is known from its first message on. */
static void wire_server_cut_peer(void *arg, int fd, size_t bytes)
{
	struct wire_server *server = arg;
	struct wire_peer *peer;
	char why[80];

	if (bytes)
		snprintf(why, sizeof(why), "%zu MiB of unread messages",
			 bytes >> 20);
	else
		snprintf(why, sizeof(why),
			 "too many connections without a message");
	peer = sessions_of_fd(server->sessions, fd);
	if (!peer)
		sessions_report(server->sessions, false, "somebody", why);
	else
		sessions_cut(peer, why);
	shutdown(fd, SHUT_RDWR);
}

static void wire_server_came(void *arg, int fd)
{
	struct wire_server *server = arg;

	unread_came(server->unread, fd);
}

static void wire_server_ended(void *arg)
{
	struct wire_server *server = arg;

	sessions_look(server->sessions);
}

static void left(void *arg, const char *address)
{
	struct wire_server *server = arg;

	sessions_report(server->sessions, false, address,
			"disconnected without a message; not a Regatta client, "
			"or one "
			"with another controller's key");
}

static const struct connection_monitor_handler monitor_handler = {
	.came = wire_server_came,
	.ended = wire_server_ended,
	.left = left,
};

/* Making and unmaking. */

static int router_options(struct wire_server *server)
{
	const struct key *key = &server->key;
	int64_t max = MESSAGE_TEXT_MAX + ENVELOPE_MAX; /* payloads too */
	void *router = server->router;

	return zmq_setsockopt(router, ZMQ_CURVE_SECRETKEY, key->secret,
			      KEY_TEXT_SIZE) |
	       zmq_setsockopt(router, ZMQ_ZAP_DOMAIN, "regatta", 7) |
	       socket_set_int(router, ZMQ_ROUTER_MANDATORY, 1) |
	       socket_set_int(router, ZMQ_RCVHWM, RECEIVE_QUEUE) |
	       socket_set_int(router, ZMQ_SNDHWM, SEND_QUEUE) |
	       socket_set_int(router, ZMQ_BACKLOG, BACKLOG) |
	       socket_set_int(router, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS) |
	       socket_set_int(router, ZMQ_TCP_KEEPALIVE, 1) |
	       socket_set_int(router, ZMQ_TCP_KEEPALIVE_IDLE, PROBE_S) |
	       socket_set_int(router, ZMQ_TCP_KEEPALIVE_INTVL, PROBE_S) |
	       socket_set_int(router, ZMQ_TCP_KEEPALIVE_CNT, PROBES) |
	       socket_set_int(router, ZMQ_LINGER, 200) |
	       socket_set_int(router, ZMQ_IPV6, 1) |
	       zmq_setsockopt(router, ZMQ_MAXMSGSIZE, &max, sizeof(max));
}

static int server_open(struct wire_server *server, struct error *err)
{
	server->zmq = zmq_ctx_new();
	if (!server->zmq)
		return error_errno(err, "ZeroMQ");
	zmq_ctx_set(server->zmq, ZMQ_MAX_SOCKETS, 1023);
	server->zap = zap_new(server->loop, server->zmq, &server->key,
			      server->keyring, key_refused, server, err);
	if (!server->zap)
		return -1;
	server->router = zmq_socket(server->zmq, ZMQ_ROUTER);
	if (!server->router || router_options(server))
		return error_errno(err, "ZeroMQ");
	server->monitor = connection_monitor_new(server->loop, server->zmq,
						 server->router,
						 &monitor_handler, server, err);
	server->unread =
		unread_new(server->loop, wire_server_cut_peer, server, err);
	if (!server->monitor || !server->unread)
		return -1;
	server->router_watch = zmq_watch_new(server->loop, server->router,
					     BURST, router_ready, server, err);
	if (!server->router_watch)
		return -1;
	server->outgoing =
		outgoing_new(server->router, server->router_watch, err);
	if (!server->outgoing)
		return -1;
	server->sessions =
		sessions_new(server->loop, server->keyring, server->outgoing,
			     &server->handler, server->arg, err);
	return server->sessions ? 0 : -1;
}

struct wire_server *wire_server_new(sd_event *loop, const struct key *key,
				    struct keyring *keyring,
				    const struct wire_server_handler *handler,
				    void *arg, struct error *err)
{
	owned(wire_server_free) struct wire_server *server =
		calloc(1, sizeof(*server));

	if (!server)
		return error_null(error_nomem(err, "server"));
	server->loop = sd_event_ref(loop);
	server->key = *key;
	server->keyring = keyring;
	server->handler = *handler;
	server->arg = arg;
	if (server_open(server, err) < 0)
		return NULL;
	return take(server);
}

void wire_server_free(struct wire_server *server)
{
	if (!server)
		return;
	sessions_free(server->sessions);
	outgoing_free(server->outgoing);
	loop_source_free(&server->rest);
	zmq_watch_free(server->router_watch);
	connection_monitor_free(server->monitor);
	unread_free(server->unread);
	if (server->router)
		zmq_close(server->router);
	zap_free(server->zap);
	if (server->zmq)
		zmq_ctx_term(server->zmq);
	sd_event_unref(server->loop);
	free(server);
}

static bool is_ipv4(const char *endpoint)
{
	struct in_addr address;
	char host[INET_ADDRSTRLEN];

	return sscanf(endpoint, "tcp://%15[0-9.]:", host) == 1 &&
	       inet_pton(AF_INET, host, &address) == 1;
}

int wire_server_bind(struct wire_server *server, const char *endpoint,
		     struct error *err)
{
	size_t size = sizeof(server->endpoint);

	int local = endpoint_is_local(endpoint, err);

	if (local < 0)
		return -1;
	/* It is what later binds use. */
	socket_set_int(server->router,
		       local ? ZMQ_PLAIN_SERVER : ZMQ_CURVE_SERVER, 1);
	/* Else the endpoint would read tcp://[::ffff:127.0.0.1]:5555. */
	socket_set_int(server->router, ZMQ_IPV6, !is_ipv4(endpoint));
	if (zmq_bind(server->router, endpoint) < 0)
		return error_errno(err, "cannot listen at %s", endpoint);
	zmq_watch_touch(server->router_watch);
	zmq_getsockopt(server->router, ZMQ_LAST_ENDPOINT, server->endpoint,
		       &size);
	return 0;
}

const char *wire_server_endpoint(const struct wire_server *server)
{
	return server->endpoint;
}

struct budgets *wire_server_budgets(const struct wire_server *server)
{
	return sessions_budgets(server->sessions);
}

void wire_server_pause(struct wire_server *server, bool paused)
{
	if (server->paused == paused)
		return;
	server->paused = paused;
	sessions_pause(server->sessions, paused);
	zmq_watch_pause(server->router_watch, paused || server->rests);
}

static int rest_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct wire_server *server = arg;

	server->rests = false;
	zmq_watch_pause(server->router_watch, server->paused);
	return 0;
}

void wire_server_rest(struct wire_server *server, uint32_t rest_ms)
{
	if (server->rests || loop_timer(server->loop, &server->rest, rest_ms,
					rest_run, server, NULL) < 0)
		return;
	server->rests = true;
	zmq_watch_pause(server->router_watch, true);
}

/* Sessions. */

void wire_server_set_next_key(struct wire_server *server, const char *public)
{
	snprintf(server->next_key, KEY_TEXT_SIZE, "%s", public ? public : "");
}

void wire_server_set_heartbeat(struct wire_server *server,
			       uint32_t heartbeat_ms)
{
	sessions_set_heartbeat(server->sessions, heartbeat_ms);
}

void wire_server_recheck(struct wire_server *server)
{
	sessions_recheck(server->sessions);
}

void wire_server_flush(struct wire_server *server)
{
	sessions_flush(server->sessions);
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
