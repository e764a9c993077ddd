/* wire_server.c - the controller's end of the channel: sessions and limits.
 */
#include "protocol/wire/wire_peer.h"

#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "protocol/wire/connection_monitor.h"
#include "protocol/wire/outgoing.h"
#include "protocol/wire/unread.h"
#include "protocol/wire/zap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define BURST 256          /* messages per turn of the loop */
#define RECEIVE_QUEUE 256  /* per peer, in libzmq */
#define SEND_QUEUE 1000    /* per peer, in libzmq */
#define SWEEP_MS 1000      /* how often silent peers are looked for, at most */
#define HANG_UP_MS 100     /* for the last words to a peer that is dropped */
#define BACKLOG 4096       /* connections waiting for accept */
#define HANDSHAKE_MS 30000 /* from accept; thousands may come at once */
#define REPORTS_MAX 20     /* of refusals a second; further ones are counted */
#define ENVELOPE_MAX 1024  /* bytes that CURVE adds to a frame, and some */
#define KEY_GONE "its key is no longer in the list"
#define TOO_MANY "too many messages per second"

struct wire_server {
	sd_event *loop;
	void *zmq, *router;
	struct zap *zap;
	struct connection_monitor *monitor;
	struct zmq_watch *router_watch;
	struct unread *unread;
	sd_event_source *sweep, *hang_up, *rest;
	struct keyring *keyring;
	struct wire_server_handler handler;
	void *arg;
	struct wire_peers peers;
	struct outgoing *outgoing;
	char endpoint[256];
	uint32_t heartbeat_ms;
	char next_key[KEY_TEXT_SIZE]; /* "": none */
	bool paused, rests;
	uint64_t changes; /* of the keyring, when peers were last held to it */
	int64_t swept_ms;
	int64_t deaf_ms;   /* until then we did not listen */
	int64_t report_ms; /* when the first of these reports was made */
	unsigned int reports, unreported;
};

/* Reports. */

static void report_rest(struct wire_server *server, int64_t now)
{
	char why[80];

	if (now - server->report_ms < 1000)
		return;
	snprintf(why, sizeof(why), "%u more were refused", server->unreported);
	if (server->unreported)
		server->handler.refused(server->arg, "others", why);
	server->report_ms = now;
	server->reports = server->unreported = 0;
}

/* Whoever knocks often must not fill the log. */
static void report(struct wire_server *server, const char *who, const char *why)
{
	report_rest(server, clock_mono_ms());
	if (server->reports < REPORTS_MAX) {
		server->reports++;
		server->handler.refused(server->arg, who, why);
	} else {
		server->unreported++;
	}
}

/* Ending a session. */

bool wire_peer_alive(const struct wire_peer *peer)
{
	int64_t limit =
		clock_mono_ms() - 2 * (int64_t)peer->server->heartbeat_ms;

	return !peer->ended && peer->heard_ms > limit && peer_connected(peer);
}

static int hang_up_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct wire_server *server = arg;
	int64_t limit = clock_mono_ms() - HANG_UP_MS;
	struct wire_peer *peer;

	while ((peer = TAILQ_FIRST(&server->peers.ended)) &&
	       peer->heard_ms <= limit) {
		/* libzmq has no call to close one connection. */
		if (peer_connected(peer))
			shutdown(peer->fd, SHUT_RDWR);
		peer_forget(&server->peers, peer);
	}
	if (peer)
		loop_timer(server->loop, &server->hang_up, HANG_UP_MS,
			   hang_up_run, server, NULL);
	return 0;
}

static void peer_gone(struct wire_peer *peer, const char *why)
{
	if (!peer->greeted)
		return;
	peer->greeted = false;
	peer->server->handler.gone(peer->server->arg, peer, why);
}

