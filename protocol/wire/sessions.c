/* sessions.c - the sessions of a server: their limits in time, and their end.
 */
#include "protocol/wire/sessions.h"
#include "protocol/base/bucket.h"
#include "protocol/base/clock.h"
#include "protocol/base/loop.h"
#include "protocol/wire/outgoing.h"
#include "protocol/wire/zap.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

	TAILQ_FOREACH(peer, &unsent->peers, next) {
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
			if (peer->cut_bytes)
				break;
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

	TAILQ_FOREACH(peer, &unsent->peers, next) {
		if (peer != most &&
		    (most->alone || peer->budget != most->budget))
			continue;
		peer->cut_bytes = bytes;
		unsent_lower(peer, 0);
	}
	loop_timer(unsent->loop, &unsent->timer, 0, unsent_cut_run, unsent,
		   NULL);
}

/* A message of so many bytes was queued for the peer. */
static void unsent_queued(struct unsent_peer *peer, size_t bytes)
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

/* So many queued bytes were given to libzmq, as `wire` bytes on the wire; 0:
 * they were dropped.
 */
static void unsent_given(struct unsent_peer *peer, size_t bytes, size_t wire)
{
	/* Some may have been queued for an earlier peer of this id. */
	peer->queued -= bytes < peer->queued ? bytes : peer->queued;
	peer->given += wire;
	if (!wire && peer->bytes >= bytes)
		unsent_lower(peer, peer->bytes - bytes);
}

static bool unsent_is_low(struct unsent_peer *peer)
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

static void unsent_join(struct unsent *unsent, struct unsent_peer *peer)
{
	peer->unsent = unsent;
	TAILQ_INSERT_TAIL(&unsent->peers, peer, next);
}

static void unsent_leave(struct unsent_peer *peer)
{
	if (!peer->unsent)
		return;
	unsent_lower(peer, 0);
	TAILQ_REMOVE(&peer->unsent->peers, peer, next);
	peer->unsent = NULL;
}

static struct unsent *unsent_new(sd_event *loop, const struct budgets *budgets,
				 unsent_cut_fn *cut, void *arg,
				 struct error *err)
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

#define SWEEP_MS 1000  /* how often silent peers are looked for, at most */
#define LOOKS 3        /* at all connections, after one closed */
#define SWEEPS_BLIND 9 /* between two looks: libzmq may not tell of all */
#define HANG_UP_MS 100 /* for the last words to a peer that is dropped */
/* Refusals that are reported at once, and in a second; others are counted, and
 * told once a minute at most.
 */
#define REPORTS_MAX 20
#define STRANGERS_RATE (1.0 / 3)
#define REPORT_REST_MS 60000

struct sessions {
	sd_event *loop;
	struct keyring *keyring;
	struct outgoing *outgoing;
	struct unsent *unsent;
	struct wire_server_handler handler;
	void *arg;
	void *peers;             /* tsearch(3), by id */
	struct budgets *budgets; /* by key */
	struct peer_list active; /* the longest silent first */
	struct peer_list lost;   /* to be ended by the present sweep */
	struct peer_list ended;  /* to be disconnected, in order of their end */
	sd_event_source *sweep, *hang_up;
	unsigned int looks; /* at all connections, by the next sweeps */
	unsigned int blind; /* sweeps since the last one */
	uint32_t heartbeat_ms;
	bool paused;
	uint64_t changes; /* of the keyring, when peers were last held to it */
	int64_t swept_ms;
	int64_t resumed_ms; /* silence before this time has no meaning */
	struct bucket known, strangers; /* refusals that may be told */
	int64_t rest_ms;                /* when the others may be told again */
	unsigned int unreported;
};

/* Peers. */

static int compare_ids(const void *a, const void *b)
{
	const struct frames_id *x = &((const struct wire_peer *)a)->id;
	const struct frames_id *y = &((const struct wire_peer *)b)->id;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return memcmp(x->bytes, y->bytes, x->size);
}

struct wire_peer *sessions_peer(struct sessions *sessions,
				const struct frames_id *id)
{
	const struct wire_peer key = { .id = *id };
	void *found = tfind(&key, &sessions->peers, compare_ids);

	return found ? *(struct wire_peer **)found : NULL;
}

