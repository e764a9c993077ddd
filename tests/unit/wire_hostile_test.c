/* wire_hostile_test.c - whoever does not belong or behave is sent away in
 * words, and nobody else notices.
 */
#include "protocol/wire/budget.h"
#include "protocol/wire/unread.h"
#include "protocol/base/clock.h"
#include "tests/tap.h"
#include "tests/unit/wire_hall.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define ANYWHERE "tcp://127.0.0.1:*"

/* Every test runs beside a good agent, which must not notice. */
struct scene {
	struct hall hall;
	struct guest good;
};

static void scene_open(struct scene *scene, uint32_t heartbeat_ms)
{
	hall_init(&scene->hall, ANYWHERE, heartbeat_ms);
	guest_init(&scene->good, &scene->hall, &scene->hall.keys[HALL_AGENT],
		   NULL);
	WAIT(&scene->hall, scene->good.welcomes);
}

static void scene_init(struct scene *scene)
{
	scene_open(scene, 200);
}

static void scene_clear(struct scene *scene)
{
	int before = scene->hall.messages;

	guest_log(&scene->good, 0, "x", 1);
	WAIT(&scene->hall, scene->hall.messages > before);
	ok(scene->good.welcomes == 1 && !scene->good.lost &&
		   scene->hall.messages > before,
	   "the good agent's session lives on and carries messages");
	guest_clear(&scene->good);
	hall_clear(&scene->hall);
}
OWNED_VALUE(struct scene, scene_clear)

static void test_unknown_key(void)
{
	owned(scene_clear) struct scene scene;
	owned(guest_clear) struct guest guest;
	struct hall *hall = &scene.hall;
	struct key key;

	scene_init(&scene);
	key_generate(&key, "n3", ROLE_AGENT, NULL);
	guest_init(&guest, hall, &key, NULL);
	WAIT(hall, guest.lost);
	is_int(guest.code, EACCES, "a key that is not in the list is EACCES");
	is(guest.why, "the controller does not accept this key", "in words");
	ok(hall->refused >= 1, "the server is told");
	ok(strstr(hall->refused_why, key.public) &&
		   !strcmp(hall->refused_who, "127.0.0.1"),
	   "which key, and from where: %s: %s", hall->refused_who,
	   hall->refused_why);
	ok(!guest.connected && hall->hellos == 1, "there is no session");
	WAIT(hall, guest.lost >= 2);
	ok(guest.lost >= 2, "the client goes on trying");
	hall->keys[HALL_VIEWER] = key;
	hall_list(hall, HALL_KEYS);
	WAIT(hall, guest.welcomes);
	is_int(guest.welcomes, 1, "and is in as soon as its key is listed");
	is(hall->name, "n3", "under its name");
}

static void test_key_without_role(void)
{
	owned(scene_clear) struct scene scene;
	owned(guest_clear) struct guest guest;
	struct hall *hall = &scene.hall;

	scene_init(&scene);
	hall->keys[HALL_VIEWER] = hall->own;
	hall_list(hall, HALL_KEYS);
	guest_init(&guest, hall, &hall->own, NULL);
	WAIT(hall, guest.lost);
	ok(guest.code == EACCES && !guest.connected,
	   "the controller's own key is no peer's");
}

/* At a unix socket a name and a password say which key a peer holds. good: its
 * session begins.
 */
static void said_to_socket(struct hall *hall, const char *name,
			   const char *password, bool good, const char *what)
{
	void *zmq = zmq_ctx_new(), *dealer = zmq_socket(zmq, ZMQ_DEALER);
	int zero = 0, hellos = hall->hellos, refused = hall->refused;
	char hello[100];

	snprintf(hello, sizeof(hello),
		 "{\"type\":\"hello\",\"version\":%d,\"software\":\"x\"}",
		 PROTOCOL_VERSION);
	zmq_setsockopt(dealer, ZMQ_LINGER, &zero, sizeof(zero));
	if (name)
		zmq_setsockopt(dealer, ZMQ_PLAIN_USERNAME, name, strlen(name));
	if (password)
		zmq_setsockopt(dealer, ZMQ_PLAIN_PASSWORD, password,
			       strlen(password));
	zmq_connect(dealer, hall->endpoint);
	zmq_send(dealer, hello, strlen(hello), 0);
	if (name)
		WAIT(hall, hall->refused > refused || hall->hellos > hellos);
	else
		hall_run(hall, 300);
	ok(good == (hall->hellos > hellos), "%s is %s: %s", what,
	   good ? "known" : "nobody", good ? hall->name : hall->refused_why);
	zmq_close(dealer);
	zmq_ctx_term(zmq);
}

