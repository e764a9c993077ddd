/* peer.c - a peer of the controller that does not behave.
 *
 *	peer ENDPOINT SERVER_KEY KEY_FILE COUNT [TEXT...]
 *
 * Connects with the key of KEY_FILE to the controller of the public key
 * SERVER_KEY (text or file), and sends each TEXT, one frame, COUNT times as
 * fast as it goes: a message as JSON, or bytes; "@N" is a frame of N bytes x;
 * without TEXT, frames of random bytes. Prints what comes back, a message a
 * line, until nothing came for two seconds. Exit 0; 1: it could not even send;
 *2: wrong words.
 */
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

static int send_text(void *socket, const char *text)
{
	size_t size = strlen(text);
	owned(buffer_clear) struct buffer bytes;
	char *large = NULL;
	int rc;

	buffer_init(&bytes, ROOM);
	if (wire_from_json(text, &bytes))
		return zmq_send(socket, bytes.data, bytes.size, 0);

	if (text[0] == '@') {
		size = strtoul(text + 1, NULL, 10);
		large = malloc(size + 1);
		if (!large)
			return -1;
		memset(large, 'x', size);
	}
	rc = zmq_send(socket, large ? large : text, size, 0);
	free(large);
	return rc;
}

static int talk(void *socket, unsigned long count, char *const *texts)
{
	uint64_t state = 88172645463325252ULL;
	char frame[ROOM];
	int got, rc = 0;

	for (unsigned long i = 0; i < count && rc >= 0; i++) {
		if (!*texts)
			rc = zmq_send(socket, frame,
				      random_frame(&state, frame), 0);
		for (size_t n = 0; texts[n] && rc >= 0; n++)
			rc = send_text(socket, texts[n]);
	}
	if (rc < 0) {
		perror("peer: send");
		return 1;
	}
	while ((got = zmq_recv(socket, frame, ROOM, 0)) >= 0) {
		owned(buffer_clear) struct buffer text;

		buffer_init(&text, (size_t)ROOM * 8);
		wire_to_json(frame, got < ROOM ? (size_t)got : ROOM, &text);
		puts(text.data);
		fflush(stdout);
	}
	return 0;
}

static int set_int(void *socket, int option, int value)
{
	return zmq_setsockopt(socket, option, &value, sizeof(value));
}

int main(int argc, char **argv)
{
	struct error err = { 0 };
	struct key key;
	char server[KEY_TEXT_SIZE];
	void *zmq = zmq_ctx_new(), *socket = zmq_socket(zmq, ZMQ_DEALER);
	int code;

	if (argc < 5) {
		fprintf(stderr, "usage: peer ENDPOINT SERVER_KEY KEY_FILE "
				"COUNT [TEXT...]\n");
		return 2;
	}
	if (key_public(argv[2], server, &err) < 0 ||
	    key_load(&key, argv[3], &err) < 0) {
		fprintf(stderr, "peer: %s\n", err.text);
		return 2;
	}
	zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, server, KEY_TEXT_SIZE);
	zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, key.public, KEY_TEXT_SIZE);
	zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, key.secret, KEY_TEXT_SIZE);
	set_int(socket, ZMQ_LINGER, 0);
	set_int(socket, ZMQ_SNDTIMEO, SEND_MS);
	set_int(socket, ZMQ_RCVTIMEO, QUIET_MS);
	if (zmq_connect(socket, argv[1]) < 0) {
		perror("peer: connect");
		return 2;
	}
	code = talk(socket, strtoul(argv[4], NULL, 10), argv + 5);
	zmq_close(socket);
	zmq_ctx_term(zmq);
	return code;
}
