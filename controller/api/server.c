/* server.c - handles the requests of people: checks, audits, answers. */
#include "controller/api/server.h"
#include "controller/cluster/changes.h"
#include "controller/store/store.h"
#include "protocol/base/bucket.h"
#include "protocol/base/clock.h"
#include "protocol/base/digest.h"
#include "protocol/base/log.h"
#include "protocol/message/reply_logs.h"
#include "protocol/wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define REFUSALS_MAX 10   /* audited ones of non-operators, at once, */
#define REFUSALS_RATE 0.1 /* and in a second */
#define WAKE_US 2000      /* of looking for what waits, at once */
#define AUDIT_TEXT_MAX                                                         \
	4096 /* of a request; of a longer one its hash is kept                 \
	      */
#define AUDIT_SUMMARY_SIZE 200

/* A request that waits for a change. */
struct waiting {
	struct wire_peer *peer;
	enum message_type type;
	union {
		struct message_query query;
		struct message_log_read log_read;
	} body;                       /* strings are owned */
	char digest[DIGEST_HEX_SIZE]; /* of type and body, without its number */
	int64_t until_ms;
	uint64_t progress_seq;
	bool due; /* look again */
	bool answered;
	TAILQ_ENTRY(waiting) next;
};

struct server {
	struct api api;
	TAILQ_HEAD(, waiting) waiting;
	bool due;     /* some of them */
	bool recheck; /* check all sessions when the answers are sent */
	struct bucket refusals; /* that may still be audited */
};

static void waiting_free(struct server *server, struct waiting *waiting)
{
	TAILQ_REMOVE(&server->waiting, waiting, next);
	codec_clear(message_kinds[waiting->type].schema, &waiting->body);
	free(waiting);
}

struct server *server_new(const struct api *api, struct error *err)
{
	struct server *server = calloc(1, sizeof(*server));

	if (!server)
		return error_null(error_nomem(err, "server"));
	server->api = *api;
	server->refusals =
		bucket_full(REFUSALS_MAX, REFUSALS_RATE, clock_mono_ms());
	TAILQ_INIT(&server->waiting);
	return server;
}

void server_free(struct server *server)
{
	if (!server)
		return;
	while (!TAILQ_EMPTY(&server->waiting))
		waiting_free(server, TAILQ_FIRST(&server->waiting));
	free(server);
}

void server_recheck(struct server *server)
{
	server->recheck = true;
}

void server_sent(struct server *server)
{
	if (server->recheck)
		wire_server_recheck(server->api.wire);
	server->recheck = false;
}

/* Answers. */

/* Every request of a person begins with its number. */
static uint64_t request_number(const void *message)
{
	return *(const uint64_t *)message;
}

static void request_refuse(struct wire_peer *peer, uint64_t request,
			   const struct error *why)
{
	struct message_refused message = { request, why->code,
					   (char *)why->text };
	struct error err;

	if (wire_server_send(peer, MESSAGE_REFUSED, &message, NULL, 0, &err) <
	    0)
		log_error("peer=%s: %s", wire_peer_name(peer), err.text);
}

static void reply(struct wire_peer *peer, uint64_t request,
		  const struct api_reply *body, const struct buffer *bytes)
{
	const struct message_reply message = {
		.request = request,
		.body = { .schema = body->schema, .from = body->data },
	};
	struct error err;

	/* An answer that does not fit a message becomes a refusal. */
	if (wire_server_send(peer, MESSAGE_REPLY, &message, bytes->data,
			     bytes->size, &err) < 0)
		request_refuse(peer, request, &err);
}

/* A request and how it is answered. */
struct asked {
	struct api_request request;
	enum message_type type;
	struct waiting *from; /* that it waited in; NULL: it is new */
	bool may_wait;        /* a log may wait for bytes */
	bool waits;           /* it does; there is no answer yet */
};

