/* zap.c - answers libzmq's question whether a key may connect.
 */
#include "protocol/wire/zap.h"
#include "protocol/base/loop.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#define BURST 64       /* questions per turn of the loop */
#define FRAMES 8       /* of a question about a name and a password */
#define FRAME_SIZE 256 /* RFC 27 asks for no more */

enum { REQUEST_ID = 1, ADDRESS = 3, MECHANISM = 5, CREDENTIALS = 6, PASSWORD };

struct zap {
	void *socket;
	struct zmq_watch *watch;
	const struct key *own;
	struct keyring *keyring;
	zap_refused_fn *refused;
	void *arg;
};

struct question {
	char frames[FRAMES][FRAME_SIZE]; /* each with a 0 behind it */
	size_t sizes[FRAMES];
	int count;
};

/* Take one question. False: there is none. */
static bool zap_receive(void *socket, struct question *question)
{
	int more = 1, n = 0;
	size_t size = sizeof(more);

	memset(question, 0, sizeof(*question));
	for (; more; n++) {
		char waste[FRAME_SIZE];
		char *to = n < FRAMES ? question->frames[n] : waste;
		int got = zmq_recv(socket, to, FRAME_SIZE - 1, ZMQ_DONTWAIT);

		if (got < 0)
			return false;
		if (got > FRAME_SIZE - 1)
			got = FRAME_SIZE - 1;
		if (n < FRAMES)
			question->sizes[n] = (size_t)got;
		zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &size);
	}
	question->count = n;
	return true;
}

/* The key that the peer holds; "": none. */
static void question_key(const struct zap *zap, const struct question *question,
			 char public[KEY_TEXT_SIZE])
{
	const char *mechanism = question->frames[MECHANISM];
	const char *said = question->frames[CREDENTIALS];
	const char *password = question->frames[PASSWORD];
	char proof[KEY_TEXT_SIZE];

	if (question->count == FRAMES - 1 && !strcmp(mechanism, "CURVE") &&
	    question->sizes[CREDENTIALS] == 32)
		zmq_z85_encode(public, (const uint8_t *)said, 32);
	else if (question->count == FRAMES && !strcmp(mechanism, "PLAIN") &&
		 question->sizes[PASSWORD] == KEY_TEXT_SIZE - 1 &&
		 key_proof(zap->own, said, proof, NULL) == 0 &&
		 !sodium_memcmp(proof, password, KEY_TEXT_SIZE - 1))
		memcpy(public, said, KEY_TEXT_SIZE);
}

/* A property in the form of ZMTP: size (1 byte), name, size (4 bytes), value.
 */
static size_t put_property(uint8_t to[FRAME_SIZE], const char *public)
{
	static const char name[] = ZAP_KEY;
	uint8_t *at = to;

	*at++ = sizeof(name) - 1;
	memcpy(at, name, sizeof(name) - 1);
	at += sizeof(name) - 1;
	memset(at, 0, 3);
	at += 3;
	*at++ = KEY_TEXT_SIZE - 1;
	memcpy(at, public, KEY_TEXT_SIZE - 1);
	return (size_t)(at - to) + KEY_TEXT_SIZE - 1;
}

static void zap_answer(void *socket, const struct question *question,
		       const struct key *key)
{
	const char *name = key ? key->name : NULL;
	uint8_t property[FRAME_SIZE];
	size_t size = key ? put_property(property, key->public) : 0;

	zmq_send(socket, "1.0", 3, ZMQ_SNDMORE);
	zmq_send(socket, question->frames[REQUEST_ID],
		 question->sizes[REQUEST_ID], ZMQ_SNDMORE);
	zmq_send(socket, name ? "200" : "400", 3, ZMQ_SNDMORE);
	zmq_send(socket, name ? "OK" : "NO", 2, ZMQ_SNDMORE);
	zmq_send(socket, name, name ? strlen(name) : 0, ZMQ_SNDMORE);
	zmq_send(socket, property, size, 0);
}

static void zap_report(struct zap *zap, const char *address, const char *public)
{
	const char *problem = keyring_problem(zap->keyring);
	char why[400];

	if (public[0])
		snprintf(why, sizeof(why),
			 "key '%s' is not in the list, or refused for a "
			 "moment%s%s",
			 public, problem[0] ? "; " : "", problem);
	else
		snprintf(why, sizeof(why),
			 "it did not prove that it has a key");
	zap->refused(zap->arg, address, why);
}

static int zap_ready(void *arg)
{
	struct zap *zap = arg;
	struct question question;
	char public[KEY_TEXT_SIZE] = "";
	const struct key *key;

	if (!zap_receive(zap->socket, &question))
		return 0;
	question_key(zap, &question, public);
	key = public[0] ? keyring_find(zap->keyring, public) : NULL;
	/* A peer may not use a controller's key. */
	if (key && key->role == ROLE_CONTROLLER)
		key = NULL;
	zap_answer(zap->socket, &question, key);
	if (!key)
		zap_report(zap, question.frames[ADDRESS], public);
	return 1;
}

struct zap *zap_new(sd_event *loop, void *zmq, const struct key *own,
		    struct keyring *keyring, zap_refused_fn *refused, void *arg,
		    struct error *err)
{
	owned(zap_free) struct zap *zap = calloc(1, sizeof(*zap));

	if (!zap)
		return error_null(error_nomem(err, "authentication"));
	zap->own = own;
	zap->keyring = keyring;
	zap->refused = refused;
	zap->arg = arg;
	zap->socket = zmq_socket(zmq, ZMQ_REP);
	if (!zap->socket || zmq_bind(zap->socket, "inproc://zeromq.zap.01") < 0)
		return error_null(error_errno(err, "authentication"));
	zap->watch =
		zmq_watch_new(loop, zap->socket, BURST, zap_ready, zap, err);
	return zap->watch ? take(zap) : NULL;
}

void zap_free(struct zap *zap)
{
	int zero = 0;

	if (!zap)
		return;
	zmq_watch_free(zap->watch);
	if (zap->socket) {
		zmq_setsockopt(zap->socket, ZMQ_LINGER, &zero, sizeof(zero));
		zmq_close(zap->socket);
	}
	free(zap);
}
