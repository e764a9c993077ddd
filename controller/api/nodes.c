/* nodes.c - requests about nodes: lists, one node, drain, label. */
#include "controller/api/api.h"
#include "controller/api/node_history.h"
#include "controller/api/page.h"
#include "controller/jobs/allocation.h"
#include "controller/jobs/job.h"
#include "controller/nodes/drift.h"
#include "controller/jobs/jobs.h"
#include "controller/nodes/node.h"
#include "controller/report/node_rates.h"
#include "controller/store/store.h"
#include "protocol/message/json_get.h"
#include "protocol/message/reply_nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REASON_MAX 200
#define RUNS_MAX 300 /* the last ones, by which nodes are compared */

/* How many devices of each chip are not lost. */
static int add_chips(const struct node *node, const struct slot *slot,
		     struct node_info *to, struct error *err)
{
	const struct node_view *view = node_view(node);
	cJSON *chips = to->chips = cJSON_CreateObject();

	if (!chips)
		return error_nomem(err, "node");
	for (size_t i = 0; i < view->inventory_count; i++) {
		const char *chip = view->inventory[i].chip;
		cJSON *count;

		if (!chip || slot->lost >> i & 1)
			continue;
		count = json_get(chips, chip);
		if (count)
			cJSON_SetNumberValue(count, count->valuedouble + 1);
		else if (!cJSON_AddNumberToObject(chips, chip, 1))
			return error_nomem(err, "node");
	}
	return 0;
}

static int add_drain(const struct node *node, struct node_info *to,
		     struct error *err)
{
	const struct node_view *view = node_view(node);

	if (!view->drain)
		return 0;
	to->drain = calloc(1, sizeof(*to->drain));
	if (!to->drain)
		return error_nomem(err, "node");
	to->drain->from_ms = view->drain_from_ms;
	to->drain->until_ms = view->drain_until_ms;
	return string_set(&to->drain->reason, view->reason, err);
}

static int add_health(const struct node *node, struct node_info *to,
		      struct error *err)
{
	const struct node_health *health = &node_view(node)->health;

	if (!node_health_failures(health))
		return 0;
	to->health = calloc(1, sizeof(*to->health));
	return to->health ? codec_copy(&node_health_schema, health, to->health,
				       err)
			  : error_nomem(err, "node");
}

static int add_engine_away(const struct node *node, struct node_info *to,
			   struct error *err)
{
	const struct engine_away *away = &node_view(node)->engine_away;

	if (!away->text)
		return 0;
	to->engine_away = calloc(1, sizeof(*to->engine_away));
	return to->engine_away ? codec_copy(&engine_away_schema, away,
					    to->engine_away, err)
			       : error_nomem(err, "node");
}

static int add_jobs(const struct node *node, struct node_info *to,
		    struct error *err)
{
	struct task *task;

	for (task = node_first_task(node); task; task = node_next_task(task))
		if (numbers_add(&to->jobs, job_id(task_job(task)), err) < 0)
			return -1;
	return 0;
}

static int add_documents(const struct node *node, struct node_info *to,
			 struct error *err)
{
	const struct node_view *view = node_view(node);

	to->labels = view->labels ? cJSON_Duplicate(view->labels, true)
				  : cJSON_CreateObject();
	if (view->facts)
		to->facts = cJSON_Duplicate(view->facts, true);
	return to->labels && (to->facts || !view->facts)
		       ? 0
		       : error_nomem(err, "node");
}

/* The last runs, which are compared. */
struct recent_runs {
	struct node_run of[RUNS_MAX];
	char *keys[RUNS_MAX]; /* of their cells; owned */
	struct strings nodes[RUNS_MAX];
	size_t count;
	struct node_rates rates;
	struct error *err;
};

static void recent_runs_clear(struct recent_runs *runs)
{
	node_rates_clear(&runs->rates);
	for (size_t i = 0; i < runs->count; i++) {
		free(runs->keys[i]);
		strings_clear(&runs->nodes[i]);
	}
}
OWNED_VALUE(struct recent_runs, recent_runs_clear)