static void test_unix_socket(void)
{
	owned(hall_clear) struct hall hall;
	owned(guest_clear) struct guest good, bad, remote;
	owned(stranger_clear) struct stranger encrypted;
	char at_socket[sizeof(hall.endpoint)];
	static const struct wire_client_handler nothing;
	char proof[KEY_TEXT_SIZE], own[KEY_TEXT_SIZE];
	const struct key *agent, *other;
	struct error err;

	hall_init(&hall, NULL, 0);
	agent = &hall.keys[HALL_AGENT];
	other = &hall.keys[HALL_OTHER];
	good.client = bad.client = remote.client = NULL;
	encrypted.zmq = NULL;
	guest_init(&good, &hall, agent, NULL);
	WAIT(&hall, good.welcomes);
	is(hall.name, "n1", "a unix socket knows a peer by its key");
	key_proof(other, hall.own.public, proof, NULL);
	key_proof(&hall.own, other->public, own, NULL);
	is(own, proof, "the proof of a key is the same at both ends");
	said_to_socket(&hall, other->public, proof, true, "a key's proof");
	said_to_socket(&hall, agent->public, proof, false,
		       "another key's proof");
	said_to_socket(&hall, agent->public, agent->public, false,
		       "a public key");
	said_to_socket(&hall, agent->public, "", false, "no proof");
	said_to_socket(&hall, "n1", proof, false, "a name");
	said_to_socket(&hall, hall.own.public, proof, false,
		       "the server's key");
	said_to_socket(&hall, NULL, NULL, false, "one who says nothing");
	stranger_init(&encrypted, &hall, other, NULL);
	stranger_say(&encrypted,
		     "{\"type\":\"hello\",\"version\":3,\"software\":\"x\"}");
	hall_run(&hall, 300);
	is_int(hall.hellos, 2, "nor is one who encrypts");
	bad.silent = false;
	guest_init(&bad, &hall, &hall.own, NULL);
	WAIT(&hall, bad.lost);
	is_int(bad.code, EACCES, "the controller's own key is no peer's there");
	ok(good.welcomes == 1 && !good.lost, "and nobody else notices");
	/* The same server, at a port. */
	memcpy(at_socket, hall.endpoint, sizeof(at_socket));
	wire_server_bind(hall.server, ANYWHERE, NULL);
	snprintf(hall.endpoint, sizeof(hall.endpoint), "%s",
		 wire_server_endpoint(hall.server));
	key_proof(agent, hall.own.public, proof, NULL);
	said_to_socket(&hall, agent->public, proof, false, "a proof at a port");
	guest_init(&remote, &hall, other, NULL);
	WAIT(&hall, remote.welcomes);
	is(hall.name, "n2", "at a port it is CURVE");
	memcpy(hall.endpoint, at_socket, sizeof(at_socket));
	chmod(hall.folder, 0777);
	ok(!wire_client_new(hall.loop, NULL, hall.endpoint, agent,
			    hall.own.public, &nothing, NULL, &err) &&
		   err.code == EPERM,
	   "a socket that others could replace is not used: %s", err.text);
	ok(wire_server_bind(hall.server, hall.endpoint, &err) < 0 &&
		   err.code == EPERM,
	   "nor listened at: %s", err.text);
	ok(wire_server_bind(hall.server, "ipc://@regatta", &err) < 0 &&
		   err.code == EINVAL,
	   "a name without a folder is none: %s", err.text);
}

