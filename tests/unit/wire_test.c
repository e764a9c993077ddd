/* wire_test.c - sessions over the encrypted channel: begin, carry, end, return.
 */
#include "protocol/base/clock.h"
#include "tests/tap.h"
#include "tests/unit/wire_hall.h"
#include "tests/wire_json.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ANYWHERE "tcp://127.0.0.1:*"

static void test_hello(void)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest agent, viewer;
	struct message_heartbeat beat = { .time_ms = 1 };

	hall_init(&hall, ANYWHERE, 0);
	agent.client = viewer.client = NULL;
	guest_init(&agent, &hall, &hall.keys[HALL_AGENT], NULL);
	is_int(guest_send(&agent, MESSAGE_HEARTBEAT, &beat), ENOTCONN,
	       "nothing can be sent before the handshake");
	WAIT(&hall, agent.welcomes);
	is_int(hall.hellos, 1, "an agent's hello arrives");
	is(hall.name, "n1", "under the name of its key");
	is_int(hall.role, ROLE_AGENT, "with the role of its key");
	ok(agent.connected == 1 && agent.welcomes == 1 && !agent.lost,
	   "and the welcome comes back");
	guest_init(&viewer, &hall, &hall.keys[HALL_VIEWER], NULL);
	WAIT(&hall, viewer.welcomes);
	is(hall.name, "bob", "a person's session stands beside it");
	is_int(hall.role, ROLE_VIEWER, "with another role");
	guest_send(&agent, MESSAGE_HEARTBEAT, &beat);
	WAIT(&hall, hall.heartbeats);
	is_int(hall.heartbeats, 1, "messages arrive");
	ok(!hall.refused && !hall.gone, "nobody was refused or is gone");
}

static void test_clock(void)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest agent;
	struct message_heartbeat beat = { .time_ms = 1 };
	struct exchange best = { 0 };
	int64_t ahead_ms = clock_wall_ms() - clock_mono_ms();

	hall_init(&hall, ANYWHERE, 0);
	agent.client = NULL;
	guest_init(&agent, &hall, &hall.keys[HALL_AGENT], NULL);
	ok(!wire_client_clock(agent.client, &best),
	   "before the welcome nothing is known of the other clock");
	WAIT(&hall, wire_client_clock(agent.client, &best));
	guest_send(&agent, MESSAGE_HEARTBEAT, &beat);
	WAIT(&hall, hall.heartbeats);
	hall_run(&hall, 50);
	wire_client_clock(agent.client, &best);
	ok(best.round_trip_ms >= 0 && llabs(best.ahead_ms - ahead_ms) <=
					      best.round_trip_ms / 2 + 2,
	   "then it is, within half a round trip of %lld ms: off by %lld",
	   (long long)best.round_trip_ms,
	   (long long)(best.ahead_ms - ahead_ms));
}

static void test_two_over_ipc(void)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest one, two;
	void *zmq = zmq_ctx_new();

	hall_init(&hall, NULL, 200);
	guest_init(&one, &hall, &hall.keys[HALL_AGENT], zmq);
	guest_init(&two, &hall, &hall.keys[HALL_OTHER], zmq);
	WAIT(&hall, one.welcomes && two.welcomes);
	ok(one.welcomes == 1 && two.welcomes == 1,
	   "two clients share a context, over a unix socket");
	guest_clear(&one);
	WAIT(&hall, hall.gone);
	is(hall.gone_name, "n1", "one leaves");
	is(hall.gone_why, "its connection was lost", "which is noticed");
	ok(guest_log(&two, 0, "x", 1) == 0, "the other stays");
	WAIT(&hall, hall.messages);
	is_int(hall.messages, 1, "and is heard");
	guest_clear(&two);
	zmq_ctx_term(zmq);
}