/* End the session; the connection is closed a moment later. */
static void peer_end(struct wire_peer *peer, const char *why)
{
	struct wire_server *server = peer->server;

	if (peer->ended)
		return;
	peer->ended = true;
	peer->heard_ms = clock_mono_ms();
	if (TAILQ_EMPTY(&server->peers.ended))
		loop_timer(server->loop, &server->hang_up, HANG_UP_MS,
			   hang_up_run, server, NULL);
	peer_move(peer, &server->peers.ended);
	peer_gone(peer, why);
}

/* Whoever sends its first message is past the handshake. */
static struct wire_peer *peer_new(struct wire_server *server,
				  struct frames *frames)
{
	struct wire_peer *peer =
		wire_peers_add(&server->peers, server, server->keyring, frames);

	if (peer)
		connection_monitor_heard(server->monitor, peer->fd);
	return peer;
}

/* Sending. */

static void send_refused(struct wire_peer *peer, uint64_t request, int code,
			 const char *why)
{
	struct message_refused refused = { request, code, (char *)why };

	outgoing_now(peer->server->outgoing, peer, MESSAGE_REFUSED, &refused);
}

int wire_server_send(struct wire_peer *peer, enum message_type type,
		     const void *body, const void *payload, size_t size,
		     struct error *err)
{
	return outgoing_put(peer->server->outgoing, peer, type, body, payload,
			    size, err);
}

void wire_server_flush(struct wire_server *server)
{
	outgoing_flush(server->outgoing, &server->peers);
}

void wire_server_refuse(struct wire_peer *peer, int code, const char *why)
{
	if (peer->ended)
		return;
	send_refused(peer, 0, code, why);
	report(peer->server, peer->name[0] ? peer->name : "somebody", why);
	peer_end(peer, why);
}

void wire_server_drop(struct wire_peer *peer, int code, const char *text)
{
	struct wire_peer *twin;

	if (peer->ended)
		return;
	keyring_ban(peer->server->keyring, peer->name, WIRE_BAN_MS);
	wire_server_refuse(peer, code, text);
	while ((twin = wire_peers_twin(&peer->server->peers, peer))) {
		send_refused(twin, 0, code, text);
		peer_end(twin, text);
	}
}

/* Receiving. */

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

/* Not dropped: its key is not at fault, and it should hear why each time. */
static void refuse_version(struct wire_peer *peer, uint32_t version)
{
	char why[160];

	snprintf(why, sizeof(why),
		 "protocol version %u; expected %d: install the same release "
		 "on both sides",
		 version, PROTOCOL_VERSION);
	wire_server_refuse(peer, EPROTONOSUPPORT, why);
}

static void refuse_broken(struct wire_peer *peer, struct frames *frames,
			  const struct error *err)
{
	uint32_t version = foreign_version(frames);

	if (version)
		refuse_version(peer, version);
	else
		wire_server_drop(peer, EPROTO, err->text);
}

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
		send_refused(peer, *(const uint64_t *)body, EPERM, why);
		report(peer->server, peer->name, why);
	} else {
		wire_server_drop(peer, EPERM, why);
	}
}

/* Has it used up its processor time? Then the request is refused. */
static bool refuse_busy(struct wire_peer *peer, enum message_type type,
			const void *body)
{
	const struct schema *schema = message_kinds[type].schema;
	uint32_t wait_ms;
	char why[160];

	if (!schema->count || strcmp(schema->fields[0].name, "request") != 0)
		return false;
	wait_ms = budget_wait_ms(peer->budget, clock_mono_ms());
	if (!wait_ms)
		return false;
	snprintf(why, sizeof(why),
		 "the requests of this key, or of all viewers, used too much "
		 "CPU time of the controller; try again in %u s",
		 (wait_ms + 999) / 1000);
	send_refused(peer, *(const uint64_t *)body, EAGAIN, why);
	return true;
}

