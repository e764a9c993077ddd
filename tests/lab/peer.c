/* peer.c - a peer of the controller that does not behave.
 *
 *	peer ENDPOINT SERVER_KEY KEY_FILE COUNT [TEXT...]
 *	peer --flood CONNECTIONS SECONDS ENDPOINT SERVER_KEY KEY_FILE TEXT...
 *	peer --deaf CONNECTIONS SECONDS RATE ENDPOINT SERVER_KEY KEY_FILE
 * TEXT...
 *
 * Connects with the key of KEY_FILE to the controller of the public key
 * SERVER_KEY (text or file), and sends each TEXT, one frame, COUNT times as
 * fast as it goes: a message as JSON, or bytes; "@N" is a frame of N bytes x; a
 * "+" before it: the frame is not the last of its message; without TEXT, frames
 * of random bytes. Prints what comes back, a message a line, until nothing came
 * for two seconds. Exit 0; 1: it could not even send; 2: wrong words.
 *
 * --flood sends the first TEXT once on each of so many connections and then the
 * others without end, makes them anew twice a second, and prints how much it
 * was.
 *
 * --deaf sends the first TEXT once on each of so many connections, then the
 * others in turn, RATE a second in all, and reads nothing. A "#" in a TEXT is
 * the number of the message. A connection that takes nothing for a second is
 * made anew.
 */
#include "protocol/base/clock.h"
#include "protocol/base/owned.h"
#include "protocol/wire/key.h"
#include "tests/wire_json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#define ROOM 65536     /* bytes of a message */
#define RANDOM_MAX 300 /* bytes of a random frame */
#define SEND_MS 5000   /* a full pipe is waited for */
#define QUIET_MS 2000
#define AGAIN_MS 500 /* how long a connection of a flood lives */
#define FRAME_MAX (4 << 20)
#define FLOOD_MAX 1000 /* connections */
#define FLOOD_QUEUE 4  /* messages that libzmq keeps of each */
#define DEAF_MS 1000   /* without taking a message */
#define DEAF_BYTES 4096

struct peer {
	const char *endpoint;
	char server[KEY_TEXT_SIZE];
	struct key key;
	void *zmq;
	bool deaf;
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

struct frame {
	struct buffer bytes;
	int flags;
};

static bool frame_read(struct frame *frame, const char *text)
{
	frame->flags = text[0] == '+' ? ZMQ_SNDMORE : 0;
	text += text[0] == '+';
	buffer_init(&frame->bytes, FRAME_MAX);
	if (wire_from_json(text, &frame->bytes))
		return true;
	buffer_clear(&frame->bytes);
	if (text[0] != '@')
		return buffer_text(&frame->bytes, text, NULL) == 0;
	for (unsigned long left = strtoul(text + 1, NULL, 10); left; left--)
		if (buffer_text(&frame->bytes, "x", NULL) < 0)
			return false;
	return true;
}

static int frame_send(void *socket, const struct frame *frame, int flags)
{
	return zmq_send(socket, frame->bytes.data, frame->bytes.size,
			flags | frame->flags);
}

static int send_random(void *socket, uint64_t *state)
{
	char bytes[RANDOM_MAX + 1];

	return zmq_send(socket, bytes, random_frame(state, bytes), 0);
}

static int talk(void *socket, unsigned long count, const struct frame *frames,
		size_t frames_count)
{
	uint64_t state = 88172645463325252ULL;
	static char bytes[ROOM];
	int got, rc = 0;

	for (unsigned long i = 0; i < count && rc >= 0; i++) {
		if (!frames_count)
			rc = send_random(socket, &state);
		for (size_t n = 0; n < frames_count && rc >= 0; n++)
			rc = frame_send(socket, &frames[n], 0);
	}
	if (rc < 0) {
		perror("peer: send");
		return 1;
	}
	while ((got = zmq_recv(socket, bytes, ROOM, 0)) >= 0) {
		owned(buffer_clear) struct buffer text =
			BUFFER_INIT((size_t)ROOM * 8);

		wire_to_json(bytes, got < ROOM ? (size_t)got : ROOM, &text);
		puts(text.data);
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

	if (!socket) {
		perror("peer: socket");
		return NULL;
	}
	zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, peer->server,
		       KEY_TEXT_SIZE);
	zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, peer->key.public,
		       KEY_TEXT_SIZE);
	zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, peer->key.secret,
		       KEY_TEXT_SIZE);
	set_int(socket, ZMQ_LINGER, 0);
	set_int(socket, ZMQ_SNDTIMEO, SEND_MS);
	set_int(socket, ZMQ_RCVTIMEO, QUIET_MS);
	if (peer->deaf) {
		set_int(socket, ZMQ_RCVHWM, 1);
		set_int(socket, ZMQ_RCVBUF, DEAF_BYTES);
		set_int(socket, ZMQ_RECONNECT_IVL, -1);
	}
	if (zmq_connect(socket, peer->endpoint) == 0)
		return socket;
	perror("peer: connect");
	zmq_close(socket);
	return NULL;
}

struct flood {
	const struct peer *peer;
	const struct frame *frames;
	size_t count; /* frames */
	struct {
		void *socket;
		size_t next; /* frame */
		int64_t since_ms;
	} all[FLOOD_MAX];
	unsigned long long sent, bytes, connections;
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

	while ((sent = frame_send(flood->all[i].socket,
				  &flood->frames[flood->all[i].next],
				  ZMQ_DONTWAIT)) >= 0) {
		any = true;
		flood->sent++;
		flood->bytes += (unsigned long long)sent;
		if (++flood->all[i].next == flood->count)
			flood->all[i].next = flood->count > 1;
		/* Frames of a message that does not end are never refused. */
		if (flood->sent % 64 == 0)
			break;
	}
	return any;
}