static void test_last_words(void)
{
	owned(hall_clear) struct hall hall;
	struct guest guest;

	hall_init(&hall, ANYWHERE, 200);
	guest_init(&guest, &hall, &hall.keys[HALL_AGENT], NULL);
	WAIT(&hall, guest.welcomes);
	for (uint64_t i = 0; i < 500; i++)
		guest_log(&guest, i, "x", 1);
	guest_clear(&guest);
	WAIT(&hall, hall.gone);
	is_int(hall.in_order, 500,
	       "what was sent before the end of a client still arrives");
	is(hall.gone_why, "its connection was lost", "then its session ends");
}

/* As fast as the queues take them. */
static void send_logs(struct hall *hall, struct guest *guest, int count)
{
	for (uint64_t i = 0; i < (uint64_t)count;) {
		int code = guest_log(guest, i, "0123456789", 10);

		if (!code)
			i++;
		else if (code == EAGAIN)
			sd_event_run(hall->loop, 1000);
		else
			break;
	}
}

static void test_many(void)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest guest;

	hall_init(&hall, ANYWHERE, 0);
	guest_init(&guest, &hall, &hall.keys[HALL_AGENT], NULL);
	WAIT(&hall, guest.welcomes);
	send_logs(&hall, &guest, 20000);
	WAIT(&hall, hall.messages >= 20000);
	is_int(hall.in_order, 20000, "20,000 messages arrive in order");
	ok(!guest.lost && !hall.refused, "without a complaint");
}

/* Of a reply without fields; the caller frees its bytes. */
static struct packed empty_body(void)
{
	static const cJSON object = { .type = cJSON_Object };

	return packed_tree(&object);
}

static void test_replies(void)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest guest;
	owned_free char *large = malloc(MESSAGE_PAYLOAD_MAX + 1);
	owned_free char *text = malloc(200001);
	struct message_reply reply = { .request = 7 };
	struct error err = { 0 };
	cJSON *list;

	hall_init(&hall, ANYWHERE, 0);
	guest_init(&guest, &hall, &hall.keys[HALL_OPERATOR], NULL);
	WAIT(&hall, guest.welcomes);
	memset(large, 'x', MESSAGE_PAYLOAD_MAX + 1);
	memset(text, 'y', 200000);
	text[200000] = 0;
	list = cJSON_CreateArray();
	for (int i = 0; i < 20; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(text));
	reply.body = packed_tree(list);
	ok(wire_server_send(hall.peer, MESSAGE_REPLY, &reply, large,
			    MESSAGE_PAYLOAD_MAX, &err) == 0,
	   "a reply of 4 MB with 1 MiB behind it is queued");
	hall_run(&hall, 50);
	is_int(guest.messages, 0, "nothing is sent before the flush");
	wire_server_flush(hall.server);
	WAIT(&hall, guest.messages);
	ok(guest.request == 7 && guest.payload_size == MESSAGE_PAYLOAD_MAX,
	   "then it arrives whole");
	ok(wire_server_send(hall.peer, MESSAGE_REPLY, &reply, large,
			    MESSAGE_PAYLOAD_MAX + 1, &err) < 0 &&
		   err.code == E2BIG,
	   "a larger payload is refused: %s", err.text);
	free(reply.body.bytes);
	cJSON_AddItemToArray(list, cJSON_CreateString(text));
	reply.body = packed_tree(list);
	ok(wire_server_send(hall.peer, MESSAGE_REPLY, &reply, NULL, 0, &err) <
			   0 &&
		   err.code == E2BIG,
	   "so is a larger reply: %s", err.text);
	free(reply.body.bytes);
	reply.body = (struct packed){ 0 };
	cJSON_Delete(list);
	ok(wire_server_send(hall.peer, MESSAGE_REPLY, &reply, NULL, 0, &err) <
			   0 &&
		   err.code == EINVAL,
	   "so is one without body: %s", err.text);
	ok(!guest.lost, "the session lives on");
}

