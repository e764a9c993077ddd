/* server.c - what people may ask and order, and the answers.
 */
#include "controller/cluster/server.h"
#include "controller/cluster/describe.h"
#include "controller/cluster/gang.h"
#include "controller/cluster/job.h"
#include "controller/cluster/logread.h"
#include "controller/cluster/node.h"
#include "controller/cluster/verdict.h"
#include "controller/sweep/sweep.h"
#include "protocol/file.h"
#include "protocol/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHANGES_MAX 4096 /* events looked at for one answer */
#define TOKENS_MAX 256   /* newest sweeps that a repeated submit may mean */

/* A request that waits for news. */
struct parked {
	struct wire_peer *peer;
	enum message_type type;
	union {
		struct message_query query;
		struct message_log_read log_read;
	} body; /* strings are owned */
	int64_t until_ms;
	uint64_t progress_seq;
	TAILQ_ENTRY(parked) next;
};

/* Answers. */

static void reply(struct wire_peer *peer, uint64_t request, cJSON *body,
		  const void *payload, size_t size)
{
	struct message_reply message = { request, body };
	struct error err;

	if (wire_server_send(peer, MESSAGE_REPLY, &message,
			     payload ? payload : "", size, &err) < 0)
		log_error("peer=%s: %s", wire_peer_name(peer), err.text);
	cJSON_Delete(body);
}

static void refuse(struct wire_peer *peer, uint64_t request,
		   const struct error *why)
{
	struct message_refused message = { request, why->code,
					   (char *)why->text };
	struct error err;

	if (wire_server_send(peer, MESSAGE_REFUSED, &message, NULL, 0, &err) <
	    0)
		log_error("peer=%s: %s", wire_peer_name(peer), err.text);
}

static cJSON *answer_new(struct cluster *cluster)
{
	cJSON *body = cJSON_CreateObject();

	cJSON_AddNumberToObject(body, "since",
				(double)store_last_event(cluster->store));
	return body;
}

/* Orders. */

struct token_search {
	const char *client;
	uint64_t found;
	char *name;
};

static int match_token(const struct sweep_row *row, void *arg)
{
	struct token_search *search = arg;

	if (!strcmp(row->client, search->client)) {
		search->found = row->id;
		free(search->name);
		search->name = strdup(row->name);
	}
	return 0;
}

/* The same submit, sent again after a lost answer: answer it as before. */
static bool answer_again(struct cluster *cluster, struct wire_peer *peer,
			 const struct message_submit *submit,
			 const char *client, uint64_t next)
{
	struct token_search search = { .client = client };
	uint64_t counts[JOB_STATES] = { 0 }, jobs = 0;
	cJSON *body;

	store_sweeps(cluster->store, next > TOKENS_MAX ? next - TOKENS_MAX : 0,
		     0, match_token, &search, NULL);
	if (!search.found)
		return false;
	store_sweep_counts(cluster->store, search.found, counts, NULL);
	for (int i = 0; i < JOB_STATES; i++)
		jobs += counts[i];
	body = answer_new(cluster);
	cJSON_AddNumberToObject(body, "sweep", (double)search.found);
	cJSON_AddStringToObject(body, "name", search.name ? search.name : "");
	cJSON_AddNumberToObject(body, "jobs", (double)jobs);
	cJSON_AddArrayToObject(body, "dropped");
	free(search.name);
	reply(peer, submit->request, body, NULL, 0);
	return true;
}

static int check_size(struct sweep *sweep, struct error *err)
{
	const struct sweep_totals *totals = sweep_totals(sweep);
	char cell[200] = "", reason[200] = "";

	if (totals->jobs > SERVER_JOBS_MAX)
		return error_set(err, E2BIG,
				 "%s: %zu jobs, allowed are %d in one sweep",
				 sweep_name(sweep), totals->jobs,
				 SERVER_JOBS_MAX);
	if (totals->jobs)
		return 0;
	if (totals->dropped)
		sweep_drop(sweep, 0, cell, sizeof(cell), reason, sizeof(reason),
			   NULL);
	return error_set(err, EINVAL,
			 "%s: nothing to run: all %zu cells are dropped; the "
			 "first: %s: %s",
			 sweep_name(sweep), totals->dropped, cell, reason);
}

static int put_jobs(struct cluster *cluster, struct sweep *sweep, uint64_t id,
		    struct error *err)
{
	const struct sweep_totals *totals = sweep_totals(sweep);