/* A hello begins a session, also within one. False: it does not. */
static bool greet(struct wire_peer *peer, const struct message_hello *hello)
{
	if (hello->version != PROTOCOL_VERSION) {
		refuse_version(peer, hello->version);
		return false;
	}
	peer_gone(peer, "duplicate hello");
	if (peer->ended)
		return false;
	peer->data = NULL;
	peer->lagged = false;
	peer->greeted = true;
	return true;
}

static void handle(struct wire_peer *peer, struct frames *frames,
		   enum message_type type, void *body)
{
	struct wire_server *server = peer->server;

	if (!peer->greeted && type != MESSAGE_HELLO) {
		wire_server_refuse(peer, ENOTCONN,
				   "no session; send hello first");
		return;
	}
	if (!(message_kinds[type].senders & peer->role)) {
		refuse_role(peer, type, body);
		return;
	}
	if (frames->has_payload != message_kinds[type].payload) {
		wire_server_drop(
			peer, EPROTO,
			frames->has_payload
				? "the message has an unexpected payload"
				: "the payload of the message is missing");
		return;
	}
	if (refuse_busy(peer, type, body))
		return;
	if (type == MESSAGE_HELLO && !greet(peer, body))
		return;
	if (type == MESSAGE_HEARTBEAT) {
		struct message_heartbeat beat = {
			.time_ms = (uint64_t)clock_wall_ms(),
			.next_key =
				server->next_key[0] ? server->next_key : NULL,
		};

		outgoing_now(server->outgoing, peer, type, &beat);
	}
	server->handler.message(server->arg, peer, type, body,
				zmq_msg_data(&frames->payload),
				zmq_msg_size(&frames->payload));
}

/* What is too large for its role is not decoded. */
static void admit_size(struct wire_peer *peer, size_t size)
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

/* May this message be looked at? Else the peer is refused. */
static bool admit(struct wire_peer *peer, struct frames *frames)
{
	const char *public = zmq_msg_gets(&frames->text, ZAP_KEY);

	if (peer->role == ROLE_NONE)
		wire_server_refuse(peer, EACCES, KEY_GONE);
	/* The id of a closed connection may be chosen by the next one. */
	else if (!public || strcmp(public, peer->public) != 0)
		wire_server_refuse(peer, EACCES,
				   "another key uses its session");
	else if (!peer->budget)
		wire_server_refuse(peer, EUSERS,
				   "its key has too many connections");
	else if (!budget_message(peer->budget, clock_mono_ms()))
		wire_server_drop(peer, EPROTO, TOO_MANY);
	else
		admit_size(peer, zmq_msg_size(&frames->text));
	return !peer->ended;
}

/* Decode the frame's messages and deal with them. */
static void receive(struct wire_peer *peer, struct frames *frames)
{
	const char *data = zmq_msg_data(&frames->text);
	size_t size = zmq_msg_size(&frames->text);
	enum message_type type;
	struct error err;
	void *body;

	do {
		if (message_next(&data, &size, &type, &body, &err) < 0) {
			refuse_broken(peer, frames, &err);
			return;
		}
		handle(peer, frames, type, body);
		message_free(type, body);
		if (size && !peer->ended &&
		    !budget_message(peer->budget, clock_mono_ms()))
			wire_server_drop(peer, EPROTO, TOO_MANY);
	} while (size && !peer->ended);
}

static uint64_t cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int router_ready(void *arg)
{
	struct wire_server *server = arg;
	owned(frames_clear) struct frames frames;
	struct wire_peer *peer;
	struct error err = { 0 };
	uint64_t before_us;
	int got;

	frames_init(&frames);
	got = frames_receive(server->router, true, &frames, &err);
	if (got == 0)
		return 0;
	peer = wire_peers_find(&server->peers, &frames);
	if (!peer)
		peer = peer_new(server, &frames);
	if (peer)
		unread_took(server->unread, peer->fd, peer->inode, &frames);
	if (!peer || peer->ended || !admit(peer, &frames))
		return 1;
	peer->heard_ms = clock_mono_ms();
	peer_move(peer, &server->peers.active);
	if (got < 0) {
		refuse_broken(peer, &frames, &err);
	} else if (budget_timed(peer->budget)) {
		before_us = cpu_us();
		receive(peer, &frames);
		budget_spend(peer->budget, cpu_us() - before_us);
	} else {
		receive(peer, &frames);
	}
	return 1;
}

