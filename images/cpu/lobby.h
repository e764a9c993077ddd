/* lobby.h - lets peers in at a listening socket, and only peers.
 *
 * Each connection must send a hello within five seconds. What does not begin
 * with our magic, or says another version, is closed without a word: anything
 * on the network may connect to a port. At most LOBBY_GUESTS connections are
 * kept waiting; the oldest makes room.
 */
#ifndef IMAGES_CPU_LOBBY_H
#define IMAGES_CPU_LOBBY_H

#include "images/cpu/net.h"

#define HELLO_MAGIC 0x52474154 /* also tells a machine of other byte order */
#define HELLO_VERSION 1
#define LOBBY_GUESTS 64

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

struct lobby;
struct lobby *lobby_new(int listener, struct why *why); /* listener borrowed */
void lobby_free(struct lobby *lobby); /* closes who still waits */

/* Wait for the next complete hello: the connection, now the caller's, with the
 * hello and the address it came from. -1: the deadline came.
 */
int lobby_next(struct lobby *lobby, int64_t deadline, struct hello *hello,
	       struct address *from);

#endif
