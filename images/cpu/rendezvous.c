/* rendezvous.c - brings all ranks together: two sockets each. */
#include "images/cpu/rendezvous.h"
#include "images/cpu/lobby.h"
#include "images/cpu/net.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <unistd.h>

/* Rank 0's answer to HELLO_JOIN; with `refused` empty, `world` places follow,
 * in the order of ranks.
 */
struct answer {
	uint32_t magic;
	char refused[124];
};

struct meeting {
	const struct ring_place *place;
	int64_t deadline;
	struct address master;
	int listener;
	struct lobby *lobby;
	struct address *places; /* one for each rank */
	int *joined;            /* rank 0: connections of the others, or -1 */
	int to_master;          /* the others: the connection to rank 0 */
};

static void meeting_clear(struct meeting *meeting)
{
	for (uint32_t i = 0; meeting->joined && i < meeting->place->world;
	     i++) {
		if (meeting->joined[i] >= 0)
			close(meeting->joined[i]);
	}
	if (meeting->to_master >= 0)
		close(meeting->to_master);
	lobby_free(meeting->lobby);
	if (meeting->listener >= 0)
		close(meeting->listener);
	free(meeting->joined);
	free(meeting->places);
}

static int meeting_init(struct meeting *meeting, const struct ring_place *place,
			struct why *why)
{
	*meeting = (struct meeting){
		.place = place,
		.deadline = net_now_ms() + place->timeout_ms,
		.listener = -1,
		.to_master = -1,
		.places = calloc(place->world, sizeof(struct address)),
		.joined = calloc(place->world, sizeof(int)),
	};
	if (!meeting->places || !meeting->joined)
		return start_error_set(why, "out of memory");
	for (uint32_t i = 0; i < place->world; i++)
		meeting->joined[i] = -1;
	return address_parse(place->address, place->port, &meeting->master,
			     why);
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
static bool may_join(const struct meeting *meeting, const struct hello *hello,
		     char *refused, size_t size)
{
	const struct ring_place *place = meeting->place;

	if (hello->world != place->world)
		snprintf(refused, size,
			 "WORLD_SIZE is %u there and %u at rank 0",
			 hello->world, place->world);
	else if (hello->rank == 0 || hello->rank >= place->world)
		snprintf(refused, size, "rank %u: expected 1 to %u", hello->rank,
			 place->world - 1);
	else if (hello->digest != place->digest)
		snprintf(refused, size,
			 "its options or corpus are not those of rank 0");
	else if (hello->port == 0 || hello->port > UINT16_MAX)
		snprintf(refused, size, "port %u", hello->port);
	else if (meeting->joined[hello->rank] >= 0 &&
		 !is_closed(meeting->joined[hello->rank]))
		snprintf(refused, size, "there is a rank %u already",
			 hello->rank);
	else
		return true;
	return false;
}

static void guest_refuse(int fd, const char *refused)
{
	struct answer answer = { .magic = HELLO_MAGIC };
	struct why why = { 0 };

	snprintf(answer.refused, sizeof(answer.refused), "%s", refused);
	/* It fits the socket's buffer; whether it arrives is its concern. */
	net_send(fd, &answer, sizeof(answer), net_now_ms() + 100, &why);
	close(fd);
}

static int tell_missing(const struct meeting *meeting, struct why *why)
{
	char list[120] = "";
	size_t used = 0;

	for (uint32_t i = 1; i < meeting->place->world; i++) {
		if (meeting->joined[i] < 0 && used + 16 < sizeof(list))
			used += (size_t)snprintf(list + used,
						 sizeof(list) - used, " %u", i);
	}
	return start_error_set(why,
			       "not all ranks came within %u s; missing:%s",
			       meeting->place->timeout_ms / 1000, list);
}

/* Rank 0: wait for all, then give everyone the table. */
static int meeting_host(struct meeting *meeting, struct why *why)
{
	const struct ring_place *place = meeting->place;
	struct answer answer = { .magic = HELLO_MAGIC };
	uint32_t missing = place->world - 1;

	while (missing > 0) {
		char refused[sizeof(answer.refused)];
		struct address from;
		struct hello hello;
		int fd = lobby_next(meeting->lobby, meeting->deadline, &hello,
				    &from);

		if (fd < 0)
			return tell_missing(meeting, why);
		if (hello.kind != HELLO_JOIN ||
		    !may_join(meeting, &hello, refused, sizeof(refused))) {
			guest_refuse(fd, hello.kind == HELLO_JOIN
						 ? refused
						 : "not at this moment");
			continue;
		}
		if (meeting->joined[hello.rank] < 0)
			missing--;
		else
			close(meeting->joined[hello.rank]);
		meeting->joined[hello.rank] = fd;
		meeting->places[hello.rank] = from;
		address_set_port(&meeting->places[hello.rank],
				 (uint16_t)hello.port);
	}
	for (uint32_t i = 1; i < place->world; i++) {
		int fd = meeting->joined[i];

		if (net_send(fd, &answer, sizeof(answer), meeting->deadline,
			     why) < 0 ||
		    net_send(fd, meeting->places,
			     place->world * sizeof(struct address),
			     meeting->deadline, why) < 0) {
			struct why reason = *why;

			return start_error_set(why, "rank %u %.200s", i,
					       reason.text);
		}
	}
	return 0;
}

/* What rank 0 sent is used as socket addresses: no other kind, no other size.
 */
static bool places_are_valid(const struct meeting *meeting)
{
	for (uint32_t i = 1; i < meeting->place->world; i++) {
		const struct address *place = &meeting->places[i];
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
static int meeting_join(struct meeting *meeting, uint16_t port, struct why *why)
{
	const struct ring_place *place = meeting->place;
	struct hello hello = hello_make(place, HELLO_JOIN, port);
	struct answer answer;
	struct why reason = { 0 };
	int fd = meeting->to_master;

	if (net_send(fd, &hello, sizeof(hello), meeting->deadline, &reason) <
		    0 ||
	    net_receive(fd, &answer, sizeof(answer), INT64_MAX, &reason) < 0)
		return start_error_set(why, "rank 0 %.200s", reason.text);
	answer.refused[sizeof(answer.refused) - 1] = 0;
	if (answer.magic != HELLO_MAGIC)
		return start_error_set(why,
				       "what listens on port %u is not a rank "
				       "0 of "
				       "ours",
				       place->port);
	if (answer.refused[0])
		return start_error_set(why, "rank 0 refuses rank %u: %s",
				       place->rank, answer.refused);
	if (net_receive(fd, meeting->places,
			place->world * sizeof(struct address), INT64_MAX,
			&reason) < 0)
		return start_error_set(why, "rank 0 %.200s", reason.text);
	if (!places_are_valid(meeting))
		return start_error_set(why, "rank 0 sent places that are no "
					    "addresses");
	return 0;
}

/* Connect to the next and let the one before us in. Its connection waits in
 * the listener's queue meanwhile, so the order cannot lock up.
 */
static int ring_close(struct meeting *meeting, int *next, int *before,
		      struct why *why)
{
	const struct ring_place *place = meeting->place;
	uint32_t rank_next = (place->rank + 1) % place->world;
	uint32_t rank_before = (place->rank + place->world - 1) % place->world;
	struct hello hello = hello_make(place, HELLO_NEXT, 0);
	struct address from;
	struct why reason = { 0 };
	int fd;

	*next = net_connect(rank_next ? &meeting->places[rank_next]
				      : &meeting->master,
			    meeting->deadline, &reason);
	if (*next < 0 || net_send(*next, &hello, sizeof(hello),
				  meeting->deadline, &reason) < 0)
		return start_error_set(why, "rank %u: %.200s", rank_next,
				       reason.text);
	for (;;) {
		fd = lobby_next(meeting->lobby, meeting->deadline, &hello,
				&from);
		if (fd < 0)
			return start_error_set(why, "rank %u did not connect",
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

static int meeting_run(struct meeting *meeting, int *next, int *before,
		       struct why *why)
{
	struct address own = meeting->master;

	if (meeting->place->rank > 0) {
		meeting->to_master =
			net_connect(&meeting->master, meeting->deadline, why);
		/* Listen only where the way to rank 0 goes out. */
		if (meeting->to_master < 0 ||
		    net_local(meeting->to_master, &own, why) < 0)
			return -1;
		address_set_port(&own, 0);
	}
	meeting->listener = net_listen(&own, why);
	if (meeting->listener < 0)
		return -1;
	meeting->lobby = lobby_new(meeting->listener, why);
	if (!meeting->lobby)
		return -1;
	if (meeting->place->rank == 0
		    ? meeting_host(meeting, why) < 0
		    : meeting_join(meeting, address_port(&own), why) < 0)
		return -1;
	meeting->deadline = net_now_ms() + meeting->place->timeout_ms;
	return ring_close(meeting, next, before, why);
}

int rendezvous(const struct ring_place *place, int *next, int *before,
	       struct why *why)
{
	struct meeting meeting;
	int rc = meeting_init(&meeting, place, why);

	*next = -1;
	*before = -1;
	if (rc == 0)
		rc = meeting_run(&meeting, next, before, why);
	if (rc < 0 && *next >= 0)
		close(*next);
	meeting_clear(&meeting);
	return rc;
}
