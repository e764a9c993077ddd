/* wire_client.c - the agent's and the command line's end of the channel.
 *
 * libzmq connects; its monitor tells when a handshake is done or a connection
 * is gone. After a loss the socket is replaced, so that nothing of an old
 * session can slip into the next one, and because libzmq gives up for good
 * when a handshake is refused.
 */
#include "protocol/base/clock.h"
#include "protocol/base/loop.h"
#include "protocol/wire/frame.h"
#include "protocol/wire/local_endpoint.h"
#include "protocol/wire/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BURST 64
#define SEND_QUEUE 1000
#define RECONNECT_MS 100
#define RECONNECT_MAX_MS 2000
#define CONNECT_MS 3000
#define COMPLAIN_MS 1000 /* how often a failing connection is reported */
#define CLOSE_MS 500     /* for the last messages at the end */
#define RETRY_MS 250     /* before the next attempt at a session */
#define RETRY_MAX_MS 2000
#define HANDSHAKE_MS 30000  /* thousands of agents may come back at once */
#define HEARTBEAT_MIN_MS 10 /* what a welcome may ask for */
#define ENVELOPE_MAX 1024   /* bytes that CURVE adds to a frame, and some */
#define DRAIN_MAX 2000      /* messages taken from a broken connection */

struct wire_client {
	sd_event *loop;
	void *zmq;
	bool own_zmq;
	void *dealer, *monitor;
	struct zmq_watch *dealer_watch, *monitor_watch;
	sd_event_source *heartbeat, *reset;
	char endpoint[256];
	struct key key;
	struct server_keys server;
	bool on_next; /* we try the server's next key */
	struct wire_client_handler handler;
	void *arg;
	bool up; /* handshake done, session not lost */
	bool welcomed;
	uint32_t heartbeat_ms;
	uint32_t retry_ms;
	int64_t beat_ms; /* when heartbeat_run() ran last */
	int64_t heard_ms;
	int64_t complained_ms;
	int complaint;       /* its code */
	unsigned int failed; /* handshakes in a row */
	struct clock_offset offset;
};

static int client_open(struct wire_client *client, struct error *err);
static void client_reset(struct wire_client *client);

static void client_close(struct wire_client *client, int linger_ms)
{
	zmq_watch_free(client->dealer_watch);
	zmq_watch_free(client->monitor_watch);
	client->dealer_watch = NULL;
	client->monitor_watch = NULL;
	if (client->dealer) {
		zmq_socket_monitor(client->dealer, NULL, 0);
		zmq_setsockopt(client->dealer, ZMQ_LINGER, &linger_ms,
			       sizeof(linger_ms));
		zmq_close(client->dealer);
	}
	if (client->monitor)
		zmq_close(client->monitor);
	client->dealer = NULL;
	client->monitor = NULL;
	client->up = false;
	clock_offset_lost(&client->offset);
}

static int reset_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct wire_client *client = arg;
	struct error err;

	client_close(client, 0);
	if (client_open(client, &err) < 0) {
		client_reset(client);
		client->handler.lost(client->arg, err.code, err.text);
	}
	return 0;
}

/* Connect at once after a session, else after a growing delay. */
static void client_reset(struct wire_client *client)
{
	uint32_t delay_ms = client->welcomed ? 0 : client->retry_ms;

	client_close(client, 0);
	client->retry_ms = client->welcomed ? RETRY_MS : client->retry_ms * 2;
	if (client->retry_ms > RETRY_MAX_MS)
		client->retry_ms = RETRY_MAX_MS;
	client->welcomed = false;
	loop_timer(client->loop, &client->reset, delay_ms, reset_run, client,
		   NULL);
}

static void wire_client_complain(struct wire_client *client, int code,
				 const char *why)
{
	int64_t now = clock_mono_ms();

	if (client->complaint == code &&
	    now - client->complained_ms < COMPLAIN_MS)
		return;
	client->complaint = code;
	client->complained_ms = now;
	client->handler.lost(client->arg, code, why);
}

static void client_lost(struct wire_client *client, int code, const char *why)
{
	bool was_up = client->up;

	client_reset(client);
	if (was_up)
		client->handler.lost(client->arg, code, why);
	else
		wire_client_complain(client, code, why);
}

