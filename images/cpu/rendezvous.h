/* rendezvous.h - brings all ranks together: two sockets each, next and before.
 *
 * Each connection must send a hello within five seconds. What does not begin
 * with our magic, or says another version, is closed without a word: anything
 * on the network may connect to a port. At most HELLO_PENDING_MAX connections
 * are kept waiting; the oldest makes room.
 */
#pragma once

#include "images/cpu/failure.h"

#include <stdint.h>

#define HELLO_MAGIC 0x52474154 /* also tells a machine of other byte order */
#define HELLO_VERSION 1
#define HELLO_PENDING_MAX 64

enum hello_kind {
	HELLO_JOIN = 1, /* to rank 0: I listen on this port */
	HELLO_NEXT = 2, /* to the next in the ring: I am before you */
};

struct hello {
	uint32_t magic;
	uint32_t version;
	uint32_t kind;
	uint32_t world;
	uint32_t rank;
	uint32_t port;
	uint64_t digest; /* of all options that must be the same */
};

#define RING_WORLD_MAX 4096

struct ring_place {
	uint32_t rank;
	uint32_t world;      /* 1: no sockets at all */
	const char *address; /* of rank 0; numbers or localhost (see net.h) */
	uint16_t port;
	uint64_t digest;     /* must be the same on all ranks */
	uint32_t timeout_ms; /* for all to come together */
};

/* place->world is at least 2. Both sockets are connected, do not block and are
 * the caller's. How: ring.h.
 */
int rendezvous_meet(const struct ring_place *place, int *next, int *before,
		    struct failure *failure);
