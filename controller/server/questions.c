/* questions.c - what people may ask, a function a question.
 */
#include "controller/server/questions.h"
#include "controller/access/access.h"
#include "controller/blobs/blob_service.h"
#include "controller/blobs/image_rollout.h"
#include "controller/jobs/job_result.h"
#include "controller/jobs/lifecycle.h"
#include "controller/nodes/node.h"
#include "controller/server/describe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHANGES_MAX 4096      /* jobs in one answer about changes */
#define HISTORY_KEYS_MAX 1000 /* some 20 us for each, 10 for each run */
#define HISTORY_RUNS 8        /* the last ones of a cell count */

/* A job's curves are some 100 KiB of JSON to read. */
#define SERIES_ROWS_MAX 32

/* Of the rows of one answer: one more of the same size still fits. */
#define ANSWER_BYTES ((size_t)MESSAGE_REPLY_MAX / 2 - 65536)

struct listing {
	struct cluster *cluster;
	const struct message_query *query;
	cJSON *list;
	uint32_t limit, count;
	size_t bytes; /* of the rows */
	bool more;    /* there are some that had no room */
};

static struct listing listing_of(struct cluster *cluster,
				 const struct message_query *query, cJSON *body,
				 const char *name)
{
	uint32_t limit = query->limit;

	if (!limit || limit > QUESTION_ROWS_MAX)
		limit = QUESTION_ROWS_MAX;
	return (struct listing){
		.cluster = cluster,
		.query = query,
		.list = cJSON_AddArrayToObject(body, name),
		.limit = limit,
	};
}

/* Has the answer room for one more? One that has none, and those behind it,
 * only say "more".
 */
static bool listing_room(struct listing *listing)
{
	listing->more |= listing->count >= listing->limit ||
			 listing->bytes >= ANSWER_BYTES;
	return !listing->more;
}

static void listing_add(struct listing *listing, cJSON *row)
{
	char *text = cJSON_PrintUnformatted(row);

	listing->bytes += text ? strlen(text) + 1 : 0;
	listing->count++;
	cJSON_free(text);
	cJSON_AddItemToArray(listing->list, row);
}

static void listing_end(const struct listing *listing, cJSON *body)
{
	cJSON_AddBoolToObject(body, "more", listing->more);
}

static int list_sweep(const struct sweep_row *row, void *arg)
{
	struct listing *listing = arg;

	if (listing_room(listing))
		listing_add(listing, describe_sweep(listing->cluster, row));
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

	if (query->id)
		return store_sweep(cluster->store, query->id, put_sweep,
				   &listing, err);
	if (store_last_sweep(cluster->store, put_sweep, &listing, err) < 0)
		return -1;
	return cJSON_HasObjectItem(body, "sweep")
		       ? 0
		       : error_set(err, ENOENT, "there are no sweeps");
}

static int put_text(const struct sweep_row *row, void *arg)
{
	cJSON_AddStringToObject(arg, "text", row->text);
	return 0;
}

static int ask_text(struct cluster *cluster, const struct message_query *query,
		    cJSON *body, struct error *err)
{
	return store_sweep(cluster->store, query->id, put_text, body, err);
}

static int list_job(const struct job_row *row, void *arg)
{
	struct listing *listing = arg;

	if (listing_room(listing))
		listing_add(listing, describe_job(listing->cluster, row));
	return 0;
}

/* Of those that changed none may be left out. */
static int list_changed(const struct job_row *row, void *arg)
{
	struct listing *listing = arg;

	if (!listing->query->id || row->sweep == listing->query->id)
		listing_add(listing, describe_job(listing->cluster, row));
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
		store_job(cluster->store, changes->jobs[i], list_changed,
			  &listing, NULL);
	cJSON_AddBoolToObject(body, "more", changes->events == CHANGES_MAX / 4);
	return 0;
}

/* store_sweep_fn, of which only counts whether it is called */
static int nothing(const struct sweep_row *row, void *arg)
{
	return 0;
}

static int ask_jobs(struct cluster *cluster, const struct message_query *query,
		    cJSON *body, struct error *err)
{
	struct listing listing;

	if (query->id) {
		if (store_sweep(cluster->store, query->id, nothing, NULL, err) <
		    0)
			return -1;
		cJSON_AddBoolToObject(body, "final",
				      sweep_final(cluster, query->id));
	}
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
	int64_t skip =
		query->after > INT64_MAX ? INT64_MAX : (int64_t)query->after;

	for (size_t i = 0; i < cluster->nodes_count; i++)
		if (!cluster->nodes[i]->removed && skip-- <= 0 &&
		    listing_room(&listing))
			listing_add(&listing,
				    describe_node(cluster, cluster->nodes[i]));
	listing_end(&listing, body);
	return 0;
}

