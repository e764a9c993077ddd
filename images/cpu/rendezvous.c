/* rendezvous.c - brings all ranks together: two sockets each. */
#include "images/cpu/rendezvous.h"

#include "images/cpu/net.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

/* Who connected and has not said hello yet. */

#define HELLO_MS 5000

struct pending {
	int fd;
	int64_t deadline;
	struct address from;
	struct hello hello;
	size_t got; /* bytes of it */
};

struct acceptor {
	int listener;
	size_t count;
	struct pending pending[HELLO_PENDING_MAX]; /* the oldest first */
};

static void acceptor_clear(struct acceptor *acceptor)
{
	for (size_t i = 0; i < acceptor->count; i++)
		close(acceptor->pending[i].fd);
}

static void pending_drop(struct acceptor *acceptor, size_t index)
{
	acceptor->count--;
	memmove(acceptor->pending + index, acceptor->pending + index + 1,
		(acceptor->count - index) * sizeof(acceptor->pending[0]));
}

static void pending_add(struct acceptor *acceptor)
{
	struct address from;
	int fd = net_accept(acceptor->listener, &from);

	if (fd < 0)
		return;
	if (acceptor->count == HELLO_PENDING_MAX) {
		close(acceptor->pending[0].fd);
		pending_drop(acceptor, 0);
	}
	acceptor->pending[acceptor->count++] = (struct pending){
		.fd = fd,
		.deadline = net_now_ms() + HELLO_MS,
		.from = from,
	};
}

enum progress { WAITS, COMPLETE, UNWANTED };

/* Byte by byte, so to say: a stranger's first four bytes give it away. */
static enum progress pending_read(struct pending *pending)
{
	char *bytes = (char *)&pending->hello;
	ssize_t got = recv(pending->fd, bytes + pending->got,
			   sizeof(pending->hello) - pending->got, 0);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return net_now_ms() < pending->deadline ? WAITS : UNWANTED;
	if (got <= 0)
		return UNWANTED;
	pending->got += (size_t)got;
	if (pending->got >= sizeof(uint32_t) &&
	    pending->hello.magic != HELLO_MAGIC)
		return UNWANTED;
	if (pending->got < sizeof(pending->hello))
		return WAITS;
	return pending->hello.version == HELLO_VERSION ? COMPLETE : UNWANTED;
}

/* Sleep until something comes, or a hello is late. */
static void acceptor_wait(const struct acceptor *acceptor, int64_t deadline)
{
	struct pollfd fds[HELLO_PENDING_MAX + 1];
	int64_t left;

	fds[0] = (struct pollfd){ .fd = acceptor->listener, .events = POLLIN };
	for (size_t i = 0; i < acceptor->count; i++) {
		fds[i + 1] = (struct pollfd){ .fd = acceptor->pending[i].fd,
					      .events = POLLIN };
		if (acceptor->pending[i].deadline < deadline)
			deadline = acceptor->pending[i].deadline;
	}
	left = deadline - net_now_ms();
	if (left > 0)
		poll(fds, acceptor->count + 1,
		     left > 60000 ? 60000 : (int)left);
}

/* Wait for the next complete hello: the connection, now the caller's, with the
 * hello and the address it came from. -1: the deadline came.
 */
static int acceptor_next(struct acceptor *acceptor, int64_t deadline,
			 struct hello *hello, struct address *from)
{
	while (net_now_ms() < deadline) {
		acceptor_wait(acceptor, deadline);
		pending_add(acceptor);
		for (size_t i = 0; i < acceptor->count;) {
			struct pending *pending = &acceptor->pending[i];
			enum progress progress = pending_read(pending);
			int fd = pending->fd;

			if (progress == WAITS) {
				i++;
				continue;
			}
			*hello = pending->hello;
			*from = pending->from;
			pending_drop(acceptor, i);
			if (progress == COMPLETE)
				return fd;
			close(fd);
		}
	}
	return -1;
}

/* All ranks together. */

/* Rank 0's answer to HELLO_JOIN; with `refused` empty, `world` places follow,
 * in the order of ranks.
 */
struct answer {
	uint32_t magic;
	char refused[124];
};

struct rendezvous {
	const struct ring_place *place;
	int64_t deadline;
	struct address master;
	int listener;
	struct acceptor acceptor;
	struct address *places; /* one for each rank */
	int *joined;            /* rank 0: connections of the others, or -1 */
	int to_master;          /* the others: the connection to rank 0 */
};

static void rendezvous_clear(struct rendezvous *meet)
{
	for (uint32_t i = 0; meet->joined && i < meet->place->world; i++) {
		if (meet->joined[i] >= 0)
			close(meet->joined[i]);
	}
	if (meet->to_master >= 0)
		close(meet->to_master);
	acceptor_clear(&meet->acceptor);
	if (meet->listener >= 0)
		close(meet->listener);
	free(meet->joined);
	free(meet->places);
}