int wire_client_send(struct wire_client *client, enum message_type type,
		     const void *body, const void *payload, size_t size,
		     struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(MESSAGE_TEXT_MAX);
	owned(frames_clear) struct frames frames;

	frames_init(&frames);
	if (!client->up)
		return error_set(err, ENOTCONN, "no session with %s",
				 client->endpoint);
	if (message_encode(type, body, &text, err) < 0 ||
	    frames_text(&frames, &text, err) < 0 ||
	    (payload && frames_payload(&frames, payload, size, err) < 0))
		return -1;
	zmq_watch_touch(client->dealer_watch);
	if (frames_send(client->dealer, false, &frames, err) < 0)
		return -1;
	if (type == MESSAGE_HELLO || type == MESSAGE_HEARTBEAT)
		clock_offset_ask(&client->offset, clock_mono_ms());
	return 0;
}

bool wire_client_clock(const struct wire_client *client, struct exchange *best)
{
	return clock_offset_best(&client->offset, best);
}

static int heartbeat_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct wire_client *client = arg;
	struct message_heartbeat beat = { .time_ms =
						  (uint64_t)clock_wall_ms() };
	int64_t now = clock_mono_ms();

	/* This process was stopped: messages may be unread. */
	if (now - client->beat_ms > 2 * (int64_t)client->heartbeat_ms)
		client->heard_ms = now;
	client->beat_ms = now;
	loop_timer(client->loop, &client->heartbeat, client->heartbeat_ms,
		   heartbeat_run, client, NULL);
	if (!client->up)
		return 0;
	if (now - client->heard_ms > 3 * (int64_t)client->heartbeat_ms)
		client_lost(client, ETIMEDOUT,
			    "the controller does not respond");
	else
		wire_client_send(client, MESSAGE_HEARTBEAT, &beat, NULL, 0,
				 NULL);
	return 0;
}

static void unkept(const struct wire_client *client, const struct error *err)
{
	if (client->handler.unkept)
		client->handler.unkept(client->arg, err->text);
}

static void take_next_key(struct wire_client *client, const char *next)
{
	struct error err;

	if (server_keys_learn(&client->server, next, &err) < 0)
		unkept(client, &err);
}

static void take_heartbeat(struct wire_client *client, uint32_t heartbeat_ms)
{
	if (heartbeat_ms < HEARTBEAT_MIN_MS ||
	    heartbeat_ms > WIRE_HEARTBEAT_MAX_MS ||
	    heartbeat_ms == client->heartbeat_ms)
		return;
	client->heartbeat_ms = heartbeat_ms;
	client->beat_ms = clock_mono_ms();
	loop_timer(client->loop, &client->heartbeat, heartbeat_ms,
		   heartbeat_run, client, NULL);
	if (client->handler.paced)
		client->handler.paced(client->arg, heartbeat_ms);
}

static void take_welcome(struct wire_client *client,
			 const struct message_welcome *welcome)
{
	client->welcomed = true;
	client->retry_ms = RETRY_MS;
	clock_offset_answer(&client->offset, clock_mono_ms(), welcome->time_ms);
	take_next_key(client, welcome->next_key);
	take_heartbeat(client, welcome->heartbeat_ms);
}

static void take_message(struct wire_client *client, enum message_type type,
			 void *body, struct frames *frames)
{
	const struct message_heartbeat *beat = body;
	const struct message_refused *refused = body;

	if (type == MESSAGE_WELCOME)
		take_welcome(client, body);
	if (type == MESSAGE_HEARTBEAT) {
		clock_offset_answer(&client->offset, clock_mono_ms(),
				    beat->time_ms);
		take_next_key(client, beat->next_key);
		take_heartbeat(client, beat->heartbeat_ms);
	}
	if (type == MESSAGE_REFUSED && !refused->request)
		client_lost(client, (int)refused->code, refused->text);
	else if (client->up && type != MESSAGE_HEARTBEAT)
		client->handler.message(client->arg, type, body,
					zmq_msg_data(&frames->payload),
					zmq_msg_size(&frames->payload));
}