/* Is the descriptor still the same connection? libzmq does not report when a
 * connection closes, and the next one gets the same number.
 */
static bool is_connected(const struct wire_peer *peer)
{
	return peer->fd < 0 || socket_inode(peer->fd) == peer->inode;
}

struct wire_peer *sessions_of_fd(struct sessions *sessions, int fd)
{
	struct wire_peer *peer;

	TAILQ_FOREACH(peer, &sessions->active, next)
		if (peer->fd == fd && is_connected(peer))
			return peer;
	return NULL;
}

static void move_peer(struct wire_peer *peer, struct peer_list *to)
{
	if (peer->list)
		TAILQ_REMOVE(peer->list, peer, next);
	peer->list = to;
	if (to)
		TAILQ_INSERT_TAIL(to, peer, next);
}

static void forget_peer(struct wire_peer *peer)
{
	tdelete(peer, &peer->sessions->peers, compare_ids);
	move_peer(peer, NULL);
	unsent_leave(&peer->unsent);
	budget_leave(peer->budget, clock_mono_ms());
	free(peer);
}

/* A text of the connection, cut to fit; "" when there is none. */
static void metadata(struct frames *frames, const char *property, char *to,
		     size_t size)
{
	const char *text = zmq_msg_gets(&frames->text, property);

	snprintf(to, size, "%s", text ? text : "");
}

struct wire_peer *sessions_add(struct sessions *sessions, struct frames *frames)
{
	struct wire_peer *peer = calloc(1, sizeof(*peer));
	const struct key *key;

	if (!peer)
		return NULL;
	peer->id = frames->id;
	peer->sessions = sessions;
	metadata(frames, "User-Id", peer->name, sizeof(peer->name));
	metadata(frames, ZAP_KEY, peer->public, sizeof(peer->public));
	metadata(frames, "Peer-Address", peer->address, sizeof(peer->address));
	key = keyring_known(sessions->keyring, peer->public);
	peer->role =
		key && !strcmp(key->name, peer->name) ? key->role : ROLE_NONE;
	peer->fd = zmq_msg_get(&frames->text, ZMQ_SRCFD);
	peer->inode = socket_inode(peer->fd);
	peer->heard_ms = clock_mono_ms();
	if (!tsearch(peer, &sessions->peers, compare_ids)) {
		free(peer);
		return NULL;
	}
	move_peer(peer, &sessions->active);
	peer->budget = budget_join(sessions->budgets, peer->public, peer->role,
				   peer->heard_ms);
	peer->unsent = (struct unsent_peer){
		.peer = peer,
		.fd = peer->fd,
		.inode = peer->inode,
		.budget = peer->budget,
		.alone = peer->role == ROLE_AGENT,
	};
	if (peer->budget)
		unsent_join(sessions->unsent, &peer->unsent);
	sessions_pace(peer);
	return peer;
}

void sessions_heard(struct wire_peer *peer)
{
	peer->heard_ms = clock_mono_ms();
	move_peer(peer, &peer->sessions->active);
}

uint32_t sessions_pace(struct wire_peer *peer)
{
	peer->heartbeat_ms = peer->sessions->heartbeat_ms;
	return peer->heartbeat_ms;
}

/* Charges. */

bool wire_peer_wait(struct wire_peer *peer)
{
	return budget_take(peer->budget, BUDGET_WAITS, 1) == BUDGET_TAKEN;
}

void wire_peer_waited(struct wire_peer *peer)
{
	budget_give(peer->budget, BUDGET_WAITS, 1);
}

void wire_peer_spend(struct wire_peer *peer, int64_t cpu_us)
{
	if (budget_timed(peer->budget))
		budget_spend(peer->budget, cpu_us);
}

int wire_peer_check_time(const struct wire_peer *peer, struct error *err)
{
	uint32_t wait_ms = budget_wait_ms(peer->budget, clock_mono_ms());

	if (!wait_ms)
		return 0;
	return error_set(err, EAGAIN,
			 "the requests of this key, or of all viewers, used "
			 "too much CPU time of the controller; try again in "
			 "%u s",
			 (wait_ms + 999) / 1000);
}

