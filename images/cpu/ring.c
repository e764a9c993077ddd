/* ring.c - sums an array over all ranks, which stand in a ring of TCP links. */
#include "images/cpu/ring.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

struct ring {
	uint32_t rank;
	uint32_t world;
	int next;
	int before;
	float *chunk; /* one that is coming in */
	size_t room;  /* floats */
};

struct ring *ring_new(const struct ring_place *place, struct failure *failure)
{
	struct ring *ring = calloc(1, sizeof(*ring));

	if (!ring) {
		failure_set(failure, "out of memory");
		return NULL;
	}
	ring->rank = place->rank;
	ring->world = place->world;
	ring->next = -1;
	ring->before = -1;
	if (place->world > 1 &&
	    rendezvous_meet(place, &ring->next, &ring->before, failure) < 0) {
		ring->next = -1;
		ring_free(ring);
		return NULL;
	}
	return ring;
}

void ring_free(struct ring *ring)
{
	if (!ring)
		return;
	if (ring->next >= 0)
		close(ring->next);
	if (ring->before >= 0)
		close(ring->before);
	free(ring->chunk);
	free(ring);
}

static uint32_t rank_at(const struct ring *ring, uint32_t steps_on)
{
	return (ring->rank + steps_on) % ring->world;
}

static int gone(const struct ring *ring, uint32_t steps_on, ssize_t result,
		struct failure *failure)
{
	uint32_t rank = rank_at(ring, steps_on);

	if (result == 0)
		return failure_set(failure,
				   "rank %u went away (closed its connection)",
				   rank);
	return failure_errno(failure, "rank %u went away", rank);
}

/* Move what a socket takes or gives now. -1: the peer is gone. */
static ssize_t moved(ssize_t result)
{
	if (result < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return result ? result : -1;
}

/* Send and receive at the same time: were all ranks to send first, none would
 * read, and full socket buffers would hold the ring for ever.
 */
static int exchange(struct ring *ring, const char *out, size_t out_size,
		    char *in, size_t in_size, struct failure *failure)
{
	while (out_size > 0 || in_size > 0) {
		struct pollfd fds[2] = {
			{ .fd = out_size ? ring->next : -1, .events = POLLOUT },
			{ .fd = in_size ? ring->before : -1, .events = POLLIN },
		};
		ssize_t result;

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return failure_errno(failure, "poll");
		if (fds[0].revents) {
			result = moved(
				send(ring->next, out, out_size, MSG_NOSIGNAL));
			if (result < 0)
				return gone(ring, 1, -1, failure);
			out += result;
			out_size -= (size_t)result;
		}
		if (fds[1].revents) {
			ssize_t got = recv(ring->before, in, in_size, 0);

			result = moved(got);
			if (result < 0)
				return gone(ring, ring->world - 1, got,
					    failure);
			in += result;
			in_size -= (size_t)result;
		}
	}
	return 0;
}

/* Chunk `index` of the array: all of them together are the array, also when
 * count is no multiple of world, or less than it.
 */
static size_t chunk_first(const struct ring *ring, size_t count, uint32_t index)
{
	return count / ring->world * index +
	       (index < count % ring->world ? index : count % ring->world);
}

static size_t chunk_size(const struct ring *ring, size_t count, uint32_t index)
{
	return chunk_first(ring, count, index + 1) -
	       chunk_first(ring, count, index);
}

static int round_run(struct ring *ring, float *data, size_t count, uint32_t out,
		     uint32_t in, float *target, struct failure *failure)
{
	return exchange(ring,
			(const char *)(data + chunk_first(ring, count, out)),
			chunk_size(ring, count, out) * sizeof(*data),
			(char *)target,
			chunk_size(ring, count, in) * sizeof(*data), failure);
}

static int room_make(struct ring *ring, size_t count, struct failure *failure)
{
	size_t need = count / ring->world + 1;
	float *chunk;

	if (ring->room >= need)
		return 0;
	chunk = realloc(ring->chunk, need * sizeof(*chunk));
	if (!chunk)
		return failure_set(failure, "out of memory");
	ring->chunk = chunk;
	ring->room = need;
	return 0;
}

int ring_sum(struct ring *ring, float *data, size_t count,
	     struct failure *failure)
{
	uint32_t world = ring->world;

	if (world == 1)
		return 0;
	if (room_make(ring, count, failure) < 0)
		return -1;
	for (uint32_t i = 0; i + 1 < world; i++) {
		uint32_t out = rank_at(ring, world - i);
		uint32_t in = rank_at(ring, world - i - 1);
		float *sum = data + chunk_first(ring, count, in);
		size_t size = chunk_size(ring, count, in);

		if (round_run(ring, data, count, out, in, ring->chunk,
			      failure) < 0)
			return -1;
		for (size_t j = 0; j < size; j++)
			sum[j] += ring->chunk[j];
	}
	for (uint32_t i = 0; i + 1 < world; i++) {
		uint32_t out = rank_at(ring, world + 1 - i);
		uint32_t in = rank_at(ring, world - i);

		if (round_run(ring, data, count, out, in,
			      data + chunk_first(ring, count, in), failure) < 0)
			return -1;
	}
	return 0;
}
