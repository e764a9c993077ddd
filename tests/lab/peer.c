/* peer.c - a peer of the controller that does not behave.
 *
 *	peer ENDPOINT SERVER_KEY KEY_FILE COUNT [TEXT...]
 *	peer --flood CONNECTIONS SECONDS ENDPOINT SERVER_KEY KEY_FILE TEXT...
 *
 * Connects with the key of KEY_FILE to the controller of the public key
 * SERVER_KEY (text or file), and sends each TEXT, one frame, COUNT times as
 * fast as it goes; "@N" is a frame of N bytes x; a "+" before it: the frame is
 * not the last of its message; without TEXT, frames of random bytes. Prints
 * what comes back, a frame a line, until nothing came for two seconds. Exit 0;
 * 1: it could not even send; 2: wrong words.
 *
 * --flood sends the first TEXT once on each of so many connections and then the
 * others without end, makes them anew twice a second, and prints how much it
 * was.
 */
#include "protocol/base/file.h"
#include "protocol/wire/key.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#define ROOM 4096      /* bytes of a frame that are printed */
#define RANDOM_MAX 300 /* bytes of a random frame */
#define SEND_MS 5000   /* a full pipe is waited for */
#define QUIET_MS 2000
#define AGAIN_MS 500   /* how long a connection of a flood lives */
#define FLOOD_MAX 1000 /* connections */
#define FLOOD_QUEUE 4  /* messages that libzmq keeps of each */

struct peer {
	const char *endpoint;
	char server[KEY_TEXT_SIZE];
	struct key key;
	void *zmq;
};

/* The frames are the same in each run: xorshift. */
static size_t random_frame(uint64_t *state, char *frame)
{
	size_t size = 1 + *state % RANDOM_MAX;

	for (size_t i = 0; i < size; i++) {
		*state ^= *state << 13;
		*state ^= *state >> 7;
		*state ^= *state << 17;
		frame[i] = (char)(*state >> 32);
	}
	return size;
}

static int send_text(void *socket, const char *text, int flags)
{
	size_t size;
	char *large = NULL;
	int rc;

	if (text[0] == '+') {
		flags |= ZMQ_SNDMORE;
		text++;
	}
	size = strlen(text);
	if (text[0] == '@') {
		size = strtoul(text + 1, NULL, 10);
		large = malloc(size + 1);
		if (!large)
			return -1;
		memset(large, 'x', size);
	}
	rc = zmq_send(socket, large ? large : text, size, flags);
	free(large);
	return rc;
}

static int talk(void *socket, unsigned long count, char *const *texts)
{
	uint64_t state = 88172645463325252ULL;
	char frame[ROOM + 1];
	int got, rc = 0;

	for (unsigned long i = 0; i < count && rc >= 0; i++) {
		if (!*texts)
			rc = zmq_send(socket, frame,
				      random_frame(&state, frame), 0);
		for (size_t n = 0; texts[n] && rc >= 0; n++)
			rc = send_text(socket, texts[n], 0);
	}
	if (rc < 0) {
		perror("peer: send");
		return 1;
	}
	while ((got = zmq_recv(socket, frame, ROOM, 0)) >= 0) {
		frame[got < ROOM ? got : ROOM] = 0;
		puts(frame);
		fflush(stdout);
	}
	return 0;
}

static int set_int(void *socket, int option, int value)
{
	return zmq_setsockopt(socket, option, &value, sizeof(value));
}

static void *connect_to(const struct peer *peer)
{
	void *socket = zmq_socket(peer->zmq, ZMQ_DEALER);

	zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, peer->server,
		       KEY_TEXT_SIZE);
	zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, peer->key.public,
		       KEY_TEXT_SIZE);
	zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, peer->key.secret,
		       KEY_TEXT_SIZE);
	set_int(socket, ZMQ_LINGER, 0);
	set_int(socket, ZMQ_SNDTIMEO, SEND_MS);
	set_int(socket, ZMQ_RCVTIMEO, QUIET_MS);
	if (zmq_connect(socket, peer->endpoint) == 0)
		return socket;
	perror("peer: connect");
	zmq_close(socket);
	return NULL;
}

