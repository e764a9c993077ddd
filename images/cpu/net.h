/* net.h - TCP sockets that do not block, and whole messages over them.
 *
 * Addresses are IPv4 or IPv6 as numbers (or "localhost", 127.0.0.1): a static
 * program cannot look names up without the system's libraries. A deadline is
 * in milliseconds of the monotonic clock; each call that waits ends at it.
 */
#pragma once

#include "images/cpu/failure.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct address {
	struct sockaddr_storage bytes;
	socklen_t size;
};

int64_t net_now_ms(void);

int address_parse(const char *text, uint16_t port, struct address *address,
		  struct failure *failure);
uint16_t address_port(const struct address *address);
void address_set_port(struct address *address, uint16_t port);

/* A listening socket; port 0 takes any. *address becomes what it got. */
int net_listen(struct address *address, struct failure *failure);

/* Accept one connection if there is one. -1: none now. *from may be NULL. */
int net_accept(int listener, struct address *from);

/* Connect, trying again while nobody listens there yet. */
int net_connect(const struct address *address, int64_t deadline,
		struct failure *failure);

/* Our own address on a connected socket. */
int net_local(int fd, struct address *address, struct failure *failure);

/* All of it or an error: the peer went away, or the deadline came. */
int net_send(int fd, const void *data, size_t size, int64_t deadline,
	     struct failure *failure);
int net_receive(int fd, void *data, size_t size, int64_t deadline,
		struct failure *failure);