static int add_recent_run(const struct job_row *row, void *arg)
{
	struct recent_runs *runs = arg;
	struct job_allocation allocation;
	size_t at = runs->count;
	int rc = 0;

	if (!row->rate.unit ||
	    allocation_read(row->allocation, &allocation, NULL) < 0)
		return 0;
	runs->keys[at] = strdup(row->key);
	for (size_t i = 0; rc == 0 && i < allocation.tasks_count; i++)
		rc = strings_add(&runs->nodes[at], allocation.tasks[i].node,
				 runs->err);
	codec_clear(&job_allocation_schema, &allocation);
	runs->of[at] = (struct node_run){ runs->keys[at], row->rate,
					  &runs->nodes[at] };
	runs->count++;
	return runs->keys[at] ? rc : error_nomem(runs->err, "nodes");
}

/* *runs was zero. */
static int recent_runs_compare(const struct api *api, struct recent_runs *runs,
			       struct error *err)
{
	runs->err = err;
	if (store_last_runs(api->store, RUNS_MAX, add_recent_run, runs, err) <
	    0)
		return -1;
	return node_rates_find(runs->of, runs->count, &runs->rates, err);
}

static int add_rate(const struct recent_runs *runs, struct node_info *to,
		    struct error *err)
{
	for (size_t i = 0; i < runs->rates.count; i++) {
		if (strcmp(runs->rates.items[i].node, to->name) != 0)
			continue;
		to->rate = malloc(sizeof(*to->rate));
		if (!to->rate)
			return error_nomem(err, "node");
		*to->rate = runs->rates.items[i].rate;
	}
	return 0;
}

/* Fill *to, which was zero, except the inventory. On failure the caller clears
 * it, too.
 */
static int node_describe(const struct api *api, const struct node *node,
			 const struct drift *drift, struct node_info *to,
			 struct error *err)
{
	const struct node_view *view = node_view(node);
	const struct slot *slot = node_slot(api->nodes, node);
	uint64_t taken = slot->busy | slot->lost;

	to->drained = view->drained;
	to->until_ms = view->until_ms;
	to->leaving = view->leaving;
	to->devices = slot->devices;
	to->lost = (uint32_t)__builtin_popcountll(slot->lost);
	to->free = slot->devices - (uint32_t)__builtin_popcountll(taken);
	to->seen_ms = view->seen_ms;
	if (string_set(&to->name, node_name(node), err) < 0 ||
	    string_set(&to->state, node_state(node), err) < 0 ||
	    string_set(&to->vendor, view->vendor, err) < 0 ||
	    string_set(&to->address, view->address, err) < 0 ||
	    add_drain(node, to, err) < 0 || add_health(node, to, err) < 0 ||
	    add_engine_away(node, to, err) < 0 ||
	    add_chips(node, slot, to, err) < 0 || add_jobs(node, to, err) < 0)
		return -1;
	if (node_peer(node) && drift &&
	    drift_tell(drift, view->facts, &to->drift, err) < 0)
		return -1;
	return add_documents(node, to, err);
}

/* The facts of all connected nodes. NULL: ENOMEM. */
static struct drift *nodes_drift(const struct api *api, struct error *err)
{
	owned(drift_free) struct drift *drift = drift_new(err);

	for (size_t i = 0; drift && i < node_count(api->nodes); i++) {
		const struct node *node = node_at(api->nodes, i);

		if (node_peer(node) &&
		    drift_add(drift, node_view(node)->facts, err) < 0)
			return NULL;
	}
	return take(drift);
}

int api_nodes(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	const struct api *api = request->api;
	struct page page = page_of(api, &node_info_schema, query->limit, err);
	owned(drift_free) struct drift *drift = nodes_drift(api, err);
	owned(recent_runs_clear) struct recent_runs runs = { 0 };
	struct reply_nodes *to = reply;
	int rc = drift && node_history_read(api, err) == 0
			 ? recent_runs_compare(api, &runs, err)
			 : -1;

	page.skip = query->after;
	for (size_t i = 0; rc == 0 && i < node_count(api->nodes); i++) {
		const struct node *node = node_at(api->nodes, i);
		struct node_info *info;

		if (node_view(node)->removed)
			continue;
		info = page_row(&page);
		rc = info ? node_describe(api, node, drift, info, err)
			  : page.stop;
		if (rc == 0 && info && (rc = add_rate(&runs, info, err)) == 0)
			rc = node_history_lemon(api, info, err);
	}
	to->more = page.more;
	to->nodes = page_take(&page, &to->nodes_count);
	return rc < 0 ? -1 : 0;
}

