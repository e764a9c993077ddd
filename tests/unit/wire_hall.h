/* wire_hall.h - a wire server with its keys, and guests, all in one loop.
 *
 * The hall says welcome to every hello and counts what happens. A guest is a
 * wire client that says hello when it is connected (unless it is told not to)
 * and counts as well. A stranger is a bare DEALER with a key, for messages
 * that a wire client would never send.
 */
#pragma once

#include "protocol/base/clock.h"
#include "protocol/wire/wire.h"

#include <zmq.h>

enum { HALL_AGENT, HALL_OTHER, HALL_OPERATOR, HALL_VIEWER, HALL_KEYS };

struct hall {
	sd_event *loop;
	char folder[64];
	char list[128]; /* path of the list of keys */
	struct key own;
	struct key keys[HALL_KEYS]; /* n1, n2, ann, bob; in the list */
	struct keyring *keyring;
	struct wire_server *server;
	char endpoint[256];
	uint32_t heartbeat_ms; /* said in welcomes */

	int hellos, messages, heartbeats, gone, refused;
	int in_order; /* logs whose offset followed the one before */
	uint64_t log_offset;
	size_t payload_size;
	enum message_type last;
	char name[KEY_NAME_SIZE]; /* of the last hello */
	enum role role;
	char gone_why[256], gone_name[KEY_NAME_SIZE];
	char refused_who[256], refused_why[512];
	struct wire_peer *peer; /* of the last hello; NULL when it is gone */
	bool drop_next;         /* drop the peer of the next message */
};

struct guest {
	struct wire_client *client;
	bool silent; /* say no hello */
	uint32_t version;
	int connected, welcomes, messages, lost;
	uint32_t paced_ms; /* the last time between heartbeats that came */
	int code;          /* of the last loss or refused request */
	char why[256];
	uint64_t request; /* of the last reply or refused request */
	enum message_type last;
	size_t payload_size;
};

/* endpoint: where to listen, NULL: at a unix socket. heartbeat_ms 0: as usual.
 */
void hall_init(struct hall *hall, const char *endpoint, uint32_t heartbeat_ms);
void hall_open(struct hall *hall, const char *endpoint); /* a server again */
void hall_close(struct hall *hall);                      /* the server only */
void hall_clear(struct hall *hall);
OWNED_VALUE(struct hall, hall_clear)
void hall_list(struct hall *hall, int count); /* write the first keys */

void guest_init(struct guest *guest, struct hall *hall, const struct key *key,
		void *zmq);
void guest_clear(struct guest *guest);
OWNED_VALUE(struct guest, guest_clear)

/* Send a message without payload; the result of wire_client_send(). */
int guest_send(struct guest *guest, enum message_type type, const void *body);
int guest_log(struct guest *guest, uint64_t offset, const void *payload,
	      size_t size);

struct stranger {
	void *zmq, *dealer;
	char text[65536]; /* the last message that came, as JSON */
};

void stranger_init(struct stranger *stranger, struct hall *hall,
		   const struct key *key, const char *id);
void stranger_clear(struct stranger *stranger);
OWNED_VALUE(struct stranger, stranger_clear)
/* A message as JSON, or else bytes. */
void stranger_say(struct stranger *stranger, const char *text);
void stranger_say_with(struct stranger *stranger, const char *text,
		       const char *payload);
bool stranger_hears(struct stranger *stranger); /* a message, into text */

#define HELLO "{\"type\":\"hello\",\"version\":3,\"software\":\"test\"}"

/* Turn the loop until the condition holds or 10 s have passed. */
#define WAIT(hall, condition)                                                  \
	for (int64_t wait_end_ = clock_mono_ms() + 10000;                      \
	     !(condition) && clock_mono_ms() < wait_end_;)                     \
	sd_event_run((hall)->loop, 10000)

/* Turn it for so long. */
void hall_run(struct hall *hall, int ms);