static void test_wrong_server(void)
{
	owned(scene_clear) struct scene scene;
	owned(guest_clear) struct guest guest;
	struct hall *hall = &scene.hall;
	struct key own, other;

	scene_init(&scene);
	own = hall->own;
	key_generate(&other, "controller", ROLE_CONTROLLER, NULL);
	hall->own = other;
	guest_init(&guest, hall, &hall->keys[HALL_OTHER], NULL);
	hall->own = own;
	WAIT(hall, guest.lost);
	is_int(guest.code, ECONNRESET, "a handshake may fail once");
	/* Of one that has left already the address cannot be known any more. */
	WAIT(hall, guest.lost >= 2 && hall->refused &&
			   strcmp(hall->refused_who, "somebody") != 0);
	is_int(guest.code, EPROTO,
	       "a client with another server key is EPROTO");
	ok(strstr(guest.why, "not the given public key"), "in words: %s",
	   guest.why);
	ok(strstr(hall->refused_why, "disconnected without a message") &&
		   !strcmp(hall->refused_who, "127.0.0.1"),
	   "the server is told: %s: %s", hall->refused_who, hall->refused_why);
	is_int(guest.connected, 0, "there is no session");
}

static void test_versions(void)
{
	owned(scene_clear) struct scene scene;
	owned(guest_clear) struct guest guest;
	owned(stranger_clear) struct stranger later;
	struct hall *hall = &scene.hall;
	int64_t since;

	scene_init(&scene);
	later.zmq = NULL;
	guest_init(&guest, hall, &hall->keys[HALL_OTHER], NULL);
	guest.version = 1;
	WAIT(hall, guest.lost);
	is_int(guest.code, EPROTONOSUPPORT, "another version is refused");
	is(guest.why,
	   "protocol version 1; expected 3: install the same release on both "
	   "sides",
	   "in words");
	is(hall->refused_who, "n2", "the server is told who");
	since = clock_mono_ms();
	WAIT(hall, guest.lost == 3);
	ok(clock_mono_ms() - since >= 700,
	   "it tries again ever slower (%lld ms for two)",
	   (long long)(clock_mono_ms() - since));
	guest_clear(&guest);
	stranger_init(&later, hall, &hall->keys[HALL_OPERATOR], NULL);
	stranger_say(&later, "{\"type\":\"hello\",\"version\":7,"
			     "\"dialect\":[1,{}]}");
	WAIT(hall, stranger_hears(&later));
	ok(strstr(later.text, "protocol version 7; expected 3"),
	   "so is a later one, whose hello has fields unknown here: %s",
	   later.text);
	is_int(hall->hellos, 1, "no session was begun");
}

static int dial(const struct hall *hall)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval limit = { 10, 0 };

	to.sin_port = htons(
		(uint16_t)strtoul(strrchr(hall->endpoint, ':') + 1, NULL, 10));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		printf("# cannot connect\n");
	return fd;
}

static void test_garbage_on_the_port(void)
{
	static const char http[] = "GET / HTTP/1.1\r\nHost: here\r\n\r\n";
	owned(scene_clear) struct scene scene;
	struct hall *hall = &scene.hall;
	char noise[4096];
	ssize_t got;

	scene_init(&scene);
	for (int i = 0; i < 25; i++) {
		owned_fd int fd = dial(hall);

		for (size_t k = 0; k < sizeof(noise); k++)
			noise[k] = (char)(k * 7 + (size_t)i * 31);
		if (i % 2)
			got = send(fd, noise, sizeof(noise), MSG_NOSIGNAL);
		else
			got = send(fd, http, sizeof(http) - 1, MSG_NOSIGNAL);
		if (got < 0)
			printf("# cannot send\n");
		/* Its end: the server has hung up. */
		while ((got = recv(fd, noise, sizeof(noise), 0)) > 0)
			;
		if (i == 24)
			ok(got == 0 || errno == ECONNRESET,
			   "what is not our protocol is hung up on");
	}
	WAIT(hall, hall->refused >= 20);
	ok(strstr(hall->refused_why, "not a Regatta client"),
	   "the server is told of each: %s: %s", hall->refused_who,
	   hall->refused_why);
	WAIT(hall, hall->refused >= 21);
	ok(hall->refused == 21 && !strcmp(hall->refused_who, "others"),
	   "but not of too many: %s: %s", hall->refused_who, hall->refused_why);
}