static void test_largest_payload(void)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest guest;
	owned_free char *large = calloc(1, MESSAGE_PAYLOAD_MAX + 1);

	hall_init(&hall, ANYWHERE, 0);
	guest_init(&guest, &hall, &hall.keys[HALL_AGENT], NULL);
	WAIT(&hall, guest.welcomes);
	is_int(guest_log(&guest, 0, large, MESSAGE_PAYLOAD_MAX + 1), E2BIG,
	       "a client does not send a payload past the limit");
	guest_log(&guest, 0, large, MESSAGE_PAYLOAD_MAX);
	WAIT(&hall, hall.messages);
	is_int((long long)hall.payload_size, MESSAGE_PAYLOAD_MAX,
	       "one of exactly the limit arrives");
	ok(!guest.lost && !hall.refused, "and harms nothing");
}

/* Others that speak do not wait for all of a peer's payloads. */
static void test_payloads_of_a_turn(void)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest guest;
	owned_free char *payload = calloc(1, MESSAGE_PAYLOAD_MAX / 4);
	int most = 0, before;

	hall_init(&hall, ANYWHERE, 0);
	guest_init(&guest, &hall, &hall.keys[HALL_AGENT], NULL);
	WAIT(&hall, guest.welcomes);
	wire_server_pause(hall.server, true);
	for (uint64_t i = 0; i < 40; i++)
		guest_log(&guest, i, payload, MESSAGE_PAYLOAD_MAX / 4);
	hall_run(&hall, 200);
	wire_server_pause(hall.server, false);
	do {
		before = hall.messages;
		sd_event_run(hall.loop, 10000000);
		if (hall.messages - before > most)
			most = hall.messages - before;
	} while (hall.messages < 40 && !guest.lost);
	is_int(most, 4, "a turn takes 1 MiB of payloads at most");
	is_int(hall.in_order, 40, "all arrive, in order");
}

static void test_lagging(void)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest guest;
	owned_free char *payload = calloc(1, 1000);
	struct message_reply reply = { .request = 1 };
	int got;

	hall_init(&hall, ANYWHERE, 0);
	guest_init(&guest, &hall, &hall.keys[HALL_OPERATOR], NULL);
	WAIT(&hall, guest.welcomes);
	reply.body = empty_body();
	for (int i = 0; i < 5000; i++)
		wire_server_send(hall.peer, MESSAGE_REPLY, &reply, payload,
				 1000, NULL);
	free(reply.body.bytes);
	wire_server_flush(hall.server);
	ok(wire_peer_lagged(hall.peer),
	   "a peer whose queue is full is said to lag");
	ok(!wire_peer_lagged(hall.peer), "once");
	for (got = -1; guest.messages != got;) {
		got = guest.messages;
		hall_run(&hall, 100);
	}
	ok(got >= 900 && got < 5000 && !guest.lost,
	   "it got the %d that the queue took, its session lives", got);
}

static void test_pause(void)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest guest;

	hall_init(&hall, ANYWHERE, 100);
	guest_init(&guest, &hall, &hall.keys[HALL_AGENT], NULL);
	WAIT(&hall, guest.welcomes);
	wire_server_pause(hall.server, true);
	for (uint64_t i = 0; i < 600; i++)
		guest_log(&guest, i, "x", 1);
	hall_run(&hall, 150);
	is_int(hall.messages, 0, "a paused server takes no message");
	wire_server_pause(hall.server, false);
	WAIT(&hall, hall.messages >= 600);
	is_int(hall.in_order, 600, "after the pause all are there, in order");
	wire_server_pause(hall.server, true);
	WAIT(&hall, guest.lost);
	ok(guest.code == ETIMEDOUT && !hall.gone,
	   "in a long pause a client leaves: %s", guest.why);
	ok(!hall.gone, "the server ends no session meanwhile");
	wire_server_pause(hall.server, false);
	WAIT(&hall, guest.welcomes == 2);
	is_int(guest.welcomes, 2, "and the client is back after it");
}

/* The server ends, and begins again with the key that it told. */
static void test_rest(void)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest guest;

	hall_init(&hall, ANYWHERE, 0);
	guest_init(&guest, &hall, &hall.keys[HALL_AGENT], NULL);
	WAIT(&hall, guest.welcomes);
	wire_server_rest(hall.server, 200);
	wire_server_rest(hall.server, 60000);
	guest_log(&guest, 0, "x", 1);
	guest_log(&guest, 1, "x", 1);
	hall_run(&hall, 100);
	is_int(hall.messages, 0, "a server that rests takes nothing");
	wire_server_pause(hall.server, true);
	hall_run(&hall, 200);
	is_int(hall.messages, 0, "nor one that is paused when its rest ends");
	wire_server_pause(hall.server, false);
	WAIT(&hall, hall.messages == 2);
	is_int(hall.in_order, 2, "what came meanwhile is taken afterwards");
}