struct flood {
	const struct peer *peer;
	char *const *texts;
	struct {
		void *socket;
		size_t next; /* text */
		int64_t since_ms;
	} all[FLOOD_MAX];
	unsigned long long frames, bytes, connections;
};

static int open_one(struct flood *flood, size_t i, int64_t now_ms)
{
	if (flood->all[i].socket)
		zmq_close(flood->all[i].socket);
	flood->all[i].socket = connect_to(flood->peer);
	flood->all[i].next = 0;
	flood->all[i].since_ms = now_ms;
	flood->connections++;
	if (!flood->all[i].socket)
		return -1;
	return set_int(flood->all[i].socket, ZMQ_SNDHWM, FLOOD_QUEUE);
}

/* As much as goes into it now. */
static bool pour(struct flood *flood, size_t i)
{
	bool any = false;
	int sent;

	while ((sent = send_text(flood->all[i].socket,
				 flood->texts[flood->all[i].next],
				 ZMQ_DONTWAIT)) >= 0) {
		any = true;
		flood->frames++;
		flood->bytes += (unsigned long long)sent;
		if (!flood->texts[++flood->all[i].next])
			flood->all[i].next = flood->texts[1] ? 1 : 0;
		/* Frames of a message that does not end are never refused. */
		if (flood->frames % 64 == 0)
			break;
	}
	return any;
}

static int run_flood(const struct peer *peer, size_t count, int64_t for_ms,
		     char *const *texts)
{
	static struct flood flood;
	int64_t end_ms = clock_mono_ms() + for_ms, now_ms;

	flood.peer = peer;
	flood.texts = texts;
	while ((now_ms = clock_mono_ms()) < end_ms) {
		bool any = false;

		for (size_t i = 0; i < count && i < FLOOD_MAX; i++) {
			if ((!flood.all[i].socket ||
			     now_ms - flood.all[i].since_ms > AGAIN_MS) &&
			    open_one(&flood, i, now_ms) < 0)
				return 1;
			any |= pour(&flood, i);
		}
		if (!any)
			zmq_poll(NULL, 0, 1);
	}
	for (size_t i = 0; i < count && i < FLOOD_MAX; i++)
		zmq_close(flood.all[i].socket);
	printf("%llu frames, %llu MiB, %llu connections\n", flood.frames,
	       flood.bytes >> 20, flood.connections);
	return 0;
}

static int read_peer(struct peer *peer, char *const *words)
{
	struct error err = { 0 };

	peer->endpoint = words[0];
	if (key_public(words[1], peer->server, &err) == 0 &&
	    key_load(&peer->key, words[2], &err) == 0)
		return 0;
	fprintf(stderr, "peer: %s\n", err.text);
	return -1;
}

int main(int argc, char **argv)
{
	bool floods = argc > 1 && !strcmp(argv[1], "--flood");
	struct peer peer = { .zmq = zmq_ctx_new() };
	void *socket;
	int code = 2;

	zmq_ctx_set(peer.zmq, ZMQ_MAX_SOCKETS, 2 * FLOOD_MAX);
	if (argc < (floods ? 8 : 5)) {
		fprintf(stderr, "usage: peer [--flood CONNECTIONS SECONDS] "
				"ENDPOINT SERVER_KEY KEY_FILE COUNT "
				"[TEXT...]\n");
		return 2;
	}
	if (read_peer(&peer, argv + (floods ? 4 : 1)) < 0)
		return 2;
	if (floods) {
		code = run_flood(&peer, strtoul(argv[2], NULL, 10),
				 1000 * strtol(argv[3], NULL, 10), argv + 7);
	} else if ((socket = connect_to(&peer))) {
		code = talk(socket, strtoul(argv[4], NULL, 10), argv + 5);
		zmq_close(socket);
	}
	zmq_ctx_term(peer.zmq);
	return code;
}
