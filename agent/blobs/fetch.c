/* fetch.c - fetches the blobs that this node needs, once for all callers.
 */
#include "agent/blobs/fetch.h"

#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/blob/chunk_receiver.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define TICK_MS 500
#define NEWS_MS 2000  /* between reports of progress to the controller */
#define RETRY_MS 2000 /* until the controller is asked again */
#define CONNECT_MS 5000
#define CLEAN_MS 600000
#define BAD_MAX 3 /* tries of what the controller has */

struct fetch_wait {
	struct flight *flight;
	fetch_progress_fn *progress;
	fetch_done_fn *done;
	void *arg;
	TAILQ_ENTRY(fetch_wait) next;
};

enum phase {
	ASKING,     /* the controller for a source */
	CONNECTING, /* to another agent */
	READING,
	CHECKING, /* all bytes are here, the hash is being checked */
	HERE,     /* done() is due */
};

/* The transfer of one blob. */
struct flight {
	struct fetches *fetches;
	char hash[BLOB_HASH_SIZE];
	enum phase phase;
	struct chunk_receiver *receiver; /* NULL: its size is not known yet */
	char source[KEY_NAME_SIZE];      /* "": the controller */
	bool linked;                     /* peers_open(source) */
	bool ending;                     /* done() of the waits runs */
	bool awaited;                    /* it may still be uploaded */
	char failed[KEY_NAME_SIZE];      /* the source before, which failed */
	bool none;                       /* because it does not have the blob */
	unsigned int bad; /* damaged copies that the controller sent */
	int64_t moved_ms; /* when bytes came, or the phase began */
	int64_t told_ms;  /* the controller was told or asked */
	sd_event_source *tick;
	TAILQ_HEAD(, fetch_wait) waits;
	TAILQ_ENTRY(flight) next;
};

struct fetches {
	struct fetch_config config;
	struct peers *peers;
	sd_event_source *clean;
	bool session;
	TAILQ_HEAD(, flight) flights;
};

static int flight_tick_run(sd_event_source *source, uint64_t usec, void *arg);

static void tick_in(struct flight *flight, uint64_t delay_ms)
{
	loop_timer(flight->fetches->config.loop, &flight->tick, delay_ms,
		   flight_tick_run, flight, NULL);
}

static void flight_enter(struct flight *flight, enum phase phase)
{
	flight->phase = phase;
	flight->moved_ms = clock_mono_ms();
}

static void unlink_source(struct flight *flight)
{
	if (flight->linked)
		peers_close(flight->fetches->peers, flight->source);
	flight->linked = false;
}

static void flight_free(struct flight *flight)
{
	unlink_source(flight);
	TAILQ_REMOVE(&flight->fetches->flights, flight, next);
	loop_source_free(&flight->tick);
	chunk_receiver_free(flight->receiver);
	free(flight);
}

/* done() may release other waits. */
static void flight_end(struct flight *flight, const struct error *err)
{
	struct fetch_wait *wait;

	flight->ending = true;
	while ((wait = TAILQ_FIRST(&flight->waits))) {
		fetch_done_fn *done = wait->done;
		void *arg = wait->arg;

		TAILQ_REMOVE(&flight->waits, wait, next);
		free(wait);
		done(arg, err);
	}
	flight_free(flight);
}

/* Send to the controller; -1: not now. */
static int fetches_say(const struct fetches *fetches, enum message_type type,
		       const void *body, const void *data, size_t size)
{
	return fetches->session ? fetches->config.say(fetches->config.arg, type,
						      body, data, size)
				: -1;
}

/* Tell the controller how much is here, or ask it for a source. */
static void say_want(struct flight *flight, bool ask)
{
	struct message_blob_want want = {
		.hash = flight->hash,
		.length = flight->receiver
				  ? chunk_receiver_length(flight->receiver)
				  : 0,
		.source = ask ? NULL : flight->source,
		.failed = ask && *flight->failed ? flight->failed : NULL,
		.none = ask && *flight->failed && flight->none,
		.awaited = flight->awaited,
	};

	flight->told_ms = clock_mono_ms();
	fetches_say(flight->fetches, MESSAGE_BLOB_WANT, &want, NULL, 0);
}

static void flight_ask(struct flight *flight)
{
	unlink_source(flight);
	flight_enter(flight, ASKING);
	say_want(flight, true);
}