/* A stranger says hello and then this; the server's words are `why`. */
static void dropped(const char *text, const char *payload, const char *why)
{
	owned(scene_clear) struct scene scene;
	owned(stranger_clear) struct stranger bad;
	owned(guest_clear) struct guest again;
	struct hall *hall = &scene.hall;
	int messages;

	again.client = NULL;
	scene_init(&scene);
	stranger_init(&bad, hall, &hall->keys[HALL_OTHER], NULL);
	stranger_say(&bad, HELLO);
	WAIT(hall, stranger_hears(&bad));
	messages = hall->messages;
	if (payload)
		stranger_say_with(&bad, text, payload);
	else
		stranger_say(&bad, text);
	WAIT(hall, stranger_hears(&bad));
	ok(strstr(bad.text, "\"refused\"") && strstr(bad.text, why) &&
		   strstr(bad.text, "\"request\":0"),
	   "'%.40s' is answered: %s", text, bad.text);
	ok(hall->gone == 1 && !strcmp(hall->gone_name, "n2") &&
		   strstr(hall->gone_why, why),
	   "the session is over, for this reason");
	ok(hall->refused == 1 && !strcmp(hall->refused_who, "n2") &&
		   strstr(hall->refused_why, why),
	   "which the server is told once");
	is_int(hall->messages, messages, "nothing was delivered");
	guest_init(&again, hall, &hall->keys[HALL_OTHER], NULL);
	WAIT(hall, again.lost);
	is_int(again.code, EACCES, "its key is refused for a while");
}

static void test_dropped(void)
{
	dropped("garbage", NULL, "message: not CBOR, or truncated, at byte 0");
	dropped("", NULL, "message: not CBOR, or truncated, at byte 0");
	dropped("{", NULL, "message: not JSON, at byte 0");
	dropped("{\"type\":\"heartbeat\",\"time_ms\":-1}", NULL,
		"heartbeat: time_ms: the number -1");
	dropped("{\"type\":\"hello\",\"version\":3,\"software\":\"x\","
		"\"more\":1}",
		NULL, "hello: more: unknown field");
	dropped("{\"type\":\"cancel\",\"request\":1,\"kind\":\"job\",\"id\":1}",
		NULL,
		"a key of role agent may not cancel sweeps and jobs; regatta "
		"user roles shows which roles may");
	dropped("{\"type\":\"welcome\",\"version\":3,\"heartbeat_ms\":1,"
		"\"credit_bytes\":1,\"time_ms\":1}",
		NULL, "a key of role agent may not send 'welcome'");
	dropped("{\"type\":\"log\",\"job\":1,\"attempt\":1,\"rank\":0,"
		"\"stream\":\"0\",\"offset\":0,\"turn\":0}",
		NULL, "the payload of the message is missing");
	dropped("{\"type\":\"heartbeat\",\"time_ms\":1}", "more",
		"the message has an unexpected payload");
	dropped(HELLO, "more", "the message has an unexpected payload");
}

static void test_frames(void)
{
	owned(scene_clear) struct scene scene;
	owned(stranger_clear) struct stranger many, large, huge;
	owned_free char *space = calloc(1, 2 << 20);
	struct hall *hall = &scene.hall;

	scene_init(&scene);
	stranger_init(&many, hall, &hall->keys[HALL_OTHER], NULL);
	stranger_init(&large, hall, &hall->keys[HALL_OPERATOR], NULL);
	stranger_init(&huge, hall, &hall->keys[HALL_VIEWER], NULL);
	stranger_say(&many, HELLO);
	WAIT(hall, stranger_hears(&many));
	for (int i = 0; i < 100; i++)
		zmq_send(many.dealer, "{}", 2, i < 99 ? ZMQ_SNDMORE : 0);
	WAIT(hall, stranger_hears(&many));
	ok(strstr(many.text, "more than two frames in a message"),
	   "too many frames are refused: %s", many.text);
	memset(space, ' ', 2 << 20);
	memcpy(space, HELLO, sizeof(HELLO) - 1);
	stranger_say(&large, HELLO);
	WAIT(hall, stranger_hears(&large));
	zmq_send(large.dealer, space, MESSAGE_TEXT_MAX + 1, 0);
	WAIT(hall, stranger_hears(&large));
	ok(strstr(large.text,
		  "a message of 1048577 bytes; a key of role operator may send "
		  "1048576"),
	   "a frame past the limit is refused: %s", large.text);
	is(hall->refused_who, "ann", "the server is told who");
	stranger_say(&huge, HELLO);
	WAIT(hall, hall->hellos == 4);
	zmq_send(huge.dealer, space, 2 << 20, 0);
	WAIT(hall, hall->gone == 3);
	is(hall->gone_name, "bob", "one far past it is not even read");
	is(hall->gone_why, "its connection was lost", "its connection is cut");
}