/* Does the answer have no bytes of a log that will grow? */
static bool log_waits(const struct asked *asked, const struct api_reply *reply,
		      const struct buffer *bytes)
{
	const struct message_log_read *read = asked->request.message;
	const struct reply_log_read *found = reply->data;

	return asked->type == MESSAGE_LOG_READ && asked->may_wait &&
	       !bytes->size && read->stream && !found->final;
}

/* The next one that is due and asks for the same with the same key; NULL: there
 * is none. The first call passes the request itself.
 */
static struct waiting *next_equal(const struct waiting *request,
				  struct waiting *after)
{
	const char *key = wire_peer_public(request->peer);

	while ((after = TAILQ_NEXT(after, next)))
		if (after->due && !after->answered &&
		    !strcmp(after->digest, request->digest) &&
		    !strcmp(wire_peer_public(after->peer), key))
			return after;
	return NULL;
}

static void reply_equals(struct waiting *request, const struct api_reply *body,
			 const struct buffer *bytes)
{
	struct waiting *equal = request;

	while ((equal = next_equal(request, equal))) {
		reply(equal->peer, request_number(&equal->body), body, bytes);
		equal->answered = true;
	}
}

static int request_answer(struct server *server, struct asked *asked,
			  struct error *err)
{
	owned(buffer_clear) struct buffer bytes =
		BUFFER_INIT(MESSAGE_PAYLOAD_MAX);
	struct api_request *request = &asked->request;
	owned(api_reply_clear) struct api_reply body = { 0 };
	int rc;

	request->api = &server->api;
	request->by = wire_peer_name(request->peer);
	request->public = wire_peer_public(request->peer);
	request->bytes = &bytes;
	rc = api_answer(request, asked->type, &body, err);
	server->recheck |= request->recheck;
	if (rc < 0)
		return -1;
	asked->waits = log_waits(asked, &body, &bytes);
	if (asked->waits)
		return 0;
	reply(request->peer, request_number(request->message), &body, &bytes);
	if (asked->from)
		reply_equals(asked->from, &body, &bytes);
	return 0;
}

/* Waiting. */

static int waiting_digest(struct waiting *waiting, struct error *err)
{
	uint64_t *number = (uint64_t *)&waiting->body, kept = *number;
	owned(buffer_clear) struct buffer text = BUFFER_INIT(MESSAGE_TEXT_MAX);
	struct digest digest;
	int rc;

	*number = 0;
	rc = message_encode(waiting->type, &waiting->body, &text, err);
	*number = kept;
	digest_init(&digest);
	digest_add(&digest, text.data, text.size);
	digest_hex(&digest, waiting->digest);
	return rc;
}

/* The body's strings move into the waiting request. */
static int waiting_start(struct server *server, struct wire_peer *peer,
			 enum message_type type, void *body, uint32_t wait_ms,
			 struct error *err)
{
	size_t size = message_kinds[type].schema->size;
	struct waiting *waiting = calloc(1, sizeof(*waiting));

	if (!waiting)
		return error_nomem(err, "request");
	waiting->peer = peer;
	waiting->type = type;
	memcpy(&waiting->body, body, size);
	if (waiting_digest(waiting, err) < 0) {
		free(waiting);
		return -1;
	}
	if (!wire_peer_wait(peer)) {
		free(waiting);
		return error_set(err, EBUSY,
				 "too many requests of this key wait");
	}
	if (wait_ms > SERVER_WAIT_MS)
		wait_ms = SERVER_WAIT_MS;
	waiting->until_ms = clock_mono_ms() + wait_ms;
	waiting->progress_seq = server->api.changes->progress_seq;
	memset(body, 0, size);
	TAILQ_INSERT_TAIL(&server->waiting, waiting, next);
	return 0;
}

static void stop_waiting(struct server *server, struct waiting *waiting)
{
	wire_peer_waited(waiting->peer);
	waiting_free(server, waiting);
}

static bool query_has_changed(struct server *server,
			      const struct message_query *query,
			      uint64_t progress_seq)
{
	return store_seen_event(server->api.store) > query->since ||
	       server->api.changes->progress_seq > progress_seq;
}