static void leave_source(struct flight *flight, bool none, const char *why)
{
	log_warning("blob=%.12s cannot be fetched from %s: %s", flight->hash,
		    *flight->source ? flight->source : "the controller", why);
	memcpy(flight->failed, flight->source, sizeof(flight->failed));
	flight->none = none;
	flight_ask(flight);
}

/* The source cannot read the blob, or its bytes are wrong. The controller
 * names another source. It has only one copy itself, which is tried BAD_MAX
 * times.
 */
static void leave_bad(struct flight *flight, const struct error *err)
{
	struct error why;

	if (*flight->source || ++flight->bad < BAD_MAX) {
		leave_source(flight, false, err->text);
		return;
	}
	error_set(&why, err->code,
		  "blob %.12s is damaged on the controller (%.90s); remove "
		  "content/*/%.12s* from its state folder, and run the command "
		  "again",
		  flight->hash, err->text, flight->hash);
	flight_end(flight, &why);
}

static void flight_check(struct flight *flight)
{
	struct error err = { 0 };
	int rc = chunk_receiver_finish(flight->receiver, &err);

	if (rc > 0) {
		tick_in(flight, 0);
	} else if (rc == 0) {
		log_info("blob=%.12s is here bytes=%llu", flight->hash,
			 (unsigned long long)chunk_receiver_bytes(
				 flight->receiver));
		say_want(flight, false);
		peers_wake(flight->fetches->peers);
		flight_end(flight, NULL);
	} else if (err.code == EBADMSG) {
		chunk_receiver_free(take(flight->receiver));
		leave_bad(flight, &err);
	} else {
		flight_end(flight, &err);
	}
}

static void flight_begin_check(struct flight *flight)
{
	unlink_source(flight);
	flight_enter(flight, CHECKING);
	tick_in(flight, 0);
}

static void flight_begin_reading(struct flight *flight)
{
	flight_enter(flight, READING);
	if (chunk_receiver_length(flight->receiver) ==
	    chunk_receiver_bytes(flight->receiver))
		flight_begin_check(flight);
	else if (chunk_receiver_begin(flight->receiver) < 0)
		flight_enter(flight, ASKING); /* asked again by the tick */
}

static int flight_send_read(void *arg, const struct message_blob_read *read)
{
	const struct flight *flight = arg;

	if (*flight->source)
		return peers_read(flight->fetches->peers, flight->source, read);
	return fetches_say(flight->fetches, MESSAGE_BLOB_READ, read, NULL, 0);
}

static struct flight *flight_find(struct fetches *fetches, const char *hash)
{
	struct flight *flight;

	TAILQ_FOREACH(flight, &fetches->flights, next)
		if (!flight->ending && !strcmp(flight->hash, hash))
			return flight;
	return NULL;
}

static void tell_progress(struct flight *flight)
{
	struct fetch_wait *wait, *next;

	for (wait = TAILQ_FIRST(&flight->waits); wait; wait = next) {
		next = TAILQ_NEXT(wait, next);
		if (wait->progress && flight->receiver)
			wait->progress(wait->arg,
				       chunk_receiver_length(flight->receiver),
				       chunk_receiver_bytes(flight->receiver));
	}
}

static int flight_tick_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct flight *flight = arg;
	int64_t now = clock_mono_ms();

	if (flight->phase == HERE) {
		flight_end(flight, NULL);
		return 0;
	}
	if (flight->phase == CHECKING) {
		flight_check(flight);
		return 0;
	}
	tick_in(flight, TICK_MS);
	if (flight->phase != ASKING &&
	    now - flight->moved_ms >
		    (flight->phase == CONNECTING ? CONNECT_MS : FETCH_STALL_MS))
		leave_source(flight, false, "nothing was received");
	else if (flight->phase == ASKING && now - flight->told_ms > RETRY_MS)
		say_want(flight, true);
	else if (flight->phase == READING && now - flight->told_ms > NEWS_MS)
		say_want(flight, false);
	tell_progress(flight);
	return 0;
}

/* Events of the links to other agents. */

static void on_up(void *arg, const char *name)
{
	struct fetches *fetches = arg;
	struct flight *flight, *next;

	for (flight = TAILQ_FIRST(&fetches->flights); flight; flight = next) {
		next = TAILQ_NEXT(flight, next);
		if (flight->linked && flight->phase == CONNECTING &&
		    !strcmp(flight->source, name))
			flight_begin_reading(flight);
	}
}