/* libzmq would keep them all until the last one comes. */
static void test_endless_message(void)
{
	owned(scene_clear) struct scene scene;
	owned(stranger_clear) struct stranger endless;
	owned_free char *space = calloc(1, 1 << 20);
	struct hall *hall = &scene.hall;

	/* Nobody is silent while a busy machine sends so much. */
	scene_open(&scene, 0);
	stranger_init(&endless, hall, &hall->keys[HALL_VIEWER], NULL);
	stranger_say(&endless, HELLO);
	WAIT(hall, stranger_hears(&endless));
	for (size_t sent = 0; sent < 2 * (size_t)UNREAD_MAX; sent += 1 << 20)
		zmq_send(endless.dealer, space, 1 << 20, ZMQ_SNDMORE);
	stranger_say(&endless, "");
	WAIT(hall, hall->gone == 1);
	ok(strstr(hall->gone_why, "MiB of unread messages"),
	   "frames of a message that does not end are cut: %s", hall->gone_why);
	is(hall->refused_who, "bob", "the server is told who");
}

static void test_no_hello(void)
{
	owned(scene_clear) struct scene scene;
	owned(stranger_clear) struct stranger early, bad;
	struct hall *hall = &scene.hall;

	scene_init(&scene);
	stranger_init(&early, hall, &hall->keys[HALL_OTHER], NULL);
	stranger_init(&bad, hall, &hall->keys[HALL_OPERATOR], NULL);
	stranger_say(&early, "{\"type\":\"heartbeat\",\"time_ms\":1}");
	WAIT(hall, stranger_hears(&early));
	ok(strstr(early.text, "no session; send hello first"),
	   "a message before hello is refused: %s", early.text);
	stranger_say(&bad, "garbage");
	WAIT(hall, stranger_hears(&bad));
	ok(strstr(bad.text, "not CBOR"), "so is garbage: %s", bad.text);
	is_int(hall->gone, 0, "what never was a session does not end");
	ok(hall->refused == 2 && !hall->heartbeats, "but the server is told");
}

static void test_roles(void)
{
	owned(scene_clear) struct scene scene;
	owned(guest_clear) struct guest viewer;
	struct hall *hall = &scene.hall;
	struct message_cancel cancel = { .request = 42,
					 .kind = (char *)"job",
					 .id = 1 };
	struct message_query query = { .request = 43, .what = QUERY_JOBS };
	struct message_discard discard = { 1, 1, 0 };

	scene_init(&scene);
	guest_init(&viewer, hall, &hall->keys[HALL_VIEWER], NULL);
	WAIT(hall, viewer.welcomes);
	guest_send(&viewer, MESSAGE_CANCEL, &cancel);
	WAIT(hall, viewer.messages);
	ok(viewer.code == EPERM && viewer.request == 42,
	   "a viewer's cancel is refused by its number");
	is(viewer.why,
	   "a key of role viewer may not cancel sweeps and jobs; regatta user "
	   "roles shows which roles may",
	   "in words");
	guest_send(&viewer, MESSAGE_QUERY, &query);
	WAIT(hall, hall->messages);
	ok(hall->messages == 1 && hall->last == MESSAGE_QUERY && !viewer.lost,
	   "its session lives, for what it may do");
	guest_send(&viewer, MESSAGE_DISCARDED, &discard);
	WAIT(hall, viewer.lost);
	is(viewer.why, "a key of role viewer may not send 'discarded'",
	   "it is dropped for what only agents say");
}

