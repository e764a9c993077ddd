/* unsent.c - counts the bytes that peers were sent and have not received, and
 * bounds them.
 */
#include "protocol/wire/unsent.h"

#include "protocol/base/clock.h"
#include "protocol/base/loop.h"
#include "protocol/wire/frame.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#define STALE (256 << 10) /* of a peer, before the kernel is asked again */
#define LOOK_MS 100       /* between two looks at all for unsent_is_low() */

struct unsent {
	sd_event *loop;
	sd_event_source *timer;
	TAILQ_HEAD(, unsent_peer) peers;
	const struct budgets *budgets;
	unsent_cut_fn *cut;
	void *arg;
	int64_t looked_ms;
};

/* Bytes that the peer's machine has received; all, if that is not known. */
static uint64_t bytes_acknowledged(const struct unsent_peer *peer)
{
	struct tcp_info info = { 0 };
	socklen_t size = sizeof(info);

	if (socket_inode(peer->fd) != peer->inode ||
	    getsockopt(peer->fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0 ||
	    size < offsetof(struct tcp_info, tcpi_bytes_acked) + 8)
		return UINT64_MAX;
	return info.tcpi_bytes_acked;
}

static void unsent_lower(struct unsent_peer *peer, size_t bytes)
{
	if (bytes >= peer->bytes)
		return;
	budget_give(peer->budget, BUDGET_UNSENT, peer->bytes - bytes);
	peer->bytes = bytes;
}

static void unsent_measure(struct unsent_peer *peer)
{
	uint64_t acknowledged = bytes_acknowledged(peer);

	unsent_lower(peer, peer->queued + (acknowledged < peer->given
						   ? peer->given - acknowledged
						   : 0));
}

/* The one with most, of this key; NULL: of all. */
static struct unsent_peer *unsent_most(const struct unsent *unsent,
				       const struct budget *key)
{
	struct unsent_peer *peer, *most = NULL;

	TAILQ_FOREACH(peer, &unsent->peers, next)
	{
		if (!peer->bytes || (key && peer->budget != key))
			continue;
		unsent_measure(peer);
		if (!most || peer->bytes > most->bytes)
			most = peer;
	}
	return most;
}

static int unsent_cut_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct unsent *unsent = arg;
	struct unsent_peer *peer;

	/* A cut may end several sessions. */
	do {
		TAILQ_FOREACH(peer, &unsent->peers, next)
		{
			if (peer->cut_bytes)
				break;
		}
		if (peer)
			unsent->cut(unsent->arg, peer->peer, peer->cut_bytes);
	} while (peer);
	return 0;
}

/* Not at once: the caller may be among the peer's requests. With a person all
 * sessions of the key will end.
 */
static void unsent_cut_later(struct unsent *unsent, struct unsent_peer *most)
{
	size_t bytes = most->bytes;
	struct unsent_peer *peer;

	TAILQ_FOREACH(peer, &unsent->peers, next)
	{
		if (peer != most &&
		    (most->alone || peer->budget != most->budget))
			continue;
		peer->cut_bytes = bytes;
		unsent_lower(peer, 0);
	}
	loop_timer(unsent->loop, &unsent->timer, 0, unsent_cut_run, unsent,
		   NULL);
}

void unsent_queued(struct unsent_peer *peer, size_t bytes)
{
	enum budget_taken taken;
	struct unsent_peer *most;

	peer->queued += bytes;
	if (!peer->unsent || peer->cut_bytes)
		return;
	if (peer->bytes > STALE)
		unsent_measure(peer);
	while ((taken = budget_take(peer->budget, BUDGET_UNSENT, bytes))) {
		const struct budget *key =
			taken == BUDGET_OF_KEY ? peer->budget : NULL;

		most = unsent_most(peer->unsent, key);
		/* What was measured may be enough. */
		if (budget_take(peer->budget, BUDGET_UNSENT, bytes) ==
		    BUDGET_TAKEN)
			break;
		if (!most)
			return;
		unsent_cut_later(peer->unsent, most);
		if (peer->cut_bytes)
			return;
	}
	peer->bytes += bytes;
}

void unsent_given(struct unsent_peer *peer, size_t bytes, size_t wire)
{
	/* Some may have been queued for an earlier peer of this id. */
	peer->queued -= bytes < peer->queued ? bytes : peer->queued;
	peer->given += wire;
	if (!wire && peer->bytes >= bytes)
		unsent_lower(peer, peer->bytes - bytes);
}

bool unsent_is_low(struct unsent_peer *peer)
{
	struct unsent *unsent = peer->unsent;
	int64_t now = clock_mono_ms();

	if (!unsent)
		return true;
	if (peer->bytes > UNSENT_BULK)
		unsent_measure(peer);
	if (!budgets_half(unsent->budgets, BUDGET_UNSENT) &&
	    now - unsent->looked_ms >= LOOK_MS) {
		unsent_most(unsent, NULL);
		unsent->looked_ms = now;
	}
	return peer->bytes <= UNSENT_BULK &&
	       budgets_half(unsent->budgets, BUDGET_UNSENT);
}

void unsent_join(struct unsent *unsent, struct unsent_peer *peer)
{
	peer->unsent = unsent;
	TAILQ_INSERT_TAIL(&unsent->peers, peer, next);
}

void unsent_leave(struct unsent_peer *peer)
{
	if (!peer->unsent)
		return;
	unsent_lower(peer, 0);
	TAILQ_REMOVE(&peer->unsent->peers, peer, next);
	peer->unsent = NULL;
}

struct unsent *unsent_new(sd_event *loop, const struct budgets *budgets,
			  unsent_cut_fn *cut, void *arg, struct error *err)
{
	struct unsent *unsent = calloc(1, sizeof(*unsent));

	if (!unsent)
		return error_null(error_nomem(err, "sessions"));
	unsent->loop = sd_event_ref(loop);
	TAILQ_INIT(&unsent->peers);
	unsent->budgets = budgets;
	unsent->cut = cut;
	unsent->arg = arg;
	return unsent;
}

void unsent_free(struct unsent *unsent)
{
	if (!unsent)
		return;
	loop_source_free(&unsent->timer);
	sd_event_unref(unsent->loop);
	free(unsent);
}