/* Has something changed that the request may wait for, or is its time up? */
static bool is_due(const struct changes *changes, const struct waiting *waiting,
		   int64_t now)
{
	if (now >= waiting->until_ms)
		return true;
	return waiting->type == MESSAGE_LOG_READ
		       ? changes_of_job(changes, waiting->body.log_read.job)
		       : changes->events || changes->tick;
}

/* There is nothing new for it, nor for its equals that have time. */
static void wait_on(struct waiting *request, int64_t now)
{
	struct waiting *equal = request;

	request->due = false;
	while ((equal = next_equal(request, equal)))
		equal->due = now >= equal->until_ms;
}

/* Answer the request, and its equals, if there is something new, or its time is
 * up.
 */
static void try_waiting(struct server *server, struct waiting *waiting,
			int64_t now)
{
	struct asked asked = {
		.request = { .peer = waiting->peer, .message = &waiting->body },
		.type = waiting->type,
		.from = waiting,
		.may_wait = now < waiting->until_ms,
	};
	struct error err = { 0 };

	if (waiting->type == MESSAGE_QUERY && asked.may_wait &&
	    !query_has_changed(server, &waiting->body.query,
			       waiting->progress_seq)) {
		waiting->due = false;
		return;
	}
	if (request_answer(server, &asked, &err) < 0)
		request_refuse(waiting->peer, request_number(&waiting->body),
			       &err);
	if (asked.waits)
		wait_on(waiting, now);
	else
		waiting->answered = true;
}

/* A key that has used up its time waits on, or is refused in the end. */
static void pay_waiting(struct server *server, struct waiting *waiting,
			int64_t now)
{
	int64_t before_us = clock_cpu_us();
	struct error err = { 0 };

	if (wire_peer_check_time(waiting->peer, &err) == 0) {
		try_waiting(server, waiting, now);
		wire_peer_spend(waiting->peer, clock_cpu_us() - before_us);
	} else if (now >= waiting->until_ms) {
		request_refuse(waiting->peer, request_number(&waiting->body),
			       &err);
		waiting->answered = true;
	}
}

static void mark_due(struct server *server, int64_t now)
{
	struct waiting *waiting;

	TAILQ_FOREACH(waiting, &server->waiting, next) {
		waiting->due |= is_due(server->api.changes, waiting, now);
		server->due |= waiting->due;
	}
	changes_clear(server->api.changes);
}

bool server_wake(struct server *server)
{
	int64_t now = clock_mono_ms(), begun_us = clock_cpu_us();
	struct waiting *waiting, *next;
	bool more = false;

	if (changes_any(server->api.changes))
		mark_due(server, now);
	if (!server->due)
		return false;
	TAILQ_FOREACH(waiting, &server->waiting, next) {
		more = clock_cpu_us() - begun_us > WAKE_US;
		if (more)
			break;
		if (waiting->due && !waiting->answered)
			pay_waiting(server, waiting, now);
	}
	for (waiting = TAILQ_FIRST(&server->waiting); waiting; waiting = next) {
		next = TAILQ_NEXT(waiting, next);
		if (waiting->answered)
			stop_waiting(server, waiting);
	}
	server->due = more;
	return more;
}

void server_forget(struct server *server, const struct wire_peer *peer)
{
	struct waiting *waiting, *next;

	for (waiting = TAILQ_FIRST(&server->waiting); waiting; waiting = next) {
		next = TAILQ_NEXT(waiting, next);
		if (waiting->peer == peer)
			stop_waiting(server, waiting);
	}
}

static bool waits_for_changes(struct server *server,
			      struct message_query *query)
{
	/* A number from an earlier store is larger than all of this one. */
	if (query->since > store_seen_event(server->api.store))
		query->since = 0;
	return query->wait_ms &&
	       !query_has_changed(server, query,
				  server->api.changes->progress_seq);
}

/* Answer the request now, or let it wait; its strings then move from the body.
 */
static int take_request(struct server *server, struct asked *asked, void *body,
			struct error *err)
{
	struct message_query *query = body;
	struct message_log_read *read = body;

