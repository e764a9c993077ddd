/* wire_server.c - the controller's end of the channel: sessions, ZAP, limits.
 *
 * ZAP (ZeroMQ RFC 27) is how libzmq asks whether a key may connect: requests
 * come to a REP socket bound to inproc://zeromq.zap.01 in the same context.
 */
#include "protocol/wire.h"
#include "protocol/file.h"
#include "protocol/frame.h"
#include "protocol/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>

#define BURST 256          /* messages per turn of the loop */
#define RECEIVE_QUEUE 256  /* per peer, in libzmq */
#define SEND_QUEUE 1000    /* per peer, in libzmq */
#define SWEEP_MS 1000      /* how often silent peers are looked for */
#define BACKLOG 4096       /* connections waiting for accept */
#define HANDSHAKE_MS 10000 /* from accept to the end of the handshake */

struct wire_peer {
	uint8_t id[64]; /* first: peers are compared by it */
	size_t id_size;
	struct wire_server *server;
	char name[KEY_NAME_SIZE];
	enum role role;
	char address[64];
	int fd; /* libzmq's, of the last message */
	bool lagged;
	int64_t heard_ms;
	double tokens; /* messages it may send now */
	int64_t tokens_ms;
	void *data;
	TAILQ_ENTRY(wire_peer) by_age; /* the longest silent first */
};

struct outgoing {
	struct frames frames;
	STAILQ_ENTRY(outgoing) next;
};

struct wire_server {
	sd_event *loop;
	void *zmq, *router, *zap, *monitor;
	struct zmq_watch *router_watch, *zap_watch, *monitor_watch;
	sd_event_source *sweep;
	struct keyring *keyring;
	struct wire_server_handler handler;
	void *arg;
	void *peers; /* tsearch(3) tree by id */
	TAILQ_HEAD(, wire_peer) by_age;
	STAILQ_HEAD(, outgoing) outgoing;
	char endpoint[256];
};

/* Peers. */

static int compare_ids(const void *a, const void *b)
{
	const struct wire_peer *x = a, *y = b;

	if (x->id_size != y->id_size)
		return x->id_size < y->id_size ? -1 : 1;
	return memcmp(x->id, y->id, x->id_size);
}

static struct wire_peer *peer_find(struct wire_server *server,
				   const uint8_t *id, size_t size)
{
	struct wire_peer key = { .id_size = size };
	void *found;

	memcpy(key.id, id, size);
	found = tfind(&key, &server->peers, compare_ids);
	return found ? *(struct wire_peer **)found : NULL;
}

static void peer_forget(struct wire_peer *peer)
{
	tdelete(peer, &peer->server->peers, compare_ids);
	TAILQ_REMOVE(&peer->server->by_age, peer, by_age);
	free(peer);
}

static void peer_end(struct wire_peer *peer, const char *why)
{
	peer->server->handler.gone(peer->server->arg, peer, why);
	peer_forget(peer);
}

static struct wire_peer *peer_new(struct wire_server *server,
				  const struct frames *frames,
				  const struct key *key, const char *address)
{
	struct wire_peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	memcpy(peer->id, frames->id, frames->id_size);
	peer->id_size = frames->id_size;
	peer->server = server;
	peer->role = key->role;
	snprintf(peer->name, sizeof(peer->name), "%s", key->name);
	snprintf(peer->address, sizeof(peer->address), "%s", address);
	peer->tokens_ms = clock_mono_ms();
	peer->tokens = 1;
	if (!tsearch(peer, &server->peers, compare_ids)) {
		free(peer);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&server->by_age, peer, by_age);
	return peer;
}

const char *wire_peer_name(const struct wire_peer *peer)
{
	return peer->name;
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

/* Close the connection under libzmq, which has no call for it. The descriptor
 * is checked to lead to the peer's address; should it meanwhile be another
 * connection of that address, that one merely connects again.
 */
static void hang_up(const struct wire_peer *peer)
{
	struct sockaddr_storage there;
	socklen_t size = sizeof(there);
	char text[INET6_ADDRSTRLEN] = "";

	if (peer->fd < 0 ||
	    getpeername(peer->fd, (struct sockaddr *)&there, &size) < 0)
		return;
	if (there.ss_family == AF_INET)
		inet_ntop(AF_INET, &((struct sockaddr_in *)&there)->sin_addr,
			  text, sizeof(text));
	else if (there.ss_family == AF_INET6)
		inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&there)->sin6_addr,
			  text, sizeof(text));
	if (text[0] && strstr(peer->address, text))
		shutdown(peer->fd, SHUT_RDWR);
}

/* Sending. */