/* Send until it is dropped, at most for 20 s; messages a second. */
static int64_t flood(struct hall *hall, struct guest *guest,
		     enum message_type type, const void *body)
{
	int64_t since = clock_mono_ms(), took = 0, sent = 0;

	while (!guest->lost && took < 20000) {
		while (!guest_send(guest, type, body))
			sent++;
		sd_event_run(hall->loop, 1000);
		took = clock_mono_ms() - since;
	}
	return sent * 1000 / (took + 1);
}

/* In words, unless the flood outran them: a connection that is closed with
 * bytes unread is reset, which may take away what was said on it before.
 */
static bool flood_dropped(const struct guest *guest)
{
	return guest->code == EPROTO
		       ? !strcmp(guest->why, "too many messages per second")
		       : guest->lost && guest->code == ECONNRESET;
}

static void test_flood(void)
{
	owned(scene_clear) struct scene scene;
	owned(guest_clear) struct guest viewer;
	struct hall *hall = &scene.hall;
	struct message_heartbeat beat = { .time_ms = 1 };
	int sent = 0;

	scene_init(&scene);
	guest_init(&viewer, hall, &hall->keys[HALL_VIEWER], NULL);
	WAIT(hall, viewer.welcomes);
	for (int i = 0; i < 1500; i++)
		sent += !guest_send(&viewer, MESSAGE_HEARTBEAT, &beat);
	hall_run(hall, 100);
	ok(sent >= 900 && !viewer.lost,
	   "%d messages at once are within the rate", sent);
	flood(hall, &viewer, MESSAGE_HEARTBEAT, &beat);
	ok(flood_dropped(&viewer), "a flood is dropped: %s", viewer.why);
	is(hall->gone_name, "bob", "its session is over");
	/* More than once when the client has come back meanwhile. */
	ok(hall->refused >= 1, "the server is told");
	WAIT(hall, viewer.code == EACCES);
	ok(viewer.code == EACCES && viewer.connected == 1,
	   "and its key is refused for a while");
}

/* Requests that are refused one by one count as well. */
static void test_flood_of_refusals(void)
{
	owned(scene_clear) struct scene scene;
	owned(guest_clear) struct guest viewer;
	struct hall *hall = &scene.hall;
	struct message_cancel cancel = { .request = 1,
					 .kind = (char *)"job",
					 .id = 1 };
	int64_t rate;

	scene_init(&scene);
	guest_init(&viewer, hall, &hall->keys[HALL_VIEWER], NULL);
	WAIT(hall, viewer.welcomes);
	rate = flood(hall, &viewer, MESSAGE_CANCEL, &cancel);
	/* A machine may be too slow to send that many, under a sanitizer. */
	ok(viewer.lost ? flood_dropped(&viewer) : rate < BUDGET_PERSON_MESSAGES,
	   "a flood of what is refused anyway is dropped too (%lld a second): "
	   "%s",
	   (long long)rate, viewer.why);
}

static void test_flood_of_hellos(void)
{
	owned(scene_clear) struct scene scene;
	owned(stranger_clear) struct stranger bad;
	struct hall *hall = &scene.hall;
	int64_t since = clock_mono_ms();

	scene_init(&scene);
	stranger_init(&bad, hall, &hall->keys[HALL_VIEWER], NULL);
	while (!hall->refused && clock_mono_ms() - since < 20000) {
		for (int i = 0; i < 200; i++)
			zmq_send(bad.dealer, HELLO, strlen(HELLO),
				 ZMQ_DONTWAIT);
		sd_event_run(hall->loop, 1000);
	}
	is(hall->refused_why, "too many messages per second",
	   "a hello does not buy a new rate");
	ok(hall->gone == hall->hellos - 1, "every session begun has ended");
}