static struct node *known_node(const struct api *api, const char *name,
			       struct error *err)
{
	struct node *node = name ? node_find(api->nodes, name) : NULL;

	if (!node)
		return error_null(
			node_unknown(api->nodes, name ? name : "", err));
	if (node_view(node)->removed)
		return error_null(error_set(err, ENOENT,
					    "node '%.64s' was removed", name));
	return node;
}

static int add_inventory(const struct node *node, struct node_info *to,
			 struct error *err)
{
	const struct node_view *view = node_view(node);

	if (!view->inventory_count)
		return 0;
	to->inventory = calloc(view->inventory_count, sizeof(*to->inventory));
	if (!to->inventory)
		return error_nomem(err, "node");
	for (; to->inventory_count < view->inventory_count;
	     to->inventory_count++)
		if (codec_copy(&device_info_schema,
			       &view->inventory[to->inventory_count],
			       &to->inventory[to->inventory_count], err) < 0)
			return -1;
	return 0;
}

int api_node(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	const struct node *node = known_node(request->api, query->name, err);
	owned(drift_free) struct drift *drift = nodes_drift(request->api, err);
	owned(recent_runs_clear) struct recent_runs runs = { 0 };
	struct reply_node *to = reply;

	if (!node || !drift ||
	    node_describe(request->api, node, drift, &to->node, err) < 0 ||
	    recent_runs_compare(request->api, &runs, err) < 0 ||
	    add_rate(&runs, &to->node, err) < 0 ||
	    node_history_read(request->api, err) < 0 ||
	    node_history_lemon(request->api, &to->node, err) < 0 ||
	    node_history_tests(request->api, &to->node, err) < 0)
		return -1;
	return add_inventory(node, &to->node, err);
}

int api_drain(struct api_request *request, void *reply, struct error *err)
{
	const struct message_drain *message = request->message;
	const struct api *api = request->api;
	struct node *node = known_node(api, message->node, err);
	struct reply_drain *to = reply;
	int rc;

	if (!node)
		return -1;
	if (message->reason && strlen(message->reason) > REASON_MAX)
		return error_set(err, EINVAL, "reason: longer than %d bytes",
				 REASON_MAX);
	if (message->from_ms > INT64_MAX || message->until_ms > INT64_MAX)
		return error_set(err, EINVAL, "from, until: out of range");
	rc = message->undrain
		     ? node_undrain(api->nodes, node, err)
		     : node_drain(api->nodes, node, (int64_t)message->from_ms,
				  (int64_t)message->until_ms, message->reason,
				  err);
	return rc < 0 ? -1 : node_describe(api, node, NULL, &to->node, err);
}

int api_note(struct api_request *request, void *reply, struct error *err)
{
	const struct message_note *message = request->message;

	if (strlen(message->text) >= NOTE_TEXT_MAX)
		return error_set(err, EINVAL, "text: longer than %d bytes",
				 NOTE_TEXT_MAX - 1);
	return jobs_note(request->api->jobs, message->job, message->text, err);
}

int api_label(struct api_request *request, void *reply, struct error *err)
{
	const struct message_label *message = request->message;
	struct node *node = known_node(request->api, message->node, err);
	struct reply_label *to = reply;

	if (!node)
		return -1;
	if (!cJSON_IsObject(message->labels))
		return error_set(err, EINVAL, "labels: expected a map");
	if (node_label(request->api->nodes, node, message->labels, err) < 0)
		return -1;
	to->labels = cJSON_Duplicate(node_view(node)->labels, true);
	return to->labels ? 0 : error_nomem(err, "labels");
}