static void test_next_key(const char *anywhere)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest guest, late;
	struct message_heartbeat beat = { .time_ms = 1 };
	char first[KEY_TEXT_SIZE], path[128], endpoint[256];
	struct server_keys kept;
	struct error err = { 0 };
	struct key next;

	hall_init(&hall, anywhere, 0);
	guest.client = late.client = NULL;
	memcpy(first, hall.own.public, KEY_TEXT_SIZE);
	memcpy(endpoint, hall.endpoint, sizeof(endpoint));
	snprintf(path, sizeof(path), "%s/kept", hall.folder);
	guest_init(&guest, &hall, &hall.keys[HALL_AGENT], NULL);
	is_int(wire_client_remember(guest.client, path, &err), 0,
	       "nothing is kept at first: %s", err.text);
	WAIT(&hall, guest.welcomes);
	key_generate(&next, "controller", ROLE_CONTROLLER, NULL);
	wire_server_set_next_key(hall.server, next.public);
	guest_send(&guest, MESSAGE_HEARTBEAT, &beat);
	WAIT(&hall, wire_client_server(guest.client)->next[0]);
	ok(server_keys_read(&kept, first, path, &err) == 0 &&
		   !strcmp(kept.current, first) &&
		   !strcmp(kept.next, next.public),
	   "a heartbeat tells the next key, which is kept: %s", err.text);
	hall_close(&hall);
	hall_open(&hall, endpoint);
	WAIT(&hall, guest.welcomes == 2);
	ok(guest.welcomes == 2 && wire_client_server(guest.client)->next[0],
	   "as long as the server has the key before, that one counts");
	hall_close(&hall);
	hall.own = next;
	hall_open(&hall, endpoint);
	WAIT(&hall, guest.welcomes == 3);
	ok(guest.welcomes == 3 && guest.code != EPROTO,
	   "a client follows to the next key: %s", guest.why);
	ok(server_keys_read(&kept, first, path, &err) == 0 &&
		   !strcmp(kept.current, next.public) &&
		   !strcmp(kept.former, first) && !kept.next[0],
	   "and keeps that: %s", err.text);
	memcpy(hall.own.public, first, KEY_TEXT_SIZE);
	guest_init(&late, &hall, &hall.keys[HALL_VIEWER], NULL);
	WAIT(&hall, late.code == (anywhere ? EPROTO : EACCES));
	ok(strstr(late.why,
		  anywhere ? "if it was rotated" : "does not accept this key"),
	   "one that was not told is refused, in words: %s", late.why);
	wire_client_remember(late.client, path, &err);
	WAIT(&hall, late.welcomes);
	is_int(late.welcomes, 1, "with what was kept it gets on");
}

static void test_silence(void)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest guest;
	owned(stranger_clear) struct stranger mute;
	int64_t since;

	hall_init(&hall, ANYWHERE, 100);
	mute.zmq = NULL;
	guest_init(&guest, &hall, &hall.keys[HALL_AGENT], NULL);
	WAIT(&hall, guest.welcomes);
	stranger_init(&mute, &hall, &hall.keys[HALL_OTHER], NULL);
	stranger_say(&mute, HELLO);
	WAIT(&hall, hall.hellos == 2);
	since = clock_mono_ms();
	/* As a controller does at each commit: it was not paused. */
	WAIT(&hall, (wire_server_pause(hall.server, false), hall.gone));
	ok(clock_mono_ms() - since >= 290,
	   "a silent peer is gone after three heartbeats (%lld ms)",
	   (long long)(clock_mono_ms() - since));
	is(hall.gone_name, "n2", "the right one");
	is(hall.gone_why, "silent", "and this is why");
	WAIT(&hall, stranger_hears(&mute) && strstr(mute.text, "refused"));
	stranger_say(&mute, "{\"type\":\"heartbeat\",\"time_ms\":1}");
	hall_run(&hall, 300);
	ok(guest.lost == 0 && hall.gone == 1 && hall.heartbeats >= 4,
	   "a client keeps its session with heartbeats, as the welcome says");
}