/* A megabyte of a viewer is not even decoded, and costs its key everything. */
static void test_large_hello(void)
{
	owned(scene_clear) struct scene scene;
	owned(stranger_clear) struct stranger quiet, bad;
	owned_free char *space = calloc(1, 1 << 20);
	struct hall *hall = &scene.hall;

	scene_init(&scene);
	stranger_init(&quiet, hall, &hall->keys[HALL_VIEWER], NULL);
	stranger_init(&bad, hall, &hall->keys[HALL_VIEWER], NULL);
	stranger_say(&quiet, HELLO);
	WAIT(hall, stranger_hears(&quiet));
	memset(space, ' ', 1 << 20);
	memcpy(space, HELLO, sizeof(HELLO) - 1);
	zmq_send(bad.dealer, space, 1 << 20, 0);
	WAIT(hall, stranger_hears(&bad));
	ok(strstr(bad.text,
		  "a hello of 1048576 bytes; a key of role viewer may send "
		  "1024"),
	   "a viewer's large hello is refused: %s", bad.text);
	WAIT(hall, stranger_hears(&quiet));
	ok(strstr(quiet.text, "a hello of 1048576 bytes") && hall->gone == 1,
	   "the other sessions of its key end as well: %s", quiet.text);
	is_int(hall->refused, 1, "the server is told once");
	is_int(hall->hellos, 2, "no session was begun");
}

static void test_large_request(void)
{
	owned(scene_clear) struct scene scene;
	owned(stranger_clear) struct stranger viewer, operator;
	owned_free char *text = calloc(1, 20000);
	struct hall *hall = &scene.hall;

	scene_init(&scene);
	stranger_init(&viewer, hall, &hall->keys[HALL_VIEWER], NULL);
	stranger_init(&operator, hall, &hall->keys[HALL_OPERATOR], NULL);
	stranger_say(&viewer, HELLO);
	stranger_say(&operator, HELLO);
	WAIT(hall, hall->hellos == 3);
	WAIT(hall, stranger_hears(&viewer));
	snprintf(text, 20000,
		 "{\"type\":\"query\",\"request\":1,\"what\":\"jobs\","
		 "\"name\":\"%017000d\"}",
		 0);
	stranger_say(&viewer, text);
	WAIT(hall, stranger_hears(&viewer));
	ok(strstr(viewer.text, "a key of role viewer may send 16384"),
	   "a viewer's large request is refused: %s", viewer.text);
	stranger_say(&operator, text);
	WAIT(hall, hall->messages);
	is_int(hall->last, MESSAGE_QUERY, "an operator's is delivered");
}

/* Send to the hall's peer until it takes no more; the MiB that were sent. */
static int send_until_refused(struct hall *hall, struct error *err)
{
	static char payload[MESSAGE_PAYLOAD_MAX];
	const struct message_blob_piece piece = { .hash = (char *)"x" };
	int sent = 0;

	while (sent < 1000 &&
	       wire_server_send(hall->peer, MESSAGE_BLOB_PIECE, &piece, payload,
				sizeof(payload), err) == 0) {
		sent++;
		wire_server_flush(hall->server);
	}
	return sent;
}

static void test_deaf(void)
{
	static const int keys[] = { HALL_VIEWER, HALL_OTHER };
	struct error err;

	for (size_t i = 0; i < 2; i++) {
		owned(scene_clear) struct scene scene;
		owned(stranger_clear) struct stranger deaf = { 0 };
		struct hall *hall = &scene.hall;
		int sent, one = 1;

		scene_open(&scene, 0);
		stranger_init(&deaf, hall, &hall->keys[keys[i]], NULL);
		zmq_setsockopt(deaf.dealer, ZMQ_RCVHWM, &one, sizeof(one));
		stranger_say(&deaf, HELLO);
		WAIT(hall, hall->hellos == 2);
		ok(wire_peer_ready(hall->peer), "all of it was received");
		sent = send_until_refused(hall, &err);
		ok(sent >= BUDGET_UNSENT_MAX >> 20 && sent < 100,
		   "of what a peer does not read %d MiB are kept", sent);
		is(err.text + strlen(err.text) - 15, "MiB of messages",
		   "then nothing more is sent");
		WAIT(hall, hall->gone);
		is_int(hall->gone, 1, "and it is cut");
		is(hall->refused_why + strlen(hall->refused_why) - 15,
		   "MiB of messages", "in words");
		hall_run(hall, 10);
	}
}

