/* lobby.c - lets peers in at a listening socket, and only peers. */
#include "images/cpu/lobby.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#define PATIENCE_MS 5000

struct guest {
	int fd;
	int64_t deadline;
	struct address from;
	struct hello hello;
	size_t got; /* bytes of it */
};

struct lobby {
	int listener;
	size_t count;
	struct guest guests[LOBBY_GUESTS]; /* the oldest first */
};

struct lobby *lobby_new(int listener, struct why *why)
{
	struct lobby *lobby = calloc(1, sizeof(*lobby));

	if (lobby)
		lobby->listener = listener;
	else
		start_error_set(why, "out of memory");
	return lobby;
}

void lobby_free(struct lobby *lobby)
{
	if (!lobby)
		return;
	for (size_t i = 0; i < lobby->count; i++)
		close(lobby->guests[i].fd);
	free(lobby);
}

static void guest_drop(struct lobby *lobby, size_t index)
{
	lobby->count--;
	memmove(lobby->guests + index, lobby->guests + index + 1,
		(lobby->count - index) * sizeof(lobby->guests[0]));
}

static void guest_add(struct lobby *lobby)
{
	struct address from;
	int fd = net_accept(lobby->listener, &from);

	if (fd < 0)
		return;
	if (lobby->count == LOBBY_GUESTS) {
		close(lobby->guests[0].fd);
		guest_drop(lobby, 0);
	}
	lobby->guests[lobby->count++] = (struct guest){
		.fd = fd,
		.deadline = net_now_ms() + PATIENCE_MS,
		.from = from,
	};
}

enum progress { WAITS, COMPLETE, UNWANTED };

/* Byte by byte, so to say: a stranger's first four bytes give it away. */
static enum progress guest_read(struct guest *guest)
{
	char *bytes = (char *)&guest->hello;
	ssize_t got = recv(guest->fd, bytes + guest->got,
			   sizeof(guest->hello) - guest->got, 0);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return net_now_ms() < guest->deadline ? WAITS : UNWANTED;
	if (got <= 0)
		return UNWANTED;
	guest->got += (size_t)got;
	if (guest->got >= sizeof(uint32_t) && guest->hello.magic != HELLO_MAGIC)
		return UNWANTED;
	if (guest->got < sizeof(guest->hello))
		return WAITS;
	return guest->hello.version == HELLO_VERSION ? COMPLETE : UNWANTED;
}

/* Sleep until something comes or a guest's patience ends. */
static void lobby_wait(const struct lobby *lobby, int64_t deadline)
{
	struct pollfd fds[LOBBY_GUESTS + 1];
	int64_t left;

	fds[0] = (struct pollfd){ .fd = lobby->listener, .events = POLLIN };
	for (size_t i = 0; i < lobby->count; i++) {
		fds[i + 1] = (struct pollfd){ .fd = lobby->guests[i].fd,
					      .events = POLLIN };
		if (lobby->guests[i].deadline < deadline)
			deadline = lobby->guests[i].deadline;
	}
	left = deadline - net_now_ms();
	if (left > 0)
		poll(fds, lobby->count + 1, left > 60000 ? 60000 : (int)left);
}

int lobby_next(struct lobby *lobby, int64_t deadline, struct hello *hello,
	       struct address *from)
{
	while (net_now_ms() < deadline) {
		lobby_wait(lobby, deadline);
		guest_add(lobby);
		for (size_t i = 0; i < lobby->count;) {
			struct guest *guest = &lobby->guests[i];
			enum progress progress = guest_read(guest);
			int fd = guest->fd;

			if (progress == WAITS) {
				i++;
				continue;
			}
			*hello = guest->hello;
			*from = guest->from;
			guest_drop(lobby, i);
			if (progress == COMPLETE)
				return fd;
			close(fd);
		}
	}
	return -1;
}
