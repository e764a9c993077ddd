/* wire_hall.c - a wire server with its keys, and guests, all in one loop.
 */
#include "tests/unit/wire_hall.h"

#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "tests/wire_json.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static void hall_message(void *arg, struct wire_peer *peer,
			 enum message_type type, void *body,
			 const void *payload, size_t size)
{
	struct hall *hall = arg;
	struct message_welcome welcome = { PROTOCOL_VERSION, hall->heartbeat_ms,
					   1000, (uint64_t)clock_wall_ms(),
					   NULL };
	const struct message_log *log = body;

	hall->last = type;
	hall->payload_size = size;
	if (type == MESSAGE_HEARTBEAT)
		hall->heartbeats++;
	else if (type == MESSAGE_HELLO)
		hall->hellos++;
	else
		hall->messages++;
	if (type == MESSAGE_LOG)
		hall->in_order += log->offset == hall->log_offset++;
	if (hall->drop_next) {
		hall->drop_next = false;
		wire_server_drop(peer, ESHUTDOWN, "the hall closes");
		return;
	}
	if (type != MESSAGE_HELLO)
		return;
	hall->peer = peer;
	snprintf(hall->name, sizeof(hall->name), "%s", wire_peer_name(peer));
	hall->role = wire_peer_role(peer);
	wire_server_send(peer, MESSAGE_WELCOME, &welcome, NULL, 0, NULL);
	wire_server_flush(hall->server);
}

static void hall_gone(void *arg, struct wire_peer *peer, const char *why)
{
	struct hall *hall = arg;

	hall->gone++;
	if (hall->peer == peer)
		hall->peer = NULL;
	snprintf(hall->gone_why, sizeof(hall->gone_why), "%s", why);
	snprintf(hall->gone_name, sizeof(hall->gone_name), "%s",
		 wire_peer_name(peer));
}

static void hall_refused(void *arg, const char *who, const char *why)
{
	struct hall *hall = arg;

	hall->refused++;
	snprintf(hall->refused_who, sizeof(hall->refused_who), "%s", who);
	snprintf(hall->refused_why, sizeof(hall->refused_why), "%s", why);
}

static const struct wire_server_handler hall_handler = {
	.message = hall_message,
	.gone = hall_gone,
	.refused = hall_refused,
};

void hall_list(struct hall *hall, int count)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(65536);
	char line[256];

	for (int i = 0; i < count; i++) {
		key_line(&hall->keys[i], line, sizeof(line));
		buffer_text(&text, line, NULL);
	}
	file_write(AT_FDCWD, hall->list, text.data, text.size, 0600, 0, NULL);
}

void hall_open(struct hall *hall, const char *endpoint)
{
	struct error err;

	hall->keyring = keyring_new(hall->list, &err);
	hall->server = wire_server_new(hall->loop, &hall->own, hall->keyring,
				       &hall_handler, hall, &err);
	if (!hall->server ||
	    wire_server_bind(hall->server, endpoint, &err) < 0) {
		printf("Bail out! server: %s\n", err.text);
		exit(1);
	}
	if (hall->heartbeat_ms != WIRE_HEARTBEAT_MS)
		wire_server_set_heartbeat(hall->server, hall->heartbeat_ms);
	snprintf(hall->endpoint, sizeof(hall->endpoint), "%s",
		 wire_server_endpoint(hall->server));
}

void hall_close(struct hall *hall)
{
	wire_server_free(hall->server);
	keyring_free(hall->keyring);
	hall->server = NULL;
	hall->keyring = NULL;
	hall->peer = NULL;
}

void hall_init(struct hall *hall, const char *endpoint, uint32_t heartbeat_ms)
{
	static const struct {
		const char *name;
		enum role role;
	} keys[HALL_KEYS] = {
		{ "n1", ROLE_AGENT },
		{ "n2", ROLE_AGENT },
		{ "ann", ROLE_OPERATOR },
		{ "bob", ROLE_VIEWER },
	};

	char socket[160];

	*hall = (struct hall){ 0 };
	hall->heartbeat_ms = heartbeat_ms ? heartbeat_ms : WIRE_HEARTBEAT_MS;
	sd_event_new(&hall->loop);
	snprintf(hall->folder, sizeof(hall->folder), "/tmp/wire_test.XXXXXX");
	if (!mkdtemp(hall->folder))
		exit(1);
	snprintf(hall->list, sizeof(hall->list), "%s/keys", hall->folder);
	key_generate(&hall->own, "controller", ROLE_CONTROLLER, NULL);
	for (int i = 0; i < HALL_KEYS; i++)
		key_generate(&hall->keys[i], keys[i].name, keys[i].role, NULL);
	hall_list(hall, HALL_KEYS);
	snprintf(socket, sizeof(socket), "ipc://%s/socket", hall->folder);
	hall_open(hall, endpoint ? endpoint : socket);
}

void hall_clear(struct hall *hall)
{
	hall_close(hall);
	file_remove_tree(AT_FDCWD, hall->folder, NULL);
	sd_event_unref(hall->loop);
}

void hall_run(struct hall *hall, int ms)
{
	int64_t end = clock_mono_ms() + ms;

	while (clock_mono_ms() < end)
		sd_event_run(hall->loop, 5000);
}