/* Send at once, past the queue: answers that promise nothing. */
static void send_now(struct wire_server *server, const uint8_t *id,
		     size_t id_size, enum message_type type, const void *body)
{
	owned(buffer_clear) struct buffer text;
	owned(frames_clear) struct frames frames;

	frames_init(&frames);
	buffer_init(&text, MESSAGE_TEXT_MAX);
	memcpy(frames.id, id, id_size);
	frames.id_size = id_size;
	if (message_encode(type, body, &text, NULL) == 0 &&
	    frames_fill(&frames, text.data, text.size, NULL, 0, NULL) == 0)
		frames_send(server->router, true, &frames, NULL);
}

static void send_refused(struct wire_server *server, const uint8_t *id,
			 size_t id_size, uint64_t request, int code,
			 const char *why)
{
	struct message_refused refused = { request, code, (char *)why };

	send_now(server, id, id_size, MESSAGE_REFUSED, &refused);
}

int wire_server_send(struct wire_peer *peer, enum message_type type,
		     const void *body, const void *payload, size_t size,
		     struct error *err)
{
	owned(buffer_clear) struct buffer text;
	struct outgoing *item = malloc(sizeof(*item));

	buffer_init(&text, MESSAGE_TEXT_MAX * 4);
	if (!item)
		return error_nomem(err, "message");
	frames_init(&item->frames);
	memcpy(item->frames.id, peer->id, peer->id_size);
	item->frames.id_size = peer->id_size;
	if (message_encode(type, body, &text, err) < 0 ||
	    frames_fill(&item->frames, text.data, text.size, payload, size,
			err) < 0) {
		frames_clear(&item->frames);
		free(item);
		return -1;
	}
	STAILQ_INSERT_TAIL(&peer->server->outgoing, item, next);
	return 0;
}

void wire_server_flush(struct wire_server *server)
{
	struct outgoing *item;

	while ((item = STAILQ_FIRST(&server->outgoing))) {
		struct error err;

		STAILQ_REMOVE_HEAD(&server->outgoing, next);
		if (frames_send(server->router, true, &item->frames, &err) <
			    0 &&
		    err.code == EAGAIN) {
			struct wire_peer *peer =
				peer_find(server, item->frames.id,
					  item->frames.id_size);

			if (peer)
				peer->lagged = true;
		}
		frames_clear(&item->frames);
		free(item);
	}
}

void wire_server_drop(struct wire_peer *peer, int code, const char *text)
{
	struct wire_server *server = peer->server;

	send_refused(server, peer->id, peer->id_size, 0, code, text);
	hang_up(peer);
	keyring_ban(server->keyring, peer->name, WIRE_BAN_MS);
	server->handler.refused(server->arg, peer->name, text);
	peer_end(peer, text);
}

/* Receiving. */

/* A token bucket: a peer that sends faster than its rate runs dry. */
static bool peer_within_rate(struct wire_peer *peer)
{
	double rate =
		peer->role == ROLE_AGENT ? WIRE_RATE_AGENT : WIRE_RATE_PERSON;
	int64_t now = clock_mono_ms();

	peer->tokens += (double)(now - peer->tokens_ms) * rate / 1000;
	peer->tokens_ms = now;
	if (peer->tokens > 2 * rate)
		peer->tokens = 2 * rate;
	if (peer->tokens < 1)
		return false;
	peer->tokens -= 1;
	return true;
}