/* Reports. */

static void report_rest(struct sessions *sessions, int64_t now)
{
	char why[80];

	if (!sessions->unreported || now < sessions->rest_ms)
		return;
	sessions->rest_ms = now + REPORT_REST_MS;
	snprintf(why, sizeof(why), "%u more refusals", sessions->unreported);
	sessions->unreported = 0;
	sessions->handler.refused(sessions->arg, "others", why);
}

/* Many refusals must not fill the log. */
void sessions_report(struct sessions *sessions, bool known, const char *who,
		     const char *why)
{
	if (bucket_take(known ? &sessions->known : &sessions->strangers,
			clock_mono_ms()))
		sessions->handler.refused(sessions->arg, who, why);
	else
		sessions->unreported++;
}

/* Ending a session. */

bool wire_peer_alive(const struct wire_peer *peer)
{
	int64_t limit = clock_mono_ms() - 2 * (int64_t)peer->heartbeat_ms;

	return !peer->ended && peer->heard_ms > limit && is_connected(peer);
}

static int hang_up_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct sessions *sessions = arg;
	int64_t limit = clock_mono_ms() - HANG_UP_MS;
	struct wire_peer *peer;

	while ((peer = TAILQ_FIRST(&sessions->ended)) &&
	       peer->heard_ms <= limit) {
		/* libzmq has no call to close one connection. */
		if (is_connected(peer))
			shutdown(peer->fd, SHUT_RDWR);
		forget_peer(peer);
	}
	if (peer)
		loop_timer(sessions->loop, &sessions->hang_up, HANG_UP_MS,
			   hang_up_run, sessions, NULL);
	return 0;
}

static void peer_gone(struct wire_peer *peer, const char *why)
{
	if (!peer->greeted)
		return;
	peer->greeted = false;
	peer->sessions->handler.gone(peer->sessions->arg, peer, why);
}

/* End the session; the connection is closed a moment later. */
static void peer_end(struct wire_peer *peer, const char *why)
{
	struct sessions *sessions = peer->sessions;

	if (peer->ended)
		return;
	peer->ended = true;
	unsent_leave(&peer->unsent);
	/* It reads no last words; libzmq now releases what it has of it. */
	if (peer->unsent.cut_bytes && is_connected(peer))
		shutdown(peer->fd, SHUT_RDWR);
	peer->heard_ms = clock_mono_ms();
	if (TAILQ_EMPTY(&sessions->ended))
		loop_timer(sessions->loop, &sessions->hang_up, HANG_UP_MS,
			   hang_up_run, sessions, NULL);
	move_peer(peer, &sessions->ended);
	peer_gone(peer, why);
}

bool sessions_begin(struct wire_peer *peer)
{
	peer_gone(peer, "duplicate hello");
	if (peer->ended)
		return false;
	peer->data = NULL;
	peer->lagged = false;
	peer->greeted = true;
	sessions_pace(peer);
	return true;
}

/* Sending. */

void sessions_send_now(struct wire_peer *peer, enum message_type type,
		       const void *body)
{
	struct sessions *sessions = peer->sessions;
	size_t wire = outgoing_now(sessions->outgoing, &peer->id, type, body);

	unsent_queued(&peer->unsent, wire);
	unsent_given(&peer->unsent, wire, wire);
}

void sessions_refuse_request(struct wire_peer *peer, uint64_t request, int code,
			     const char *why)
{
	struct message_refused refused = { request, code, (char *)why };

	sessions_send_now(peer, MESSAGE_REFUSED, &refused);
}

int wire_server_send(struct wire_peer *peer, enum message_type type,
		     const void *body, const void *payload, size_t size,
		     struct error *err)
{
	ssize_t queued;

	if (peer->unsent.cut_bytes)
		return error_set(err, ENOBUFS,
				 "it did not read %zu MiB of messages",
				 peer->unsent.cut_bytes >> 20);
	queued = outgoing_put(peer->sessions->outgoing, &peer->id, &peer->open,
			      type, body, payload, size, err);
	if (queued < 0)
		return -1;
	unsent_queued(&peer->unsent, (size_t)queued);
	return 0;
}