static void test_pace(void)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest guest;

	hall_init(&hall, ANYWHERE, 50);
	guest_init(&guest, &hall, &hall.keys[HALL_AGENT], NULL);
	WAIT(&hall, guest.welcomes);
	wire_server_set_heartbeat(hall.server, 400);
	WAIT(&hall, guest.paced_ms == 400);
	ok(guest.paced_ms == 400, "the answer to a heartbeat makes them rarer");
	wire_server_set_heartbeat(hall.server, 50);
	WAIT(&hall, guest.paced_ms == 50);
	ok(guest.paced_ms == 50 && !guest.lost && !hall.gone,
	   "a peer that was told a longer time is not silent before that");
}

/* Messages of one turn go in one frame, but one with a payload goes alone; they
 * are taken in their order, also from a frame of a peer.
 */
static void test_one_frame(void)
{
	static const char *const beats[] = {
		"{\"type\":\"heartbeat\",\"time_ms\":1}",
		"{\"type\":\"heartbeat\",\"time_ms\":2}",
		"{\"type\":\"discarded\",\"job\":1,\"attempt\":1,\"rank\":0}",
	};
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest guest;
	owned(stranger_clear) struct stranger plain;
	owned(buffer_clear) struct buffer frame = BUFFER_INIT(1000);
	struct message_stop stop = { .job = 1, .reason = (char *)"cancelled" };
	struct message_reply reply = { .body = empty_body() };

	hall_init(&hall, ANYWHERE, 0);
	guest.client = NULL;
	stranger_init(&plain, &hall, &hall.keys[HALL_OTHER], NULL);
	stranger_say(&plain, HELLO);
	WAIT(&hall, stranger_hears(&plain));
	for (size_t i = 0; i < 3; i++)
		wire_from_json(beats[i], &frame);
	zmq_send(plain.dealer, frame.data, frame.size, 0);
	WAIT(&hall, hall.messages);
	ok(hall.heartbeats == 2 && hall.last == MESSAGE_DISCARDED,
	   "messages that come in one frame are all taken");
	WAIT(&hall, stranger_hears(&plain));
	WAIT(&hall, stranger_hears(&plain));
	for (stop.attempt = 0; stop.attempt < 3; stop.attempt++)
		wire_server_send(hall.peer, MESSAGE_STOP, &stop, NULL, 0, NULL);
	wire_server_flush(hall.server);
	WAIT(&hall, stranger_hears(&plain));
	ok(strstr(plain.text, "\"attempt\":0") &&
		   strstr(plain.text, "\"attempt\":1") &&
		   strstr(plain.text, "\"attempt\":2"),
	   "those of one turn come in one frame: %s", plain.text);
	guest_init(&guest, &hall, &hall.keys[HALL_OPERATOR], NULL);
	WAIT(&hall, guest.welcomes);
	wire_server_send(hall.peer, MESSAGE_STOP, &stop, NULL, 0, NULL);
	wire_server_send(hall.peer, MESSAGE_REPLY, &reply, "x", 1, NULL);
	for (int i = 0; i < 3000; i++)
		wire_server_send(hall.peer, MESSAGE_STOP, &stop, NULL, 0, NULL);
	reply.request = 7;
	wire_server_send(hall.peer, MESSAGE_REPLY, &reply, "xy", 2, NULL);
	wire_server_flush(hall.server);
	WAIT(&hall, guest.request == 7);
	ok(guest.messages == 3003 && guest.payload_size == 2,
	   "all %d of a turn come, and the payloads with their own",
	   guest.messages);
	free(reply.body.bytes);
}