/* The version in a hello that this version cannot read, or 0. */
static uint32_t foreign_version(const struct frames *frames)
{
	cJSON *object = codec_parse(zmq_msg_data((zmq_msg_t *)&frames->text),
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

static void turn_away(struct wire_server *server, const struct frames *frames,
		      const char *who, int code, const char *why)
{
	send_refused(server, frames->id, frames->id_size, 0, code, why);
	server->handler.refused(server->arg, who, why);
}

static const struct key *sender_key(struct wire_server *server,
				    struct frames *frames)
{
	const char *name = zmq_msg_gets(&frames->text, "User-Id");

	return name ? keyring_named(server->keyring, name) : NULL;
}

/* The first message of a session: make the peer, or turn it away. */
static struct wire_peer *accept_hello(struct wire_server *server,
				      struct frames *frames,
				      const struct message_hello *hello)
{
	const struct key *key = sender_key(server, frames);
	const char *address = zmq_msg_gets(&frames->text, "Peer-Address");
	struct wire_peer *peer = peer_find(server, frames->id, frames->id_size);
	char why[160];

	if (!key) {
		turn_away(server, frames, address ? address : "somebody",
			  EACCES, "its key is no longer in the list");
		return NULL;
	}
	if (hello->version != PROTOCOL_VERSION) {
		snprintf(why, sizeof(why),
			 "protocol version %u, allowed is %d: install the same "
			 "release on both sides",
			 hello->version, PROTOCOL_VERSION);
		turn_away(server, frames, key->name, EPROTONOSUPPORT, why);
		return NULL;
	}
	if (peer)
		peer_end(peer, "says hello again");
	return peer_new(server, frames, key, address ? address : "");
}

static void refuse_role(struct wire_peer *peer, enum message_type type,
			const void *body)
{
	const struct schema *schema = message_kinds[type].schema;
	char why[160];

	snprintf(why, sizeof(why), "a key of role %s may not send '%s'",
		 role_name(peer->role), message_kinds[type].name);
	/* Every request of a person begins with its number. */
	if (peer->role != ROLE_AGENT &&
	    !strcmp(schema->fields[0].name, "request"))
		send_refused(peer->server, peer->id, peer->id_size,
			     *(const uint64_t *)body, EPERM, why);
	else
		wire_server_drop(peer, EPERM, why);
}

static void handle(struct wire_server *server, struct frames *frames,
		   enum message_type type, void *body)
{
	struct wire_peer *peer;

	if (type == MESSAGE_HELLO)
		peer = accept_hello(server, frames, body);
	else
		peer = peer_find(server, frames->id, frames->id_size);
	if (!peer) {
		if (type != MESSAGE_HELLO)
			send_refused(server, frames->id, frames->id_size, 0,
				     ENOTCONN, "no session: say hello first");
		return;
	}
	peer->heard_ms = clock_mono_ms();
	peer->fd = zmq_msg_get(&frames->text, ZMQ_SRCFD);
	TAILQ_REMOVE(&server->by_age, peer, by_age);
	TAILQ_INSERT_TAIL(&server->by_age, peer, by_age);
	if (!(message_kinds[type].senders & peer->role)) {
		refuse_role(peer, type, body);
		return;
	}
	if (frames->has_payload != message_kinds[type].payload) {
		wire_server_drop(peer, EPROTO,
				 "a payload frame too many or "
				 "too few");
		return;
	}
	if (!peer_within_rate(peer)) {
		wire_server_drop(peer, EPROTO, "too many messages a second");
		return;
	}
	if (type == MESSAGE_HEARTBEAT) {
		struct message_heartbeat beat = { (uint64_t)clock_wall_ms() };

		send_now(server, peer->id, peer->id_size, type, &beat);
	}
	server->handler.message(server->arg, peer, type, body,
				zmq_msg_data(&frames->payload),
				zmq_msg_size(&frames->payload));
}

static void handle_broken(struct wire_server *server, struct frames *frames,
			  const struct error *err)
{
	struct wire_peer *peer = peer_find(server, frames->id, frames->id_size);
	uint32_t version = foreign_version(frames);
	const struct key *key = sender_key(server, frames);
	struct message_hello hello = { .version = version };

	if (version)
		accept_hello(server, frames, &hello);
	else if (peer)
		wire_server_drop(peer, EPROTO, err->text);
	else if (frames->id_size)
		turn_away(server, frames, key ? key->name : "somebody", EPROTO,
			  err->text);
}

static int router_ready(void *arg)
{
	struct wire_server *server = arg;
	owned(frames_clear) struct frames frames;
	enum message_type type;
	void *body;
	struct error err = { 0 };
	int got;

	frames_init(&frames);
	got = frames_receive(server->router, true, &frames, &err);
	if (got == 0)
		return 0;
	if (got < 0 || message_decode(zmq_msg_data(&frames.text),
				      zmq_msg_size(&frames.text), &type, &body,
				      &err) < 0) {
		handle_broken(server, &frames, &err);
		return 1;
	}
	handle(server, &frames, type, body);
	message_free(type, body);
	return 1;
}

static int sweep_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct wire_server *server = arg;
	int64_t limit = clock_mono_ms() - WIRE_SILENCE_MS;
	struct wire_peer *peer;

	while ((peer = TAILQ_FIRST(&server->by_age)) && peer->heard_ms < limit)
		peer_end(peer, "silent");
	loop_timer(server->loop, &server->sweep, SWEEP_MS, sweep_run, server,
		   NULL);
	return 0;
}

/* Authentication. */

struct zap_request {
	char frames[7][256]; /* version, id, domain, address, identity,
				mechanism, key */
	int sizes[7];
};

static int zap_receive(void *socket, struct zap_request *request)
{
	int more = 1;
	size_t size = sizeof(more);
	int n = 0;

	memset(request, 0, sizeof(*request));
	while (more) {
		char waste[256];
		char *to = n < 7 ? request->frames[n] : waste;
		int got = zmq_recv(socket, to, sizeof(waste) - 1, ZMQ_DONTWAIT);

		if (got < 0)
			return -1;
		if (n < 7)
			request->sizes[n] = got < 255 ? got : 255;
		n++;
		zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &size);
	}
	return n == 7 ? 0 : 1;
}