bool wire_peer_ready(struct wire_peer *peer)
{
	return unsent_is_low(&peer->unsent);
}

static void sent(void *arg, const struct frames_id *to, size_t size,
		 size_t wire, bool dropped)
{
	struct wire_peer *peer = sessions_peer(arg, to);

	if (!peer)
		return;
	peer->open = NULL;
	peer->lagged |= dropped;
	unsent_given(&peer->unsent, size, wire);
}

void sessions_flush(struct sessions *sessions)
{
	outgoing_flush(sessions->outgoing, sent, sessions);
}

void wire_server_refuse(struct wire_peer *peer, int code, const char *why)
{
	if (peer->ended)
		return;
	sessions_refuse_request(peer, 0, code, why);
	sessions_report(peer->sessions, peer->name[0],
			peer->name[0] ? peer->name : "somebody", why);
	peer_end(peer, why);
}

void sessions_cut(struct wire_peer *peer, const char *why)
{
	if (peer->role == ROLE_AGENT)
		wire_server_refuse(peer, ENOBUFS, why);
	else
		wire_server_drop(peer, ENOBUFS, why);
}

static void unsent_cut_peer(void *arg, struct wire_peer *peer, size_t bytes)
{
	char why[80];

	snprintf(why, sizeof(why), "it did not read %zu MiB of messages",
		 bytes >> 20);
	sessions_cut(peer, why);
}

/* Another active session of the peer's key, or NULL. */
static struct wire_peer *twin_of(const struct wire_peer *peer)
{
	struct wire_peer *twin;

	TAILQ_FOREACH(twin, &peer->sessions->active, next)
		if (twin != peer && !strcmp(twin->public, peer->public))
			return twin;
	return NULL;
}

void wire_server_drop(struct wire_peer *peer, int code, const char *text)
{
	struct wire_peer *twin;

	if (peer->ended)
		return;
	keyring_ban(peer->sessions->keyring, peer->name, WIRE_BAN_MS);
	wire_server_refuse(peer, code, text);
	while ((twin = twin_of(peer))) {
		sessions_refuse_request(twin, 0, code, text);
		peer_end(twin, text);
	}
}

/* Silence, broken connections, and revoked keys. */

/* Is its key still in the keyring, with the same name and role? */
static bool is_admitted(const struct wire_peer *peer)
{
	const struct key *key =
		keyring_known(peer->sessions->keyring, peer->public);

	return key && key->role == peer->role && !strcmp(key->name, peer->name);
}

void sessions_recheck(struct sessions *sessions)
{
	uint64_t changes = keyring_changes(sessions->keyring);
	struct wire_peer *peer, *next;

	if (changes == sessions->changes)
		return;
	sessions->changes = changes;
	/* Ending a session removes only this peer from the list. */
	for (peer = TAILQ_FIRST(&sessions->active); peer; peer = next) {
		next = TAILQ_NEXT(peer, next);
		if (!is_admitted(peer))
			wire_server_refuse(peer, EACCES, KEY_GONE);
	}
}

static uint32_t sweep_interval(const struct sessions *sessions)
{
	return sessions->heartbeat_ms < SWEEP_MS ? sessions->heartbeat_ms
						 : SWEEP_MS;
}

void sessions_look(struct sessions *sessions)
{
	sessions->looks = LOOKS;
}

/* Is it time to ask the kernel about each connection? */
static bool sweep_looks(struct sessions *sessions)
{
	if (!sessions->looks && sessions->blind++ < SWEEPS_BLIND)
		return false;
	sessions->looks -= sessions->looks > 0;
	sessions->blind = 0;
	return true;
}

/* A session ends at the second look after its connection, so that its last
 * messages are read.
 */
static bool is_lost(struct wire_peer *peer)
{
	bool was_closed = peer->closed;

	peer->closed = !is_connected(peer);
	if (peer->closed && !was_closed)
		sessions_look(peer->sessions);
	return was_closed && peer->closed;
}