/* Silence, broken connections, and keys that are no longer good. */

void wire_server_recheck(struct wire_server *server)
{
	uint64_t changes = keyring_changes(server->keyring);
	struct wire_peer *peer, *next;

	if (changes == server->changes)
		return;
	server->changes = changes;
	/* Ending one takes it out of the list, and no other. */
	for (peer = TAILQ_FIRST(&server->peers.active); peer; peer = next) {
		next = TAILQ_NEXT(peer, next);
		if (!peer_admitted(peer, server->keyring))
			wire_server_refuse(peer, EACCES, KEY_GONE);
	}
}

static uint32_t sweep_interval(const struct wire_server *server)
{
	return server->heartbeat_ms < SWEEP_MS ? server->heartbeat_ms
					       : SWEEP_MS;
}

static void sweep(struct wire_server *server, int64_t now)
{
	int64_t limit = now - 3 * (int64_t)server->heartbeat_ms;
	struct wire_peer *peer, *next;

	for (peer = TAILQ_FIRST(&server->peers.active); peer; peer = next) {
		bool was_closed = peer->closed;

		next = TAILQ_NEXT(peer, next);
		peer->closed = !peer_connected(peer);
		/* The first sweep leaves time for what it had sent before. */
		if ((was_closed && peer->closed) ||
		    (peer->heard_ms < limit && server->deaf_ms < limit))
			peer_move(peer, &server->peers.lost);
	}
	while ((peer = TAILQ_FIRST(&server->peers.lost))) {
		if (!peer->closed)
			send_refused(peer, 0, ETIMEDOUT,
				     "three heartbeats were missed");
		peer_end(peer,
			 peer->closed ? "its connection was lost" : "silent");
	}
}

static int sweep_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct wire_server *server = arg;
	int64_t now = clock_mono_ms();

	/* This process was stopped: nobody else is to blame for the silence. */
	if (now - server->swept_ms >
	    sweep_interval(server) + (int64_t)server->heartbeat_ms)
		server->deaf_ms = now;
	server->swept_ms = now;
	report_rest(server, now);
	budgets_sweep(server->peers.budgets, now);
	if (!server->paused) {
		wire_server_recheck(server);
		sweep(server, now);
	}
	loop_timer(server->loop, &server->sweep, sweep_interval(server),
		   sweep_run, server, NULL);
	return 0;
}

void wire_server_set_next_key(struct wire_server *server, const char *public)
{
	snprintf(server->next_key, KEY_TEXT_SIZE, "%s", public ? public : "");
}

void wire_server_set_heartbeat(struct wire_server *server,
			       uint32_t heartbeat_ms)
{
	server->heartbeat_ms = heartbeat_ms ? heartbeat_ms : 1;
	server->swept_ms = server->deaf_ms = clock_mono_ms();
	loop_timer(server->loop, &server->sweep, sweep_interval(server),
		   sweep_run, server, NULL);
}

static void key_refused(void *arg, const char *address, const char *why)
{
	struct wire_server *server = arg;

	connection_monitor_explained(server->monitor);
	report(server, address, why);
}

/* Of those who were never heard the key is not known. */
static void cut(void *arg, int fd, size_t bytes)
{
	struct wire_server *server = arg;
	struct wire_peer *peer;
	char why[80];

	snprintf(why, sizeof(why), "%zu MiB of unread messages", bytes >> 20);
	peer = wire_peers_of_fd(&server->peers, fd);
	if (!peer)
		report(server, "somebody", why);
	else if (peer->role == ROLE_AGENT)
		wire_server_refuse(peer, ENOBUFS, why);
	else
		wire_server_drop(peer, ENOBUFS, why);
	shutdown(fd, SHUT_RDWR);
}