static int rendezvous_init(struct rendezvous *meet,
			   const struct ring_place *place,
			   struct failure *failure)
{
	*meet = (struct rendezvous){
		.place = place,
		.deadline = net_now_ms() + place->timeout_ms,
		.listener = -1,
		.to_master = -1,
		.places = calloc(place->world, sizeof(struct address)),
		.joined = calloc(place->world, sizeof(int)),
	};
	if (!meet->places || !meet->joined)
		return failure_set(failure, "out of memory");
	for (uint32_t i = 0; i < place->world; i++)
		meet->joined[i] = -1;
	return address_parse(place->address, place->port, &meet->master,
			     failure);
}

static struct hello hello_make(const struct ring_place *place,
			       enum hello_kind kind, uint16_t port)
{
	return (struct hello){
		.magic = HELLO_MAGIC,
		.version = HELLO_VERSION,
		.kind = kind,
		.world = place->world,
		.rank = place->rank,
		.port = port,
		.digest = place->digest,
	};
}

/* Has the peer closed its end? (It sends nothing after its hello.) */
static bool is_closed(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* false: it may not take part; `refused` is the sentence to tell it. */
static bool may_join(const struct rendezvous *meet, const struct hello *hello,
		     char *refused, size_t size)
{
	const struct ring_place *place = meet->place;

	if (hello->world != place->world)
		snprintf(refused, size,
			 "WORLD_SIZE is %u there and %u at rank 0",
			 hello->world, place->world);
	else if (hello->rank == 0 || hello->rank >= place->world)
		snprintf(refused, size, "rank %u: allowed 1 to %u", hello->rank,
			 place->world - 1);
	else if (hello->digest != place->digest)
		snprintf(refused, size,
			 "its options or corpus are not those of rank 0");
	else if (hello->port == 0 || hello->port > UINT16_MAX)
		snprintf(refused, size, "port %u", hello->port);
	else if (meet->joined[hello->rank] >= 0 &&
		 !is_closed(meet->joined[hello->rank]))
		snprintf(refused, size, "there is a rank %u already",
			 hello->rank);
	else
		return true;
	return false;
}

static void pending_refuse(int fd, const char *refused)
{
	struct answer answer = { .magic = HELLO_MAGIC };
	struct failure failure = { 0 };

	snprintf(answer.refused, sizeof(answer.refused), "%s", refused);
	/* It fits the socket's buffer; whether it arrives is its concern. */
	net_send(fd, &answer, sizeof(answer), net_now_ms() + 100, &failure);
	close(fd);
}

static int tell_missing(const struct rendezvous *meet, struct failure *failure)
{
	char list[120] = "";
	size_t used = 0;

	for (uint32_t i = 1; i < meet->place->world; i++) {
		if (meet->joined[i] < 0 && used + 16 < sizeof(list))
			used += (size_t)snprintf(list + used,
						 sizeof(list) - used, " %u", i);
	}
	return failure_set(failure,
			   "not all ranks came within %u s; missing:%s",
			   meet->place->timeout_ms / 1000, list);
}

/* Rank 0: wait for all, then give everyone the table. */
static int rendezvous_host(struct rendezvous *meet, struct failure *failure)
{
	const struct ring_place *place = meet->place;
	struct answer answer = { .magic = HELLO_MAGIC };
	uint32_t missing = place->world - 1;

	while (missing > 0) {
		char refused[sizeof(answer.refused)];
		struct address from;
		struct hello hello;
		int fd = acceptor_next(&meet->acceptor, meet->deadline, &hello,
				       &from);

		if (fd < 0)
			return tell_missing(meet, failure);
		if (hello.kind != HELLO_JOIN ||
		    !may_join(meet, &hello, refused, sizeof(refused))) {
			pending_refuse(fd, hello.kind == HELLO_JOIN
						   ? refused
						   : "not at this moment");
			continue;
		}
		if (meet->joined[hello.rank] < 0)
			missing--;
		else
			close(meet->joined[hello.rank]);
		meet->joined[hello.rank] = fd;
		meet->places[hello.rank] = from;
		address_set_port(&meet->places[hello.rank],
				 (uint16_t)hello.port);
	}
	for (uint32_t i = 1; i < place->world; i++) {
		int fd = meet->joined[i];

		if (net_send(fd, &answer, sizeof(answer), meet->deadline,
			     failure) < 0 ||
		    net_send(fd, meet->places,
			     place->world * sizeof(struct address),
			     meet->deadline, failure) < 0) {
			struct failure reason = *failure;

			return failure_set(failure, "rank %u %.200s", i,
					   reason.text);
		}
	}
	return 0;
}

/* What rank 0 sent is used as socket addresses: no other kind, no other size.
 */
static bool places_are_valid(const struct rendezvous *meet)
{
	for (uint32_t i = 1; i < meet->place->world; i++) {
		const struct address *place = &meet->places[i];
		int family = place->bytes.ss_family;

		if (!(family == AF_INET &&
		      place->size == sizeof(struct sockaddr_in)) &&
		    !(family == AF_INET6 &&
		      place->size == sizeof(struct sockaddr_in6)))
			return false;
	}
	return true;
}

/* The others: tell rank 0 where we listen, and wait for the table: as long as
 * rank 0 does, which may have begun later.
 */
static int rendezvous_join(struct rendezvous *meet, uint16_t port,
			   struct failure *failure)
{
	const struct ring_place *place = meet->place;
	struct hello hello = hello_make(place, HELLO_JOIN, port);
	struct answer answer;
	struct failure reason = { 0 };
	int fd = meet->to_master;

	if (net_send(fd, &hello, sizeof(hello), meet->deadline, &reason) < 0 ||
	    net_receive(fd, &answer, sizeof(answer), INT64_MAX, &reason) < 0)
		return failure_set(failure, "rank 0 %.200s", reason.text);
	answer.refused[sizeof(answer.refused) - 1] = 0;
	if (answer.magic != HELLO_MAGIC)
		return failure_set(failure,
				   "what listens on port %u is not a rank "
				   "0 of "
				   "ours",
				   place->port);
	if (answer.refused[0])
		return failure_set(failure, "rank 0 refuses rank %u: %s",
				   place->rank, answer.refused);
	if (net_receive(fd, meet->places, place->world * sizeof(struct address),
			INT64_MAX, &reason) < 0)
		return failure_set(failure, "rank 0 %.200s", reason.text);
	if (!places_are_valid(meet))
		return failure_set(failure, "rank 0 sent places that are no "
					    "addresses");
	return 0;
}

/* Connect to the next and let the one before us in. Its connection waits in
 * the listener's queue meanwhile, so the order cannot lock up.
 */
static int ring_close(struct rendezvous *meet, int *next, int *before,
		      struct failure *failure)
{
	const struct ring_place *place = meet->place;
	uint32_t rank_next = (place->rank + 1) % place->world;
	uint32_t rank_before = (place->rank + place->world - 1) % place->world;
	struct hello hello = hello_make(place, HELLO_NEXT, 0);
	struct address from;
	struct failure reason = { 0 };
	int fd;

	*next = net_connect(rank_next ? &meet->places[rank_next]
				      : &meet->master,
			    meet->deadline, &reason);
	if (*next < 0 ||
	    net_send(*next, &hello, sizeof(hello), meet->deadline, &reason) < 0)
		return failure_set(failure, "rank %u: %.200s", rank_next,
				   reason.text);
	for (;;) {
		fd = acceptor_next(&meet->acceptor, meet->deadline, &hello,
				   &from);
		if (fd < 0)
			return failure_set(failure, "rank %u did not connect",
					   rank_before);
		if (hello.kind == HELLO_NEXT && hello.rank == rank_before &&
		    hello.world == place->world &&
		    hello.digest == place->digest) {
			*before = fd;
			return 0;
		}
		close(fd);
	}
}

static int rendezvous_run(struct rendezvous *meet, int *next, int *before,
			  struct failure *failure)
{
	struct address own = meet->master;

	if (meet->place->rank > 0) {
		meet->to_master =
			net_connect(&meet->master, meet->deadline, failure);
		/* Listen only where the way to rank 0 goes out. */
		if (meet->to_master < 0 ||
		    net_local(meet->to_master, &own, failure) < 0)
			return -1;
		address_set_port(&own, 0);
	}
	meet->listener = net_listen(&own, failure);
	if (meet->listener < 0)
		return -1;
	meet->acceptor.listener = meet->listener;
	if (meet->place->rank == 0
		    ? rendezvous_host(meet, failure) < 0
		    : rendezvous_join(meet, address_port(&own), failure) < 0)
		return -1;
	meet->deadline = net_now_ms() + meet->place->timeout_ms;
	return ring_close(meet, next, before, failure);
}

int rendezvous_meet(const struct ring_place *place, int *next, int *before,
		    struct failure *failure)
{
	struct rendezvous meet;
	int rc = rendezvous_init(&meet, place, failure);

	*next = -1;
	*before = -1;
	if (rc == 0)
		rc = rendezvous_run(&meet, next, before, failure);
	if (rc < 0 && *next >= 0)
		close(*next);
	rendezvous_clear(&meet);
	return rc;
}