static int ask_node(struct cluster *cluster, const struct message_query *query,
		    cJSON *body, struct error *err)
{
	const struct node *node =
		query->name ? node_find(cluster, query->name) : NULL;

	if (!node || node->removed)
		return error_set(err, ENOENT, "node '%.64s': not there",
				 query->name ? query->name : "");
	cJSON_AddItemToObject(body, "node", describe_node_whole(cluster, node));
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
	listing_add(listing, event);
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

/* A page of rows, which are deleted. */
static void list_all(struct cluster *cluster, const struct message_query *query,
		     cJSON *body, const char *name, cJSON *rows)
{
	struct listing listing = listing_of(cluster, query, body, name);
	cJSON *row;

	for (uint64_t i = 0; (row = cJSON_DetachItemFromArray(rows, 0)); i++)
		if (i >= query->after && listing_room(&listing))
			listing_add(&listing, row);
		else
			cJSON_Delete(row);
	listing_end(&listing, body);
	cJSON_Delete(rows);
}

static int ask_keys(struct cluster *cluster, const struct message_query *query,
		    cJSON *body, struct error *err)
{
	list_all(cluster, query, body, "keys", access_keys(cluster->access));
	return 0;
}

static int ask_tokens(struct cluster *cluster,
		      const struct message_query *query, cJSON *body,
		      struct error *err)
{
	list_all(cluster, query, body, "tokens",
		 access_tokens(cluster->access));
	return 0;
}

static int list_audit(const struct audit_row *row, void *arg)
{
	struct listing *listing = arg;
	cJSON *to;

	if (!listing_room(listing))
		return 0;
	to = cJSON_CreateObject();
	cJSON_AddNumberToObject(to, "seq", (double)row->seq);
	cJSON_AddNumberToObject(to, "time_ms", (double)row->time_ms);
	cJSON_AddStringToObject(to, "who", row->who);
	cJSON_AddStringToObject(to, "role", row->role);
	cJSON_AddStringToObject(to, "address", row->address);
	cJSON_AddStringToObject(to, "act", row->act);
	cJSON_AddItemToObject(to, "request",
			      codec_parse(row->request, strlen(row->request),
					  NULL));
	if (row->refusal)
		cJSON_AddStringToObject(to, "refusal", row->refusal);
	if (row->chain)
		cJSON_AddStringToObject(to, "chain", row->chain);
	listing_add(listing, to);
	return 0;
}

static int ask_audit(struct cluster *cluster, const struct message_query *query,
		     cJSON *body, struct error *err)
{
	struct listing listing = listing_of(cluster, query, body, "audit");

	if (store_audit(cluster->store, query->after, listing.limit + 1,
			list_audit, &listing, err) < 0)
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
	cJSON *result;

	if (!listing_room(listing))
		return 0;
	store_result(listing->cluster->store, row->id, keep_result, &text,
		     NULL);
	result = job_result_row(row, text.json);
	cJSON_AddItemToObject(result, "from",
			      describe_origin(listing->cluster, row));
	listing_add(listing, result);
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

static int list_series(const struct job_row *row, void *arg)
{
	struct listing *listing = arg;
	struct row_text text = { NULL };
	cJSON *to;

	if (!listing_room(listing))
		return 0;
	store_result(listing->cluster->store, row->id, keep_result, &text,
		     NULL);
	to = cJSON_CreateObject();
	cJSON_AddNumberToObject(to, "job", (double)row->id);
	cJSON_AddItemToObject(to, "series",
			      text.json ? job_result_series(text.json)
					: cJSON_CreateNull());
	listing_add(listing, to);
	free(text.json);
	return 0;
}

static int ask_series(struct cluster *cluster,
		      const struct message_query *query, cJSON *body,
		      struct error *err)
{
	struct listing listing = listing_of(cluster, query, body, "rows");

	if (listing.limit > SERIES_ROWS_MAX)
		listing.limit = SERIES_ROWS_MAX;
	if (store_jobs(cluster->store, query->id, query->after,
		       listing.limit + 1, list_series, &listing, err) < 0)
		return -1;
	listing_end(&listing, body);
	return 0;
}

/* How long the last runs of a cell took. */
struct run_times {
	int64_t times[HISTORY_RUNS];
	size_t count;
};

static int add_run(const struct job_row *row, void *arg)
{
	struct run_times *runs = arg;

	if (row->started_ms && row->ended_ms >= row->started_ms)
		runs->times[runs->count++] = row->ended_ms - row->started_ms;
	return 0;
}

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t median_time(struct run_times *runs)
{
	size_t half = runs->count / 2;

	qsort(runs->times, runs->count, sizeof(runs->times[0]), compare_times);
	if (runs->count % 2)
		return runs->times[half];
	return (runs->times[half - 1] + runs->times[half]) / 2;
}

static int ask_history(struct cluster *cluster,
		       const struct message_query *query, cJSON *body,
		       struct error *err)
{
	cJSON *list = cJSON_AddArrayToObject(body, "history");

	if (query->keys.count > HISTORY_KEYS_MAX)
		return error_set(err, E2BIG, "keys: found %zu, allowed are %d",
				 query->keys.count, HISTORY_KEYS_MAX);
	for (size_t i = 0; i < query->keys.count; i++) {
		struct run_times runs = { .count = 0 };
		cJSON *item;

		if (store_runs(cluster->store, query->keys.items[i], NULL,
			       HISTORY_RUNS, add_run, &runs, err) < 0)
			return -1;
		if (!runs.count)
			continue;
		item = cJSON_CreateObject();
		cJSON_AddStringToObject(item, "key", query->keys.items[i]);
		cJSON_AddNumberToObject(item, "runs", (double)runs.count);
		cJSON_AddNumberToObject(item, "median_ms",
					(double)median_time(&runs));
		cJSON_AddItemToArray(list, item);
	}
	return 0;
}

/* The last of the job's events of this kind. */
static int last_files(const struct event_row *row, void *arg)
{
	cJSON **data = arg;

	if (strcmp(row->kind, job_event_name(JOB_EVENT_FILES)) || !row->data)
		return 0;
	cJSON_Delete(*data);
	*data = codec_parse(row->data, strlen(row->data), NULL);
	return 0;
}

static int find_origin(const struct job_row *row, void *arg)
{
	uint64_t *job = arg;

	if (row->origin)
		*job = row->origin;
	return 0;
}

static int ask_files(struct cluster *cluster, const struct message_query *query,
		     cJSON *body, struct error *err)
{
	uint64_t job = query->id;
	cJSON *data = NULL, *list = NULL;

	if (store_job(cluster->store, job, find_origin, &job, err) < 0 ||
	    store_events(cluster->store, job, 0, 0, last_files, &data, err) < 0)
		return -1;
	list = cJSON_DetachItemFromObjectCaseSensitive(data, "files");
	cJSON_Delete(data);
	blob_service_note_gone(cluster, list);
	cJSON_AddItemToObject(body, "files", list ? list : cJSON_CreateArray());
	return 0;
}

static int ask_image(struct cluster *cluster, const struct message_query *query,
		     cJSON *body, struct error *err)
{
	cJSON *image = image_rollout_describe(cluster, query, err);

	if (!image)
		return -1;
	cJSON_AddItemToObject(body, "image", image);
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
	{ "text", ask_text },
	{ "jobs", ask_jobs },
	{ "job", ask_job },
	{ "nodes", ask_nodes },
	{ "node", ask_node },
	{ "events", ask_events },
	{ "results", ask_results },
	{ "series", ask_series },
	{ "history", ask_history },
	{ "keys", ask_keys },
	{ "tokens", ask_tokens },
	{ "audit", ask_audit },
	{ "files", ask_files },
	{ "image", ask_image },
};
/* clang-format on */

static ask_fn *question(const char *what, struct error *err)
{
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		if (!strcmp(questions[i].what, what))
			return questions[i].ask;
	error_set(err, EINVAL,
		  "what: found '%.40s', allowed are sweeps, sweep, text, jobs, "
		  "job, nodes, node, events, results, series, history, keys, "
		  "tokens, audit, files and image",
		  what);
	return NULL;
}

bool question_known(const char *what, struct error *err)
{
	return question(what, err) != NULL;
}

cJSON *question_answer(struct cluster *cluster,
		       const struct message_query *query, struct error *err)
{
	ask_fn *ask = question(query->what, err);
	cJSON *body;

	if (!ask)
		return NULL;
	body = answer_new(cluster);
	if (ask(cluster, query, body, err) < 0) {
		cJSON_Delete(body);
		return NULL;
	}
	return body;
}