	for (size_t cell = 0; cell < totals->kept; cell++) {
		uint32_t repeats;
		size_t first = sweep_cell_job(sweep, cell, &repeats);

		for (size_t i = first; i < first + repeats; i++) {
			struct job_spec spec;
			int rc;

			if (sweep_job(sweep, i, &spec, err) < 0)
				return -1;
			rc = job_submit(cluster, id, cell, &spec, err);
			codec_clear(&job_spec_schema, &spec);
			if (rc < 0)
				return -1;
		}
	}
	return 0;
}

static cJSON *dropped_cells(struct sweep *sweep)
{
	cJSON *list = cJSON_CreateArray();
	char cell[400], reason[400];

	for (size_t i = 0;
	     i < sweep_totals(sweep)->dropped && i < SERVER_ROWS_MAX; i++) {
		cJSON *item = cJSON_CreateObject();

		sweep_drop(sweep, i, cell, sizeof(cell), reason, sizeof(reason),
			   NULL);
		cJSON_AddStringToObject(item, "cell", cell);
		cJSON_AddStringToObject(item, "reason", reason);
		cJSON_AddItemToArray(list, item);
	}
	return list;
}

static int submit(struct cluster *cluster, struct wire_peer *peer, void *arg,
		  const void *payload, size_t size, struct error *err)
{
	const struct message_submit *message = arg;
	owned(sweep_free) struct sweep *sweep = NULL;
	owned_free char *text = NULL;
	char client[160];
	struct sweep_row row = { .client = client };
	cJSON *body;

	if (strlen(message->token) > 64)
		return error_set(err, EPROTO, "token: longer than 64 bytes");
	snprintf(client, sizeof(client), "%s %s", wire_peer_name(peer),
		 message->token);
	sweep = sweep_parse(payload, size, message->file, cluster->catalog,
			    err);
	if (!sweep || check_size(sweep, err) < 0)
		return -1;
	row.id = store_next_sweep(cluster->store);
	if (answer_again(cluster, peer, message, client, row.id))
		return 0;
	text = strndup(payload, size);
	if (!text)
		return error_nomem(err, "sweep");
	row.name = sweep_name(sweep);
	row.text = text;
	row.submitted_ms = clock_wall_ms();
	if (store_put_sweep(cluster->store, &row, err) < 0 ||
	    put_jobs(cluster, sweep, row.id, err) < 0)
		return -1;
	log_info("sweep=%" PRIu64 " name=%s jobs=%zu by=%s", row.id, row.name,
		 sweep_totals(sweep)->jobs, wire_peer_name(peer));
	body = answer_new(cluster);
	cJSON_AddNumberToObject(body, "sweep", (double)row.id);
	cJSON_AddStringToObject(body, "name", row.name);
	cJSON_AddNumberToObject(body, "jobs",
				(double)sweep_totals(sweep)->jobs);
	cJSON_AddItemToObject(body, "dropped", dropped_cells(sweep));
	reply(peer, message->request, body, NULL, 0);
	return 0;
}

struct cancelling {
	uint64_t sweep;
	const char *text;
	uint64_t count;
};

static void cancel_one(struct cluster *cluster, struct job *job, void *arg)
{
	struct cancelling *cancelling = arg;

	if (job->sweep != cancelling->sweep || job_state_final(job->state))
		return;
	gang_exception(cluster, job, FAILURE_CANCELLED, 0, cancelling->text);
	cancelling->count++;
}

static int never(const struct sweep_row *row, void *arg)
{
	return 0;
}

static int cancel(struct cluster *cluster, struct wire_peer *peer, void *arg,
		  const void *payload, size_t size, struct error *err)
{
	const struct message_cancel *message = arg;
	char text[100];
	struct cancelling cancelling = { message->id, text, 0 };
	struct job *job;
	cJSON *body;

	snprintf(text, sizeof(text), "cancelled by %s", wire_peer_name(peer));
	if (!strcmp(message->kind, "sweep")) {
		if (store_sweep(cluster->store, message->id, never, NULL, err) <
		    0)
			return -1;
		job_each(cluster, cancel_one, &cancelling);
	} else if (!strcmp(message->kind, "job")) {
		job = job_find(cluster, message->id);
		if (!job || job_state_final(job->state))
			return error_set(err, ENOENT,
					 "job %" PRIu64
					 ": not there, or ended already",
					 message->id);
		cancelling.sweep = job->sweep;
		cancel_one(cluster, job, &cancelling);
	} else {
		return error_set(err, EINVAL,
				 "kind: found '%.40s', allowed are sweep and "
				 "job",
				 message->kind);
	}
	log_info("%s %" PRIu64 " cancelled by=%s jobs=%" PRIu64, message->kind,
		 message->id, wire_peer_name(peer), cancelling.count);
	body = answer_new(cluster);
	cJSON_AddNumberToObject(body, "cancelled", (double)cancelling.count);
	reply(peer, message->request, body, NULL, 0);
	return 0;
}