static int dealer_ready(void *arg)
{
	struct wire_client *client = arg;
	void *dealer = client->dealer;
	owned(frames_clear) struct frames frames;
	enum message_type type;
	struct error err = { 0 };
	const char *data;
	size_t size;
	void *body;
	int got;

	frames_init(&frames);
	got = frames_receive(client->dealer, false, &frames, &err);
	if (got == 0)
		return 0;
	client->heard_ms = clock_mono_ms();
	data = zmq_msg_data(&frames.text);
	size = zmq_msg_size(&frames.text);
	do {
		if (got < 0 ||
		    message_next(&data, &size, &type, &body, &err) < 0) {
			error_prefix(&err, "from the controller");
			client_lost(client, EPROTO, err.text);
			return 0;
		}
		take_message(client, type, body, &frames);
		message_free(type, body);
	} while (size && client->dealer == dealer);
	return client->dealer != NULL;
}

/* Read what arrived before the connection broke: it may say why. */
static void disconnected(struct wire_client *client)
{
	bool was_up = client->up;

	for (int n = 0; n < DRAIN_MAX && client->up; n++)
		if (!dealer_ready(client))
			break;
	if (client->up || !was_up)
		client_lost(client, ECONNRESET,
			    "the connection to the controller was lost");
}

/* The server may use its next key by now, so both keys are tried. */
static void other_key(struct wire_client *client)
{
	client->on_next = client->server.next[0] && !client->on_next;
}

/* A single failure may be a controller that was just ending. */
static void no_handshake(struct wire_client *client)
{
	unsigned int keys = client->server.next[0] ? 2 : 1;
	char why[sizeof(client->endpoint) + 200];

	other_key(client);
	snprintf(why, sizeof(why),
		 "no handshake with %s: its key is not the given public key "
		 "(if it was rotated meanwhile, set the new one), or it is not "
		 "a controller",
		 client->endpoint);
	client_lost(client,
		    client->failed++ >= keys * 2 - 1 ? EPROTO : ECONNRESET,
		    why);
}

static void shaken(struct wire_client *client)
{
	struct error err;

	if (client->on_next && server_keys_advance(&client->server, &err) < 0)
		unkept(client, &err);
	client->on_next = false;
	client->up = true;
	client->failed = 0;
	client->complaint = 0;
	client->heard_ms = clock_mono_ms();
	client->handler.connected(client->arg);
}

static int wire_client_monitor_ready(void *arg)
{
	struct wire_client *client = arg;
	uint16_t event;
	uint32_t value;
	char why[400];

	if (!socket_monitor_receive(client->monitor, &event, &value))
		return 0;
	switch (event) {
	case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
		shaken(client);
		break;
	case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
		/* At a unix socket, our proof may be for its former key. */
		other_key(client);
		client_lost(client, EACCES,
			    "the controller does not accept this key");
		break;
	case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
	case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
		no_handshake(client);
		break;
	case ZMQ_EVENT_CONNECT_RETRIED:
		snprintf(why, sizeof(why), "no controller at %s",
			 client->endpoint);
		wire_client_complain(client, ECONNREFUSED, why);
		break;
	case ZMQ_EVENT_DISCONNECTED:
		disconnected(client);
		break;
	default:
		break;
	}
	return client->monitor != NULL;
}

/* Show the server which key we hold. */
static int dealer_show_key(struct wire_client *client, struct error *err)
{
	void *dealer = client->dealer;
	const char *server =
		client->on_next ? client->server.next : client->server.current;
	char proof[KEY_TEXT_SIZE];
	int local = endpoint_is_local(client->endpoint, err);

	if (local < 0 ||
	    (local && key_proof(&client->key, server, proof, err) < 0))
		return -1;
	if (local ? zmq_setsockopt(dealer, ZMQ_PLAIN_USERNAME,
				   client->key.public, KEY_TEXT_SIZE - 1) |
			    zmq_setsockopt(dealer, ZMQ_PLAIN_PASSWORD, proof,
					   KEY_TEXT_SIZE - 1)
		  : zmq_setsockopt(dealer, ZMQ_CURVE_SERVERKEY, server,
				   KEY_TEXT_SIZE) |
			    zmq_setsockopt(dealer, ZMQ_CURVE_PUBLICKEY,
					   client->key.public, KEY_TEXT_SIZE) |
			    zmq_setsockopt(dealer, ZMQ_CURVE_SECRETKEY,
					   client->key.secret, KEY_TEXT_SIZE))
		return error_errno(err, "ZeroMQ");
	return 0;
}