static void test_many_sessions(void)
{
	struct stranger strangers[BUDGET_AGENT_SESSIONS + 1];
	owned(scene_clear) struct scene scene;
	struct hall *hall = &scene.hall;
	struct stranger *last = &strangers[BUDGET_AGENT_SESSIONS];

	scene_init(&scene);
	for (int i = 0; i <= BUDGET_AGENT_SESSIONS; i++) {
		stranger_init(&strangers[i], hall, &hall->keys[HALL_OTHER],
			      NULL);
		stranger_say(&strangers[i], HELLO);
		WAIT(hall, stranger_hears(&strangers[i]));
	}
	ok(strstr(last->text, "its key has too many connections"),
	   "a key has a limited number of sessions: %s", last->text);
	is_int(hall->hellos, 1 + BUDGET_AGENT_SESSIONS, "the others are good");
	for (int i = 0; i <= BUDGET_AGENT_SESSIONS; i++)
		stranger_clear(&strangers[i]);
}

/* A connection that ended leaves its id, which the next one may choose. */
static void test_stolen_id(void)
{
	owned(scene_clear) struct scene scene;
	owned(stranger_clear) struct stranger first, second;
	struct hall *hall = &scene.hall;

	scene_init(&scene);
	second.zmq = NULL;
	wire_server_pause(hall->server, false);
	stranger_init(&first, hall, &hall->keys[HALL_OPERATOR], "chosen");
	stranger_say(&first, HELLO);
	WAIT(hall, stranger_hears(&first));
	is(hall->name, "ann", "an operator has a session");
	stranger_clear(&first);
	stranger_init(&second, hall, &hall->keys[HALL_VIEWER], "chosen");
	stranger_say(&second, "{\"type\":\"cancel\",\"request\":1,"
			      "\"kind\":\"job\",\"id\":1}");
	WAIT(hall, hall->refused && hall->gone);
	is_int(hall->messages, 0, "a viewer does not inherit it with its id");
	ok(hall->refused && hall->gone == 1, "nor does the session go on: %s",
	   hall->refused_why);
}

static void test_removed_key(void)
{
	owned(scene_clear) struct scene scene;
	owned(stranger_clear) struct stranger late;
	struct hall *hall = &scene.hall;

	scene_init(&scene);
	stranger_init(&late, hall, &hall->keys[HALL_VIEWER], NULL);
	/* The handshake is done when this message waits at the server. */
	wire_server_pause(hall->server, true);
	stranger_say(&late, HELLO);
	hall_run(hall, 200);
	hall_list(hall, HALL_VIEWER);
	keyring_find(hall->keyring, hall->own.public);
	wire_server_pause(hall->server, false);
	WAIT(hall, stranger_hears(&late));
	ok(strstr(late.text, "its key is no longer in the list"),
	   "a key removed before hello gets no session: %s", late.text);
	is_int(hall->hellos, 1, "really not");
}

static void test_drop_inside(void)
{
	owned(scene_clear) struct scene scene;
	owned(guest_clear) struct guest guest;
	struct hall *hall = &scene.hall;

	scene_init(&scene);
	guest_init(&guest, hall, &hall->keys[HALL_OTHER], NULL);
	WAIT(hall, guest.welcomes);
	hall->drop_next = true;
	for (int i = 0; i < 10; i++)
		guest_log(&guest, 0, "x", 1);
	WAIT(hall, guest.lost);
	ok(guest.code == ESHUTDOWN && hall->gone == 1,
	   "a peer may be dropped while its message is handled: %s", guest.why);
	is_int(hall->messages, 1, "what it sent behind that is not looked at");
}

int main(void)
{
	tap_begin(180);
	test_unknown_key();
	test_key_without_role();
	test_unix_socket();
	test_wrong_server();
	test_versions();
	test_garbage_on_the_port();
	test_dropped();
	test_frames();
	test_endless_message();
	test_no_hello();
	test_roles();
	test_flood();
	test_flood_of_refusals();
	test_flood_of_hellos();
	test_large_hello();
	test_large_request();
	test_deaf();
	test_many_sessions();
	test_stolen_id();
	test_removed_key();
	test_drop_inside();
	return tap_done();
}