struct retrying {
	struct cluster *cluster;
	uint64_t count;
	struct error *err;
};

static int retry_one(const struct job_row *row, void *arg)
{
	struct retrying *retrying = arg;

	if (row->state != JOB_FAILED && row->state != JOB_CANCELLED)
		return 0;
	retrying->count++;
	return job_revive(retrying->cluster, row, retrying->err);
}

static int retry(struct cluster *cluster, struct wire_peer *peer, void *arg,
		 const void *payload, size_t size, struct error *err)
{
	const struct message_retry *message = arg;
	struct retrying retrying = { cluster, 0, err };
	cJSON *body;

	if (store_sweep(cluster->store, message->sweep, never, NULL, err) < 0 ||
	    store_jobs(cluster->store, message->sweep, 0, 0, retry_one,
		       &retrying, err) < 0)
		return -1;
	log_info("sweep=%" PRIu64 " retried by=%s jobs=%" PRIu64,
		 message->sweep, wire_peer_name(peer), retrying.count);
	body = answer_new(cluster);
	cJSON_AddNumberToObject(body, "retried", (double)retrying.count);
	reply(peer, message->request, body, NULL, 0);
	return 0;
}

/* Questions. */

struct listing {
	struct cluster *cluster;
	const struct message_query *query;
	cJSON *list;
	uint32_t limit;
	uint32_t count;
};

static struct listing listing_of(struct cluster *cluster,
				 const struct message_query *query, cJSON *body,
				 const char *name)
{
	uint32_t limit = query->limit;

	if (!limit || limit > SERVER_ROWS_MAX)
		limit = SERVER_ROWS_MAX;
	return (struct listing){
		.cluster = cluster,
		.query = query,
		.list = cJSON_AddArrayToObject(body, name),
		.limit = limit,
	};
}

/* An answer has room for one more: rows past the limit only say "more". */
static bool listing_room(struct listing *listing)
{
	return ++listing->count <= listing->limit;
}

static void listing_end(const struct listing *listing, cJSON *body)
{
	cJSON_AddBoolToObject(body, "more", listing->count > listing->limit);
}

static int list_sweep(const struct sweep_row *row, void *arg)
{
	struct listing *listing = arg;

	if (listing_room(listing))
		cJSON_AddItemToArray(listing->list,
				     describe_sweep(listing->cluster, row));
	return 0;
}

static int ask_sweeps(struct cluster *cluster,
		      const struct message_query *query, cJSON *body,
		      struct error *err)
{
	struct listing listing = listing_of(cluster, query, body, "sweeps");

	if (store_sweeps(cluster->store, query->after, listing.limit + 1,
			 list_sweep, &listing, err) < 0)
		return -1;
	listing_end(&listing, body);
	return 0;
}

static int put_sweep(const struct sweep_row *row, void *arg)
{
	struct listing *listing = arg;

	cJSON_AddItemToObject(listing->list, "sweep",
			      describe_sweep(listing->cluster, row));
	return 0;
}

static int ask_sweep(struct cluster *cluster, const struct message_query *query,
		     cJSON *body, struct error *err)
{
	struct listing listing = { .cluster = cluster, .list = body };

	return store_sweep(cluster->store, query->id, put_sweep, &listing, err);
}

static int list_job(const struct job_row *row, void *arg)
{
	struct listing *listing = arg;

	if ((!listing->query->id || row->sweep == listing->query->id) &&
	    listing_room(listing))
		cJSON_AddItemToArray(listing->list,
				     describe_job(listing->cluster, row));
	return 0;
}

/* The ids of jobs that changed after query->since, without doubles. */
struct changes {
	uint64_t jobs[CHANGES_MAX];
	size_t count;
	uint64_t last;
	size_t events;
};