static int dealer_options(void *dealer)
{
	int64_t max = MESSAGE_REPLY_MAX + ENVELOPE_MAX;

	return socket_set_int(dealer, ZMQ_SNDHWM, SEND_QUEUE) |
	       socket_set_int(dealer, ZMQ_RECONNECT_IVL, RECONNECT_MS) |
	       socket_set_int(dealer, ZMQ_RECONNECT_IVL_MAX, RECONNECT_MAX_MS) |
	       socket_set_int(dealer, ZMQ_CONNECT_TIMEOUT, CONNECT_MS) |
	       socket_set_int(dealer, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS) |
	       socket_set_int(dealer, ZMQ_LINGER, 0) |
	       socket_set_int(dealer, ZMQ_IPV6, 1) |
	       zmq_setsockopt(dealer, ZMQ_MAXMSGSIZE, &max, sizeof(max));
}

static int client_open(struct wire_client *client, struct error *err)
{
	int events = ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
		     ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
		     ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
		     ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
		     ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CONNECT_RETRIED;

	client->dealer = zmq_socket(client->zmq, ZMQ_DEALER);
	if (!client->dealer || dealer_options(client->dealer))
		return error_errno(err, "ZeroMQ");
	if (dealer_show_key(client, err) < 0)
		return -1;
	client->monitor =
		socket_monitor_new(client->zmq, client->dealer, events, err);
	if (!client->monitor)
		return -1;
	client->monitor_watch =
		zmq_watch_new(client->loop, client->monitor, 1,
			      wire_client_monitor_ready, client, err);
	client->dealer_watch = zmq_watch_new(client->loop, client->dealer,
					     BURST, dealer_ready, client, err);
	if (!client->monitor_watch || !client->dealer_watch)
		return -1;
	if (zmq_connect(client->dealer, client->endpoint) < 0)
		return error_set(err, EINVAL,
				 "'%s' is not valid here; expected "
				 "tcp://HOST:PORT or ipc://PATH",
				 client->endpoint);
	zmq_watch_touch(client->dealer_watch);
	return 0;
}

struct wire_client *wire_client_new(sd_event *loop, void *zmq,
				    const char *endpoint, const struct key *key,
				    const char *server_public,
				    const struct wire_client_handler *handler,
				    void *arg, struct error *err)
{
	owned(wire_client_free) struct wire_client *client =
		calloc(1, sizeof(*client));
	uint8_t bytes[32];

	if (strlen(endpoint) >= sizeof(client->endpoint) ||
	    strlen(server_public) != KEY_TEXT_SIZE - 1 ||
	    !zmq_z85_decode(bytes, server_public))
		return error_null(
			error_set(err, EINVAL,
				  "controller: expected an endpoint of up to "
				  "%zu bytes "
				  "and a public key of 40 characters of Z85",
				  sizeof(client->endpoint) - 1));
	if (!client)
		return error_null(error_nomem(err, "client"));
	client->loop = sd_event_ref(loop);
	client->key = *key;
	client->handler = *handler;
	client->arg = arg;
	client->heartbeat_ms = WIRE_HEARTBEAT_MS;
	client->retry_ms = RETRY_MS;
	client->beat_ms = clock_mono_ms();
	memcpy(client->endpoint, endpoint, strlen(endpoint));
	if (server_keys_read(&client->server, server_public, "", err) < 0)
		return NULL;
	client->own_zmq = !zmq;
	client->zmq = zmq ? zmq : zmq_ctx_new();
	if (!client->zmq)
		return error_null(error_errno(err, "ZeroMQ"));
	if (client_open(client, err) < 0 ||
	    loop_timer(loop, &client->heartbeat, WIRE_HEARTBEAT_MS,
		       heartbeat_run, client, err) < 0)
		return NULL;
	return take(client);
}

int wire_client_remember(struct wire_client *client, const char *path,
			 struct error *err)
{
	const struct server_keys before = client->server;
	int rc = server_keys_read(&client->server, before.anchor, path, err);

	if (!client->on_next && !strcmp(before.current, client->server.current))
		return rc;
	client->on_next = false;
	client_close(client, 0);
	return client_open(client, rc < 0 ? NULL : err) < 0 ? -1 : rc;
}

const struct server_keys *wire_client_server(const struct wire_client *client)
{
	return &client->server;
}

void wire_client_free(struct wire_client *client)
{
	if (!client)
		return;
	loop_source_free(&client->heartbeat);
	loop_source_free(&client->reset);
	client_close(client, CLOSE_MS);
	if (client->own_zmq && client->zmq)
		zmq_ctx_term(client->zmq);
	sd_event_unref(client->loop);
	free(client);
}