/* Guests. */

static void guest_connected(void *arg)
{
	struct guest *guest = arg;
	struct message_hello hello = { .version = guest->version,
				       .software = (char *)"test" };

	guest->connected++;
	if (!guest->silent)
		guest_send(guest, MESSAGE_HELLO, &hello);
}

static void guest_message(void *arg, enum message_type type, void *body,
			  const void *payload, size_t size)
{
	struct guest *guest = arg;
	const struct message_refused *refused = body;
	const struct message_reply *reply = body;

	guest->last = type;
	guest->payload_size = size;
	if (type == MESSAGE_WELCOME) {
		guest->welcomes++;
		return;
	}
	guest->messages++;
	if (type == MESSAGE_REPLY)
		guest->request = reply->request;
	if (type != MESSAGE_REFUSED)
		return;
	guest->request = refused->request;
	guest->code = (int)refused->code;
	snprintf(guest->why, sizeof(guest->why), "%s", refused->text);
}

static void guest_paced(void *arg, uint32_t heartbeat_ms)
{
	struct guest *guest = arg;

	guest->paced_ms = heartbeat_ms;
}

static void guest_lost(void *arg, int code, const char *why)
{
	struct guest *guest = arg;

	guest->lost++;
	guest->code = code;
	snprintf(guest->why, sizeof(guest->why), "%s", why);
}

void guest_init(struct guest *guest, struct hall *hall, const struct key *key,
		void *zmq)
{
	static const struct wire_client_handler handler = {
		.connected = guest_connected,
		.message = guest_message,
		.lost = guest_lost,
		.paced = guest_paced,
	};
	struct error err;

	*guest = (struct guest){ .version = PROTOCOL_VERSION };
	guest->client =
		wire_client_new(hall->loop, zmq, hall->endpoint, key,
				hall->own.public, &handler, guest, &err);
	if (!guest->client) {
		printf("Bail out! client: %s\n", err.text);
		exit(1);
	}
}

void guest_clear(struct guest *guest)
{
	wire_client_free(guest->client);
	guest->client = NULL;
}

int guest_send(struct guest *guest, enum message_type type, const void *body)
{
	struct error err = { 0 };

	return wire_client_send(guest->client, type, body, NULL, 0, &err) < 0
		       ? err.code
		       : 0;
}

int guest_log(struct guest *guest, uint64_t offset, const void *payload,
	      size_t size)
{
	struct message_log log = {
		.job = 1, .attempt = 1, .stream = (char *)"0", .offset = offset
	};
	struct error err = { 0 };

	return wire_client_send(guest->client, MESSAGE_LOG, &log, payload, size,
				&err) < 0
		       ? err.code
		       : 0;
}

/* Strangers. */

void stranger_init(struct stranger *stranger, struct hall *hall,
		   const struct key *key, const char *id)
{
	int zero = 0;

	stranger->text[0] = 0;
	stranger->zmq = zmq_ctx_new();
	stranger->dealer = zmq_socket(stranger->zmq, ZMQ_DEALER);
	if (id)
		zmq_setsockopt(stranger->dealer, ZMQ_ROUTING_ID, id,
			       strlen(id));
	zmq_setsockopt(stranger->dealer, ZMQ_LINGER, &zero, sizeof(zero));
	zmq_setsockopt(stranger->dealer, ZMQ_CURVE_SERVERKEY, hall->own.public,
		       KEY_TEXT_SIZE);
	zmq_setsockopt(stranger->dealer, ZMQ_CURVE_PUBLICKEY, key->public,
		       KEY_TEXT_SIZE);
	zmq_setsockopt(stranger->dealer, ZMQ_CURVE_SECRETKEY, key->secret,
		       KEY_TEXT_SIZE);
	zmq_connect(stranger->dealer, hall->endpoint);
}

void stranger_clear(struct stranger *stranger)
{
	if (!stranger->zmq)
		return;
	zmq_close(stranger->dealer);
	zmq_ctx_term(stranger->zmq);
	stranger->zmq = NULL;
}

static void say(struct stranger *stranger, const char *text, int flags)
{
	owned(buffer_clear) struct buffer bytes = BUFFER_INIT(MESSAGE_TEXT_MAX);

	if (wire_from_json(text, &bytes))
		zmq_send(stranger->dealer, bytes.data, bytes.size, flags);
	else
		zmq_send(stranger->dealer, text, strlen(text), flags);
}

void stranger_say(struct stranger *stranger, const char *text)
{
	say(stranger, text, 0);
}

void stranger_say_with(struct stranger *stranger, const char *text,
		       const char *payload)
{
	say(stranger, text, ZMQ_SNDMORE);
	zmq_send(stranger->dealer, payload, strlen(payload), 0);
}

bool stranger_hears(struct stranger *stranger)
{
	owned(buffer_clear) struct buffer text;
	owned_free char *data = malloc(sizeof(stranger->text));
	int got = zmq_recv(stranger->dealer, data, sizeof(stranger->text),
			   ZMQ_DONTWAIT);

	buffer_init(&text, sizeof(stranger->text) - 1);
	if (got < 0)
		return false;
	wire_to_json(data, (size_t)got, &text);
	memcpy(stranger->text, text.data, text.size + 1);
	return true;
}