/* One round over all of them. 1: somebody took something. */
static int flood_round(struct flood *flood, size_t count, int64_t now_ms)
{
	int any = 0;

	for (size_t i = 0; i < count; i++) {
		if ((!flood->all[i].socket ||
		     now_ms - flood->all[i].since_ms > AGAIN_MS) &&
		    open_one(flood, i, now_ms) < 0)
			return -1;
		any |= pour(flood, i);
	}
	return any;
}

static int run_flood(const struct peer *peer, size_t count, int64_t for_ms,
		     const struct frame *frames, size_t frames_count)
{
	struct flood flood = { .peer = peer,
			       .frames = frames,
			       .count = frames_count };
	int64_t end_ms = clock_mono_ms() + for_ms, now_ms;
	int any = 0;

	if (count > FLOOD_MAX)
		count = FLOOD_MAX;
	while (any >= 0 && (now_ms = clock_mono_ms()) < end_ms) {
		any = flood_round(&flood, count, now_ms);
		if (!any)
			zmq_poll(NULL, 0, 1);
	}
	for (size_t i = 0; i < count; i++)
		if (flood.all[i].socket)
			zmq_close(flood.all[i].socket);
	printf("%llu frames, %llu MiB, %llu connections\n", flood.sent,
	       flood.bytes >> 20, flood.connections);
	return any < 0;
}

/* The message as JSON, with its number for each '#'. */
static bool deaf_send(void *socket, const char *text, unsigned long long number)
{
	owned(buffer_clear) struct buffer json = BUFFER_INIT(ROOM);
	owned(buffer_clear) struct buffer bytes = BUFFER_INIT(ROOM);

	for (; *text; text++)
		if (*text == '#')
			buffer_printf(&json, NULL, "%llu", number);
		else
			buffer_append(&json, text, 1, NULL);
	return wire_from_json(json.data, &bytes) &&
	       zmq_send(socket, bytes.data, bytes.size, ZMQ_DONTWAIT) >= 0;
}

static int run_deaf(const struct peer *peer, size_t count, int64_t for_ms,
		    double rate, char *const *texts)
{
	static struct {
		void *socket;
		int64_t took_ms;
	} all[FLOOD_MAX];
	int64_t begun_ms = clock_mono_ms(), now_ms;
	unsigned long long tried = 0, sent = 0, connections = 0;
	size_t next = 0;

	while ((now_ms = clock_mono_ms()) - begun_ms < for_ms) {
		size_t i = tried % count;

		if ((double)tried * 1000 > rate * (double)(now_ms - begun_ms)) {
			zmq_poll(NULL, 0, 1);
			continue;
		}
		if (all[i].socket && now_ms - all[i].took_ms > DEAF_MS)
			zmq_close(take(all[i].socket));
		if (!all[i].socket) {
			all[i].socket = connect_to(peer);
			if (!all[i].socket)
				return 1;
			zmq_send(all[i].socket, texts[0], strlen(texts[0]), 0);
			all[i].took_ms = now_ms;
			connections++;
		}
		next = texts[next + 1] ? next + 1 : 1;
		if (texts[next] &&
		    deaf_send(all[i].socket, texts[next], ++tried)) {
			all[i].took_ms = now_ms;
			sent++;
		}
	}
	for (size_t i = 0; i < count; i++)
		if (all[i].socket)
			zmq_close(all[i].socket);
	printf("%llu messages, %llu connections\n", sent, connections);
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
	bool deaf = argc > 9 && !strcmp(argv[1], "--deaf");
	bool floods = argc > 1 && !strcmp(argv[1], "--flood");
	struct peer peer = { .zmq = zmq_ctx_new() };
	struct frame *frames;
	char *const *texts;
	size_t count = 0;
	void *socket;
	int code = 2;

	zmq_ctx_set(peer.zmq, ZMQ_MAX_SOCKETS, 2 * FLOOD_MAX);
	if (argc < (floods ? 8 : 5)) {
		fprintf(stderr, "usage: peer [--flood CONNECTIONS SECONDS | "
				"--deaf CONNECTIONS SECONDS RATE] ENDPOINT "
				"SERVER_KEY KEY_FILE COUNT [TEXT...]\n");
		return 2;
	}
	if (read_peer(&peer, argv + (deaf ? 5 : floods ? 4 : 1)) < 0)
		return 2;
	if (deaf) {
		peer.deaf = true;
		code = run_deaf(&peer, strtoul(argv[2], NULL, 10),
				1000 * strtol(argv[3], NULL, 10),
				strtod(argv[4], NULL), argv + 8);
		zmq_ctx_term(peer.zmq);
		return code;
	}
	texts = argv + (floods ? 7 : 5);
	frames = calloc((size_t)argc, sizeof(*frames));
	if (!frames)
		return 2;
	for (; texts[count]; count++)
		if (!frame_read(&frames[count], texts[count]))
			return 2;
	if (floods) {
		code = run_flood(&peer, strtoul(argv[2], NULL, 10),
				 1000 * strtol(argv[3], NULL, 10), frames,
				 count);
	} else if ((socket = connect_to(&peer))) {
		code = talk(socket, strtoul(argv[4], NULL, 10), frames, count);
		zmq_close(socket);
	}
	while (count--)
		buffer_clear(&frames[count].bytes);
	free(frames);
	zmq_ctx_term(peer.zmq);
	return code;
}