	if (asked->type == MESSAGE_QUERY && waits_for_changes(server, query))
		return waiting_start(server, asked->request.peer, asked->type,
				     body, query->wait_ms, err);
	asked->may_wait = asked->type == MESSAGE_LOG_READ && read->wait_ms;
	if (request_answer(server, asked, err) < 0)
		return -1;
	return asked->waits
		       ? waiting_start(server, asked->request.peer, asked->type,
				       body, read->wait_ms, err)
		       : 0;
}

/* Sealed secrets are removed with their sweep, but the audit log stays. At
 * every depth, which the schemas limit.
 */
static void leave_out_sealed(cJSON *object)
{
	cJSON *item;

	cJSON_DeleteItemFromObjectCaseSensitive(object, "sealed");
	cJSON_ArrayForEach(item, object)
		leave_out_sealed(item);
}

/* All refusals of operators are audited, but only a few of others, so that
 * nobody can fill the audit log with them.
 */
static bool too_many_refusals(struct server *server,
			      const struct wire_peer *peer)
{
	return wire_peer_role(peer) != ROLE_OPERATOR &&
	       !bucket_take(&server->refusals, clock_mono_ms());
}

/* What is said of a request that is too long: enough to find it again. */
static void audit_summary(enum message_type type, const char *text,
			  char summary[AUDIT_SUMMARY_SIZE])
{
	char hex[DIGEST_HEX_SIZE];
	struct digest digest;

	digest_init(&digest);
	digest_add(&digest, text, strlen(text));
	digest_hex(&digest, hex);
	snprintf(summary, AUDIT_SUMMARY_SIZE,
		 "{\"left_out\":{\"type\":\"%s\",\"bytes\":%zu,"
		 "\"sha256\":\"%s\"}}",
		 message_kinds[type].name, strlen(text), hex);
}

/* Queue a row of the audit log, which is committed with the request's rows. */
static void audit(struct server *server, const struct wire_peer *peer,
		  enum message_type type, const void *body, const char *refusal)
{
	cJSON *object = codec_object(message_kinds[type].schema, body, NULL);
	char *text = NULL, summary[AUDIT_SUMMARY_SIZE];
	struct audit_row row = {
		.time_ms = clock_wall_ms(),
		.who = wire_peer_name(peer),
		.role = role_name(wire_peer_role(peer)),
		.address = wire_peer_address(peer),
		.act = message_kinds[type].name,
		.refusal = refusal,
	};
	struct error err;

	cJSON_DeleteItemFromObjectCaseSensitive(object, "request");
	leave_out_sealed(object);
	text = cJSON_PrintUnformatted(object);
	row.request = text ? text : "{}";
	if (text && strlen(text) > AUDIT_TEXT_MAX) {
		audit_summary(type, text, summary);
		row.request = summary;
	}
	if (store_put_audit(server->api.store, &row, &err) < 0)
		log_error("audit: %s", err.text);
	/* The journal thus keeps the head of the chain, too. */
	log_info("%s by=%s from=%s chain=%s%s%s", row.act, row.who, row.address,
		 store_audit_head(server->api.store),
		 refusal ? ": refused: " : "", refusal ? refusal : "");
	cJSON_free(text);
	cJSON_Delete(object);
}

void server_request(struct server *server, struct wire_peer *peer,
		    enum message_type type, void *body, const void *payload,
		    size_t size)
{
	struct asked asked = {
		.request = {
			.message = body,
			.payload = payload,
			.size = size,
			.peer = peer,
		},
		.type = type,
	};
	struct error err = { 0 };
	uint64_t number;
	int rc;

	if (type != MESSAGE_QUERY && !message_kinds[type].reply)
		return;
	number = request_number(body);
	rc = take_request(server, &asked, body, &err);
	if (message_kinds[type].audited &&
	    !(rc == 0 && asked.request.goes_on) &&
	    !(rc < 0 && too_many_refusals(server, peer)))
		audit(server, peer, type, body, rc < 0 ? err.text : NULL);
	if (rc < 0)
		request_refuse(peer, number, &err);
}