static void changes_add(struct changes *changes, uint64_t job)
{
	for (size_t i = changes->count; i-- > 0;)
		if (changes->jobs[i] == job)
			return;
	if (changes->count < CHANGES_MAX)
		changes->jobs[changes->count++] = job;
}

static int add_change(const struct event_row *row, void *arg)
{
	struct changes *changes = arg;

	changes->last = row->seq;
	changes->events++;
	changes_add(changes, row->job);
	return 0;
}

static int ask_changed(struct cluster *cluster,
		       const struct message_query *query, cJSON *body,
		       struct error *err)
{
	struct listing listing = listing_of(cluster, query, body, "jobs");
	owned_free struct changes *changes = calloc(1, sizeof(*changes));
	const struct gang *gang;

	if (!changes)
		return error_nomem(err, "changes");
	changes->last = query->since;
	listing.limit = CHANGES_MAX;
	if (store_events(cluster->store, 0, query->since, CHANGES_MAX / 4,
			 add_change, changes, err) < 0)
		return -1;
	cJSON_ReplaceItemInObjectCaseSensitive(body, "since",
					       cJSON_CreateNumber(
						       (double)changes->last));
	TAILQ_FOREACH(gang, &cluster->gangs, by_cluster)
	{
		if (!job_state_final(gang->job->state))
			changes_add(changes, gang->job->id);
	}
	for (size_t i = 0; i < changes->count; i++)
		store_job(cluster->store, changes->jobs[i], list_job, &listing,
			  NULL);
	cJSON_AddBoolToObject(body, "more", changes->events == CHANGES_MAX / 4);
	return 0;
}

static int ask_jobs(struct cluster *cluster, const struct message_query *query,
		    cJSON *body, struct error *err)
{
	struct listing listing;

	if (query->id)
		cJSON_AddBoolToObject(body, "final",
				      sweep_final(cluster, query->id));
	if (query->since)
		return ask_changed(cluster, query, body, err);
	listing = listing_of(cluster, query, body, "jobs");
	if (store_jobs(cluster->store, query->id, query->after,
		       listing.limit + 1, list_job, &listing, err) < 0)
		return -1;
	listing_end(&listing, body);
	return 0;
}

static int put_job(const struct job_row *row, void *arg)
{
	struct listing *listing = arg;

	cJSON_AddItemToObject(listing->list, "job",
			      describe_job_whole(listing->cluster, row));
	return 0;
}

static int ask_job(struct cluster *cluster, const struct message_query *query,
		   cJSON *body, struct error *err)
{
	struct listing listing = { .cluster = cluster, .list = body };

	return store_job(cluster->store, query->id, put_job, &listing, err);
}

static int ask_nodes(struct cluster *cluster, const struct message_query *query,
		     cJSON *body, struct error *err)
{
	struct listing listing = listing_of(cluster, query, body, "nodes");

	for (size_t i = query->after; i < cluster->nodes_count; i++)
		if (listing_room(&listing))
			cJSON_AddItemToArray(listing.list,
					     describe_node(cluster,
							   cluster->nodes[i]));
	listing_end(&listing, body);
	return 0;
}

static int ask_node(struct cluster *cluster, const struct message_query *query,
		    cJSON *body, struct error *err)
{
	const struct node *node =
		query->name ? node_find(cluster, query->name) : NULL;

	if (!node)
		return error_set(err, ENOENT, "node '%.64s': not there",
				 query->name ? query->name : "");
	cJSON_AddItemToObject(body, "node", describe_node(cluster, node));
	return 0;
}

static int list_event(const struct event_row *row, void *arg)
{
	struct listing *listing = arg;
	cJSON *event;

	if (!listing_room(listing))
		return 0;
	event = cJSON_CreateObject();
	cJSON_AddNumberToObject(event, "seq", (double)row->seq);
	cJSON_AddNumberToObject(event, "job", (double)row->job);
	cJSON_AddNumberToObject(event, "attempt", row->attempt);
	cJSON_AddNumberToObject(event, "time_ms", (double)row->time_ms);
	cJSON_AddStringToObject(event, "kind", row->kind);
	cJSON_AddItemToObject(event, "data",
			      row->data ? codec_parse(row->data,
						      strlen(row->data), NULL)
					: cJSON_CreateNull());
	cJSON_AddItemToArray(listing->list, event);
	return 0;
}