/* The whole process stands still for longer than the silence. */
static void test_stopped(void)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest guest;
	int64_t end;

	hall_init(&hall, ANYWHERE, 100);
	guest_init(&guest, &hall, &hall.keys[HALL_AGENT], NULL);
	WAIT(&hall, guest.welcomes && hall.heartbeats);
	end = clock_mono_ms() + 600;
	while (clock_mono_ms() < end)
		; /* as SIGSTOP would, for all in this process */
	hall_run(&hall, 400);
	ok(!guest.lost && !hall.gone,
	   "time that we ourselves stood still is nobody's silence");
}

static void test_restart(void)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest guest;
	char endpoint[256];

	hall_init(&hall, ANYWHERE, 0);
	guest_init(&guest, &hall, &hall.keys[HALL_AGENT], NULL);
	WAIT(&hall, guest.welcomes);
	snprintf(endpoint, sizeof(endpoint), "%s", hall.endpoint);
	hall_close(&hall);
	WAIT(&hall, guest.lost);
	is_int(guest.code, ECONNRESET, "a client notices the server's end");
	is(guest.why, "the connection to the controller was lost", "in words");
	is_int(guest_log(&guest, 0, "x", 1), ENOTCONN,
	       "and sends nothing meanwhile");
	WAIT(&hall, guest.lost >= 2);
	is_int(guest.code, ECONNREFUSED, "it says that nobody is there: %s",
	       guest.why);
	hall_open(&hall, endpoint);
	WAIT(&hall, guest.welcomes == 2);
	ok(guest.welcomes == 2 && guest.connected == 2,
	   "and connects again when the server is back");
	guest_log(&guest, 0, "x", 1);
	WAIT(&hall, hall.messages);
	is_int(hall.messages, 1, "the new session carries messages");
}

static void test_client_arguments(void)
{
	static const struct wire_client_handler handler = { 0 };
	struct error err = { 0 };
	struct key key;
	sd_event *loop = NULL;
	char longest[400];

	sd_event_new(&loop);
	key_generate(&key, "n1", ROLE_AGENT, NULL);
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	ok(!wire_client_new(loop, NULL, "nowhere", &key, key.public, &handler,
			    NULL, &err) &&
		   err.code == EINVAL,
	   "an endpoint that is none is refused: %s", err.text);
	ok(!wire_client_new(loop, NULL, longest, &key, key.public, &handler,
			    NULL, &err) &&
		   err.code == EINVAL,
	   "so is one that is too long: %s", err.text);
	ok(!wire_client_new(loop, NULL, "tcp://127.0.0.1:1", &key, "key",
			    &handler, NULL, &err) &&
		   err.code == EINVAL,
	   "so is a public key that is none");
	sd_event_unref(loop);
}

/* A server that is killed leaves its socket. */
static void test_left_socket(void)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest agent;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char endpoint[256];
	int fd, rc;

	hall_init(&hall, NULL, 0);
	snprintf(endpoint, sizeof(endpoint), "%s", hall.endpoint);
	hall_close(&hall);
	snprintf(address.sun_path, sizeof(address.sun_path), "%.100s",
		 endpoint + strlen("ipc://"));
	unlink(address.sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	rc = bind(fd, (struct sockaddr *)&address, sizeof(address));
	close(fd);
	is_int(rc, 0, "a socket is left");
	hall_open(&hall, endpoint);
	guest_init(&agent, &hall, &hall.keys[HALL_AGENT], NULL);
	WAIT(&hall, agent.welcomes);
	is_int(agent.welcomes, 1, "and the next server listens there");
}

int main(void)
{
	tap_begin(120);
	test_hello();
	test_clock();
	test_two_over_ipc();
	test_last_words();
	test_many();
	test_replies();
	test_largest_payload();
	test_payloads_of_a_turn();
	test_lagging();
	test_pause();
	test_rest();
	test_next_key(ANYWHERE);
	test_next_key(NULL);
	test_silence();
	test_pace();
	test_one_frame();
	test_stopped();
	test_restart();
	test_left_socket();
	test_client_arguments();
	return tap_done();
}