static void fetches_source_lost(void *arg, const char *name, const char *why)
{
	struct fetches *fetches = arg;
	struct flight *flight;

	/* A source that is still CONNECTING may not have our key yet, and is
	 * tried until CONNECT_MS.
	 */
	TAILQ_FOREACH(flight, &fetches->flights, next)
		if (flight->linked && flight->phase == READING &&
		    !strcmp(flight->source, name))
			leave_source(flight, false, why);
}

static void flight_take_piece(struct flight *flight,
			      const struct message_blob_piece *piece,
			      const void *data, size_t size)
{
	struct error err = { 0 };
	int rc;

	if (flight->phase != READING)
		return;
	rc = chunk_receiver_piece(flight->receiver, piece, data, size, &err);
	/* A piece that came twice counts as well: after a stall on a slow link,
	 * another request would only add to the load.
	 */
	flight->moved_ms = clock_mono_ms();
	peers_wake(flight->fetches->peers);
	if (rc > 0)
		flight_begin_check(flight);
	else if (rc < 0 && (err.code == ENOSPC || err.code == EDQUOT))
		flight_end(flight, &err);
	else if (rc < 0 && piece->text && err.code != ENOENT)
		leave_bad(flight, &err);
	else if (rc < 0)
		leave_source(flight, err.code == ENOENT, err.text);
}

static void fetches_take_piece(void *arg, const char *name,
			       const struct message_blob_piece *piece,
			       const void *data, size_t size)
{
	struct flight *flight = flight_find(arg, piece->hash);

	if (flight && !strcmp(flight->source, name))
		flight_take_piece(flight, piece, data, size);
}

/* Messages of the controller. */

static int open_source(struct flight *flight,
		       const struct message_blob_from *from, struct error *err)
{
	/* The size that the last source reported may have been wrong. */
	if (flight->receiver &&
	    chunk_receiver_bytes(flight->receiver) != from->bytes)
		chunk_receiver_free(take(flight->receiver));
	if (!flight->receiver)
		flight->receiver =
			chunk_receiver_new(flight->fetches->config.blobs,
					   flight->hash, from->bytes,
					   flight_send_read, flight, err);
	if (!flight->receiver)
		return -1;
	unlink_source(flight);
	memset(flight->source, 0, sizeof(flight->source));
	if (!from->name) {
		flight_begin_reading(flight);
		return 0;
	}
	if (!name_valid(from->name) || !from->public || !from->endpoint ||
	    strncmp(from->endpoint, "tcp://", 6) != 0)
		return error_set(err, EPROTO,
				 "the address of the source is missing");
	memcpy(flight->source, from->name, strlen(from->name));
	flight_enter(flight, CONNECTING);
	flight->linked = true;
	return peers_open(flight->fetches->peers, from->name, from->endpoint,
			  from->public, err);
}

static void on_from(struct fetches *fetches,
		    const struct message_blob_from *from)
{
	struct flight *flight = flight_find(fetches, from->hash);
	struct error err;

	if (!flight || flight->phase != ASKING)
		return;
	if (from->text) {
		error_set(&err, from->code ? (int)from->code : EIO, "%s",
			  from->text);
		flight_end(flight, &err);
	} else if (open_source(flight, from, &err) < 0) {
		flight_end(flight, &err);
	}
}

static void on_grant(struct fetches *fetches,
		     const struct message_blob_grant *grant)
{
	struct error err;

	if (peers_grant(fetches->peers, grant->name, grant->public, grant->hash,
			&err) < 0)
		log_warning("%s", err.text);
}

bool fetches_heard(struct fetches *fetches, enum message_type type,
		   const void *body, const void *payload, size_t size)
{
	switch (type) {
	case MESSAGE_BLOB_FROM:
		on_from(fetches, body);
		return true;
	case MESSAGE_BLOB_GRANT:
		on_grant(fetches, body);
		return true;
	case MESSAGE_BLOB_READ:
		peers_controller_reads(fetches->peers, body);
		return true;
	case MESSAGE_BLOB_PIECE:
		fetches_take_piece(fetches, "", body, payload, size);
		return true;
	default:
		return false;
	}
}

void fetches_session(struct fetches *fetches, bool begins)
{
	struct flight *flight;

	fetches->session = begins;
	if (!begins)
		peers_controller_gone(fetches->peers);
	TAILQ_FOREACH(flight, &fetches->flights, next) {
		bool here = flight->phase == READING && !*flight->source;

		if (begins && (flight->phase == ASKING || here))
			flight_ask(flight);
		else if (begins)
			say_want(flight, false);
		else if (here)
			flight_enter(flight, ASKING);
	}
}