static int ask_events(struct cluster *cluster,
		      const struct message_query *query, cJSON *body,
		      struct error *err)
{
	struct listing listing = listing_of(cluster, query, body, "events");

	if (store_events(cluster->store, query->id, query->after,
			 listing.limit + 1, list_event, &listing, err) < 0)
		return -1;
	listing_end(&listing, body);
	return 0;
}

struct row_text {
	char *json;
};

static int keep_result(const struct result_row *row, void *arg)
{
	struct row_text *text = arg;

	text->json = strdup(row->json);
	return 0;
}

static int list_result(const struct job_row *row, void *arg)
{
	struct listing *listing = arg;
	struct row_text text = { NULL };

	if (!listing_room(listing))
		return 0;
	store_result(listing->cluster->store, row->id, keep_result, &text,
		     NULL);
	cJSON_AddItemToArray(listing->list, verdict_row(row, text.json));
	free(text.json);
	return 0;
}

static int ask_results(struct cluster *cluster,
		       const struct message_query *query, cJSON *body,
		       struct error *err)
{
	struct listing listing = { .cluster = cluster, .list = body };

	if (store_sweep(cluster->store, query->id, put_sweep, &listing, err) <
	    0)
		return -1;
	listing = listing_of(cluster, query, body, "rows");
	if (store_jobs(cluster->store, query->id, query->after,
		       listing.limit + 1, list_result, &listing, err) < 0)
		return -1;
	listing_end(&listing, body);
	return 0;
}

typedef int ask_fn(struct cluster *cluster, const struct message_query *query,
		   cJSON *body, struct error *err);

/* clang-format off */
static const struct {
	const char *what;
	ask_fn *ask;
} questions[] = {
	{ "sweeps", ask_sweeps },
	{ "sweep", ask_sweep },
	{ "jobs", ask_jobs },
	{ "job", ask_job },
	{ "nodes", ask_nodes },
	{ "node", ask_node },
	{ "events", ask_events },
	{ "results", ask_results },
};
/* clang-format on */

static ask_fn *question(const char *what, struct error *err)
{
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		if (!strcmp(questions[i].what, what))
			return questions[i].ask;
	error_set(err, EINVAL,
		  "what: found '%.40s', allowed are sweeps, sweep, jobs, job, "
		  "nodes, node, events and results",
		  what);
	return NULL;
}

static int answer_query(struct cluster *cluster, struct wire_peer *peer,
			const struct message_query *query, struct error *err)
{
	ask_fn *ask = question(query->what, err);
	cJSON *body;

	if (!ask)
		return -1;
	body = answer_new(cluster);
	if (ask(cluster, query, body, err) < 0) {
		cJSON_Delete(body);
		return -1;
	}
	reply(peer, query->request, body, NULL, 0);
	return 0;
}

static int answer_log_read(struct cluster *cluster, struct wire_peer *peer,
			   const struct message_log_read *read, bool last,
			   bool *waits, struct error *err)
{
	owned(buffer_clear) struct buffer bytes;
	cJSON *body;

	buffer_init(&bytes, LOGREAD_BYTES);
	body = logread(cluster, read, &bytes, err);
	if (!body)
		return -1;
	*waits = !last && !bytes.size && read->stream &&
		 !cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(body, "final"));
	if (*waits)
		cJSON_Delete(body);
	else
		reply(peer, read->request, body, bytes.data, bytes.size);
	return 0;
}

/* Waiting. */

static size_t parked_by(const struct cluster *cluster,
			const struct wire_peer *peer)
{
	const struct parked *parked;
	size_t count = 0;

	TAILQ_FOREACH(parked, &cluster->parked, next)
	{
		count += parked->peer == peer;
	}
	return count;
}

/* The body's strings move into the parked request. */
static int park(struct cluster *cluster, struct wire_peer *peer,
		enum message_type type, void *body, uint32_t wait_ms,
		struct error *err)
{
	size_t size = message_kinds[type].schema->size;
	struct parked *parked;