static void came(void *arg, int fd)
{
	struct wire_server *server = arg;

	unread_came(server->unread, fd);
}

static void left(void *arg, const char *address)
{
	report(arg, address,
	       "disconnected without a message; not a Regatta client, or one "
	       "with another controller's key");
}

/* Making and unmaking. */

static int set_int(void *socket, int option, int value)
{
	return zmq_setsockopt(socket, option, &value, sizeof(value));
}

static int router_options(struct wire_server *server, const struct key *key)
{
	int64_t max = MESSAGE_TEXT_MAX + ENVELOPE_MAX; /* payloads too */
	void *router = server->router;

	return set_int(router, ZMQ_CURVE_SERVER, 1) |
	       zmq_setsockopt(router, ZMQ_CURVE_SECRETKEY, key->secret,
			      KEY_TEXT_SIZE) |
	       zmq_setsockopt(router, ZMQ_ZAP_DOMAIN, "regatta", 7) |
	       set_int(router, ZMQ_ROUTER_MANDATORY, 1) |
	       set_int(router, ZMQ_RCVHWM, RECEIVE_QUEUE) |
	       set_int(router, ZMQ_SNDHWM, SEND_QUEUE) |
	       set_int(router, ZMQ_BACKLOG, BACKLOG) |
	       set_int(router, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS) |
	       set_int(router, ZMQ_LINGER, 200) | set_int(router, ZMQ_IPV6, 1) |
	       zmq_setsockopt(router, ZMQ_MAXMSGSIZE, &max, sizeof(max));
}

static int server_open(struct wire_server *server, const struct key *key,
		       struct error *err)
{
	server->zmq = zmq_ctx_new();
	if (!server->zmq)
		return error_errno(err, "ZeroMQ");
	zmq_ctx_set(server->zmq, ZMQ_MAX_SOCKETS, 1023);
	server->zap = zap_new(server->loop, server->zmq, server->keyring,
			      key_refused, server, err);
	if (!server->zap)
		return -1;
	server->router = zmq_socket(server->zmq, ZMQ_ROUTER);
	if (!server->router || router_options(server, key))
		return error_errno(err, "ZeroMQ");
	server->monitor =
		connection_monitor_new(server->loop, server->zmq,
				       server->router, came, left, server, err);
	server->unread = unread_new(server->loop, cut, server, err);
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
	wire_server_set_heartbeat(server, WIRE_HEARTBEAT_MS);
	return server->sweep ? 0 : error_nomem(err, "timer");
}

struct wire_server *wire_server_new(sd_event *loop, const struct key *key,
				    struct keyring *keyring,
				    const struct wire_server_handler *handler,
				    void *arg, struct error *err)
{
	owned(wire_server_free) struct wire_server *server =
		calloc(1, sizeof(*server));

	if (!server) {
		error_nomem(err, "server");
		return NULL;
	}
	if (wire_peers_init(&server->peers, err) < 0)
		return NULL;
	server->loop = sd_event_ref(loop);
	server->keyring = keyring;
	server->handler = *handler;
	server->arg = arg;
	if (server_open(server, key, err) < 0)
		return NULL;
	return take(server);
}

void wire_server_free(struct wire_server *server)
{
	if (!server)
		return;
	wire_peers_clear(&server->peers);
	outgoing_free(server->outgoing);
	loop_source_free(&server->sweep);
	loop_source_free(&server->hang_up);
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

	/* Else the endpoint would read tcp://[::ffff:127.0.0.1]:5555. */
	set_int(server->router, ZMQ_IPV6, !is_ipv4(endpoint));
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

void wire_server_pause(struct wire_server *server, bool paused)
{
	if (server->paused == paused)
		return;
	server->paused = paused;
	server->deaf_ms = clock_mono_ms();
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