static int to_controller(void *arg, const struct message_blob_piece *piece,
			 const void *data, size_t size)
{
	return fetches_say(arg, MESSAGE_BLOB_PIECE, piece, data, size);
}

/* Waits. */

static struct flight *flight_new(struct fetches *fetches, const char *hash,
				 bool awaited, struct error *err)
{
	struct flight *flight = NULL;
	struct error why;
	uint64_t bytes;
	bool whole;

	if (blob_store_look(fetches->config.blobs, hash, &bytes, &whole, err) <
	    0)
		return NULL;
	flight = error_calloc(sizeof(*flight), "blob", err);
	if (!flight)
		return NULL;
	flight->fetches = fetches;
	memcpy(flight->hash, hash, sizeof(flight->hash));
	flight->awaited = awaited;
	TAILQ_INIT(&flight->waits);
	TAILQ_INSERT_TAIL(&fetches->flights, flight, next);
	flight_enter(flight, whole ? HERE : ASKING);
	tick_in(flight, whole ? 0 : TICK_MS);
	if (whole)
		return flight;
	/* Other nodes may ask us for it before we know our own source. */
	if (blob_store_expect(fetches->config.blobs, hash, &why) < 0)
		log_warning("%s", why.text);
	flight_ask(flight);
	return flight;
}

struct fetch_wait *fetch_begin(struct fetches *fetches, const char *hash,
			       bool awaited, fetch_progress_fn *progress,
			       fetch_done_fn *done, void *arg,
			       struct error *err)
{
	struct fetch_wait *wait = error_calloc(sizeof(*wait), "blob", err);

	if (!wait)
		return NULL;
	wait->progress = progress;
	wait->done = done;
	wait->arg = arg;
	wait->flight = flight_find(fetches, hash);
	if (!wait->flight)
		wait->flight = flight_new(fetches, hash, awaited, err);
	if (!wait->flight) {
		free(wait);
		return NULL;
	}
	wait->flight->awaited |= awaited;
	TAILQ_INSERT_TAIL(&wait->flight->waits, wait, next);
	return wait;
}

void fetch_release(struct fetch_wait *wait)
{
	struct flight *flight = wait->flight;

	TAILQ_REMOVE(&flight->waits, wait, next);
	free(wait);
	if (TAILQ_EMPTY(&flight->waits) && !flight->ending)
		flight_free(flight);
}

static int clean_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct fetches *fetches = arg;
	uint64_t bytes = 0;
	struct error err;

	if (fetches->config.touch)
		fetches->config.touch(fetches->config.arg);
	if (blob_store_clean(fetches->config.blobs, FETCH_AGE_MS, &bytes,
			     &err) < 0)
		log_warning("%s", err.text);
	else if (bytes)
		log_info("blobs: %" PRIu64 " unused bytes removed", bytes);
	loop_timer(fetches->config.loop, &fetches->clean, CLEAN_MS, clean_run,
		   fetches, NULL);
	return 0;
}

struct fetches *fetches_new(const struct fetch_config *config,
			    struct error *err)
{
	static const struct peers_handler handler = {
		.up = on_up,
		.piece = fetches_take_piece,
		.lost = fetches_source_lost,
		.to_controller = to_controller,
	};
	owned(fetches_free) struct fetches *fetches =
		error_calloc(sizeof(*fetches), "blobs", err);

	if (!fetches)
		return NULL;
	TAILQ_INIT(&fetches->flights);
	fetches->config = *config;
	fetches->peers = peers_new(config->loop, config->blobs, config->key,
				   config->address, config->port, &handler,
				   fetches, err);
	if (!fetches->peers ||
	    loop_timer(config->loop, &fetches->clean, CLEAN_MS, clean_run,
		       fetches, err) < 0)
		return NULL;
	return take(fetches);
}

void fetches_free(struct fetches *fetches)
{
	struct flight *flight;
	struct fetch_wait *wait;

	if (!fetches)
		return;
	while ((flight = TAILQ_FIRST(&fetches->flights))) {
		while ((wait = TAILQ_FIRST(&flight->waits))) {
			TAILQ_REMOVE(&flight->waits, wait, next);
			free(wait);
		}
		flight_free(flight);
	}
	loop_source_free(&fetches->clean);
	peers_free(fetches->peers);
	free(fetches);
}

const char *fetches_endpoint(const struct fetches *fetches)
{
	return peers_endpoint(fetches->peers);
}