static int zap_ready(void *arg)
{
	struct wire_server *server = arg;
	struct zap_request request;
	char public[KEY_TEXT_SIZE] = "";
	const struct key *key = NULL;
	int rc = zap_receive(server->zap, &request);
	bool good;

	if (rc < 0)
		return 0;
	if (rc == 0 && !strcmp(request.frames[5], "CURVE") &&
	    request.sizes[6] == 32) {
		zmq_z85_encode(public, (uint8_t *)request.frames[6], 32);
		key = keyring_find(server->keyring, public);
	}
	good = key && key->role != ROLE_CONTROLLER;
	if (!good) {
		char why[128];

		snprintf(why, sizeof(why),
			 "key '%.40s' is not in the list, "
			 "or banned for a moment",
			 public);
		server->handler.refused(server->arg, request.frames[3], why);
	}
	zmq_send(server->zap, "1.0", 3, ZMQ_SNDMORE);
	zmq_send(server->zap, request.frames[1], (size_t)request.sizes[1],
		 ZMQ_SNDMORE);
	zmq_send(server->zap, good ? "200" : "400", 3, ZMQ_SNDMORE);
	zmq_send(server->zap, good ? "OK" : "NO", 2, ZMQ_SNDMORE);
	zmq_send(server->zap, good ? key->name : "",
		 good ? strlen(key->name) : 0, ZMQ_SNDMORE);
	zmq_send(server->zap, "", 0, 0);
	return 1;
}

static int monitor_ready(void *arg)
{
	struct wire_server *server = arg;
	uint16_t event;
	uint32_t value;
	char address[256];

	if (!monitor_receive(server->monitor, &event, &value, address,
			     sizeof(address)))
		return 0;
	server->handler.refused(server->arg, address,
				"no handshake: not a peer of ours, or it "
				"holds another controller's key");
	return 1;
}

/* Making and unmaking. */

static int set_int(void *socket, int option, int value)
{
	return zmq_setsockopt(socket, option, &value, sizeof(value));
}

static int router_options(struct wire_server *server, const struct key *key)
{
	int64_t max = MESSAGE_TEXT_MAX > MESSAGE_PAYLOAD_MAX
			      ? MESSAGE_TEXT_MAX
			      : MESSAGE_PAYLOAD_MAX;
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
	server->zap = zmq_socket(server->zmq, ZMQ_REP);
	server->router = zmq_socket(server->zmq, ZMQ_ROUTER);
	if (!server->zap || !server->router ||
	    zmq_bind(server->zap, "inproc://zeromq.zap.01") < 0 ||
	    router_options(server, key))
		return error_errno(err, "ZeroMQ");
	server->monitor =
		monitor_new(server->zmq, server->router,
			    ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
				    ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL,
			    err);
	if (!server->monitor)
		return -1;
	server->zap_watch = zmq_watch_new(server->loop, server->zap, BURST,
					  zap_ready, server, err);
	server->router_watch = zmq_watch_new(server->loop, server->router,
					     BURST, router_ready, server, err);
	server->monitor_watch = zmq_watch_new(server->loop, server->monitor, 8,
					      monitor_ready, server, err);
	if (!server->zap_watch || !server->router_watch ||
	    !server->monitor_watch)
		return -1;
	return loop_timer(server->loop, &server->sweep, SWEEP_MS, sweep_run,
			  server, err);
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
	TAILQ_INIT(&server->by_age);
	STAILQ_INIT(&server->outgoing);
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
	struct wire_peer *peer;
	struct outgoing *item;

	if (!server)
		return;
	while ((peer = TAILQ_FIRST(&server->by_age)))
		peer_forget(peer);
	while ((item = STAILQ_FIRST(&server->outgoing))) {
		STAILQ_REMOVE_HEAD(&server->outgoing, next);
		frames_clear(&item->frames);
		free(item);
	}
	loop_source_free(&server->sweep);
	zmq_watch_free(server->router_watch);
	zmq_watch_free(server->zap_watch);
	zmq_watch_free(server->monitor_watch);
	if (server->router) {
		zmq_socket_monitor(server->router, NULL, 0);
		zmq_close(server->router);
	}
	if (server->monitor)
		zmq_close(server->monitor);
	if (server->zap) {
		set_int(server->zap, ZMQ_LINGER, 0);
		zmq_close(server->zap);
	}
	if (server->zmq)
		zmq_ctx_term(server->zmq);
	sd_event_unref(server->loop);
	free(server);
}

int wire_server_bind(struct wire_server *server, const char *endpoint,
		     struct error *err)
{
	size_t size = sizeof(server->endpoint);

	if (zmq_bind(server->router, endpoint) < 0)
		return error_errno(err, "cannot listen at %s", endpoint);
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
	zmq_watch_pause(server->router_watch, paused);
}