static void sessions_sweep(struct sessions *sessions, int64_t now)
{
	struct wire_peer *peer, *next;
	bool looks = sweep_looks(sessions);

	if (looks)
		budgets_sweep(sessions->budgets, now);
	for (peer = TAILQ_FIRST(&sessions->active); peer; peer = next) {
		int64_t limit = now - 3 * (int64_t)peer->heartbeat_ms;

		next = TAILQ_NEXT(peer, next);
		if ((looks && is_lost(peer)) ||
		    (peer->heard_ms < limit && sessions->resumed_ms < limit))
			move_peer(peer, &sessions->lost);
	}
	while ((peer = TAILQ_FIRST(&sessions->lost))) {
		if (!peer->closed)
			sessions_refuse_request(peer, 0, ETIMEDOUT,
						"three heartbeats were missed");
		peer_end(peer,
			 peer->closed ? "its connection was lost" : "silent");
	}
}

static int sweep_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct sessions *sessions = arg;
	int64_t now = clock_mono_ms();

	/* This process was stopped: the peers were not silent. */
	if (now - sessions->swept_ms >
	    sweep_interval(sessions) + (int64_t)sessions->heartbeat_ms)
		sessions->resumed_ms = now;
	sessions->swept_ms = now;
	report_rest(sessions, now);
	if (!sessions->paused) {
		sessions_recheck(sessions);
		sessions_sweep(sessions, now);
	}
	loop_timer(sessions->loop, &sessions->sweep, sweep_interval(sessions),
		   sweep_run, sessions, NULL);
	return 0;
}

void sessions_set_heartbeat(struct sessions *sessions, uint32_t heartbeat_ms)
{
	uint32_t before_ms = sweep_interval(sessions);

	sessions->heartbeat_ms = heartbeat_ms ? heartbeat_ms : 1;
	if (sessions->sweep && sweep_interval(sessions) == before_ms)
		return;
	sessions->swept_ms = sessions->resumed_ms = clock_mono_ms();
	loop_timer(sessions->loop, &sessions->sweep, sweep_interval(sessions),
		   sweep_run, sessions, NULL);
}

void sessions_pause(struct sessions *sessions, bool paused)
{
	sessions->paused = paused;
	sessions->resumed_ms = clock_mono_ms();
}

/* Making and unmaking. */

struct sessions *sessions_new(sd_event *loop, struct keyring *keyring,
			      struct outgoing *outgoing,
			      const struct wire_server_handler *handler,
			      void *arg, struct error *err)
{
	owned(sessions_free) struct sessions *sessions =
		calloc(1, sizeof(*sessions));

	if (!sessions)
		return error_null(error_nomem(err, "sessions"));
	TAILQ_INIT(&sessions->active);
	TAILQ_INIT(&sessions->lost);
	TAILQ_INIT(&sessions->ended);
	sessions->budgets = budgets_new();
	if (!sessions->budgets)
		return error_null(error_nomem(err, "budgets"));
	sessions->unsent = unsent_new(loop, sessions->budgets, unsent_cut_peer,
				      sessions, err);
	if (!sessions->unsent)
		return NULL;
	sessions->loop = sd_event_ref(loop);
	sessions->keyring = keyring;
	sessions->outgoing = outgoing;
	sessions->handler = *handler;
	sessions->arg = arg;
	sessions->known = bucket_full(REPORTS_MAX, 1, clock_mono_ms());
	sessions->strangers =
		bucket_full(REPORTS_MAX, STRANGERS_RATE, clock_mono_ms());
	sessions_set_heartbeat(sessions, WIRE_HEARTBEAT_MS);
	if (!sessions->sweep)
		return error_null(error_nomem(err, "timer"));
	return take(sessions);
}

struct budgets *sessions_budgets(const struct sessions *sessions)
{
	return sessions->budgets;
}

void sessions_free(struct sessions *sessions)
{
	struct wire_peer *peer;

	if (!sessions)
		return;
	while ((peer = TAILQ_FIRST(&sessions->active)) ||
	       (peer = TAILQ_FIRST(&sessions->lost)) ||
	       (peer = TAILQ_FIRST(&sessions->ended)))
		forget_peer(peer);
	unsent_free(sessions->unsent);
	budgets_free(sessions->budgets);
	loop_source_free(&sessions->sweep);
	loop_source_free(&sessions->hang_up);
	sd_event_unref(sessions->loop);
	free(sessions);
}