	if (parked_by(cluster, peer) >= PARKED_MAX)
		return error_set(err, EBUSY, "more than %d requests that wait",
				 PARKED_MAX);
	parked = calloc(1, sizeof(*parked));
	if (!parked)
		return error_nomem(err, "request");
	if (wait_ms > SERVER_WAIT_MS)
		wait_ms = SERVER_WAIT_MS;
	parked->peer = peer;
	parked->type = type;
	parked->until_ms = clock_mono_ms() + wait_ms;
	parked->progress_seq = cluster->progress_seq;
	memcpy(&parked->body, body, size);
	memset(body, 0, size);
	TAILQ_INSERT_TAIL(&cluster->parked, parked, next);
	return 0;
}

static void unpark(struct cluster *cluster, struct parked *parked)
{
	TAILQ_REMOVE(&cluster->parked, parked, next);
	codec_clear(message_kinds[parked->type].schema, &parked->body);
	free(parked);
}

static bool query_has_news(const struct cluster *cluster,
			   const struct message_query *query,
			   uint64_t progress_seq)
{
	return store_last_event(cluster->store) > query->since ||
	       cluster->progress_seq > progress_seq;
}

/* Answer it if there is news, or the time is up. */
static void try_parked(struct cluster *cluster, struct parked *parked,
		       int64_t now)
{
	bool last = now >= parked->until_ms, waits = false;
	struct error err = { 0 };
	uint64_t request = parked->body.query.request;
	int rc = 0;

	if (parked->type == MESSAGE_LOG_READ) {
		rc = answer_log_read(cluster, parked->peer,
				     &parked->body.log_read, last, &waits,
				     &err);
	} else {
		waits = !last && !query_has_news(cluster, &parked->body.query,
						 parked->progress_seq);
		if (!waits)
			rc = answer_query(cluster, parked->peer,
					  &parked->body.query, &err);
	}
	if (waits)
		return;
	if (rc < 0)
		refuse(parked->peer, request, &err);
	unpark(cluster, parked);
}

void server_wake(struct cluster *cluster)
{
	int64_t now = clock_mono_ms();
	struct parked *parked, *next;

	cluster->changed = false;
	for (parked = TAILQ_FIRST(&cluster->parked); parked; parked = next) {
		next = TAILQ_NEXT(parked, next);
		try_parked(cluster, parked, now);
	}
}

void server_forget(struct cluster *cluster, const struct wire_peer *peer)
{
	struct parked *parked, *next;

	for (parked = TAILQ_FIRST(&cluster->parked); parked; parked = next) {
		next = TAILQ_NEXT(parked, next);
		if (!peer || parked->peer == peer)
			unpark(cluster, parked);
	}
}

static int query(struct cluster *cluster, struct wire_peer *peer, void *arg,
		 const void *payload, size_t size, struct error *err)
{
	struct message_query *message = arg;

	if (!question(message->what, err))
		return -1;
	/* A cursor from another life of the store has nothing to wait for. */
	if (message->since > store_last_event(cluster->store))
		message->since = 0;
	if (message->wait_ms && message->since &&
	    !query_has_news(cluster, message, cluster->progress_seq))
		return park(cluster, peer, MESSAGE_QUERY, message,
			    message->wait_ms, err);
	return answer_query(cluster, peer, message, err);
}

static int log_read(struct cluster *cluster, struct wire_peer *peer, void *arg,
		    const void *payload, size_t size, struct error *err)
{
	struct message_log_read *message = arg;
	bool waits = false;

	if (answer_log_read(cluster, peer, message, !message->wait_ms, &waits,
			    err) < 0)
		return -1;
	if (waits)
		return park(cluster, peer, MESSAGE_LOG_READ, message,
			    message->wait_ms, err);
	return 0;
}

void server_request(struct cluster *cluster, struct wire_peer *peer,
		    enum message_type type, void *body, const void *payload,
		    size_t size)
{
	/* clang-format off */
	static int (*const handlers[MESSAGE_TYPES])(
		struct cluster *, struct wire_peer *, void *, const void *,
		size_t, struct error *) = {
		[MESSAGE_SUBMIT] = submit,
		[MESSAGE_CANCEL] = cancel,
		[MESSAGE_RETRY] = retry,
		[MESSAGE_QUERY] = query,
		[MESSAGE_LOG_READ] = log_read,
	};
	/* clang-format on */
	struct error err = { 0 };
	uint64_t request;

	if (!handlers[type])
		return;
	/* Every request of a person begins with its number. */
	request = *(const uint64_t *)body;
	if (handlers[type](cluster, peer, body, payload, size, &err) < 0)
		refuse(peer, request, &err);
}
