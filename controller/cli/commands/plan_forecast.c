/* plan_forecast.c - adds to a plan what the controller knows: nodes, policies,
 * run times.
 */
#include "controller/cli/commands/plan_forecast.h"
#include "controller/results/json_object.h"

#include "protocol/message/reply_jobs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_AT_ONCE 1000 /* in one query */

void plan_forecast_clear(struct plan_forecast *forecast)
{
	node_snapshot_clear(&forecast->snapshot);
	free(forecast->times);
	free(forecast->runs);
	schedule_simulation_free(forecast->simulation);
	least_policy_clear(&forecast->least);
}

/* Queries. */

/* A cell and its key, to be found again by the key. */
struct keyed {
	char key[65];
	size_t cell;
};

struct keys {
	struct keyed *items;
	size_t count;
};

static void keys_clear(struct keys *keys)
{
	free(keys->items);
}
OWNED_VALUE(struct keys, keys_clear)

static int compare_keys(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	return strcmp(x->key, y->key);
}

static int collect_keys(struct sweep *sweep, struct keys *keys,
			struct error *err)
{
	size_t count = sweep_totals(sweep)->kept;

	keys->items = calloc(count + 1, sizeof(*keys->items));
	if (!keys->items)
		return error_nomem(err, "plan");
	for (size_t i = 0; i < count; i++) {
		struct keyed *item = &keys->items[keys->count++];

		item->cell = i;
		if (sweep_cell_key(sweep, i, item->key, err) < 0)
			return -1;
	}
	qsort(keys->items, keys->count, sizeof(*keys->items), compare_keys);
	return 0;
}

static void note_history(struct plan_forecast *forecast,
			 const struct keys *keys,
			 const struct reply_history *reply)
{
	for (size_t i = 0; i < reply->history_count; i++) {
		const struct history_info *item = &reply->history[i];
		const struct keyed *found;
		struct keyed key = { 0 };

		snprintf(key.key, sizeof(key.key), "%s", item->key);
		found = bsearch(&key, keys->items, keys->count,
				sizeof(*keys->items), compare_keys);
		if (!found)
			continue;
		forecast->times[found->cell] =
			item->median_ms > 0 ? (uint64_t)item->median_ms : 1;
		forecast->runs[found->cell] = item->runs;
	}
}

/* How long the cells took, as far as the controller knows. */
static int fetch_history(struct plan_forecast *forecast, struct sweep *sweep,
			 struct client *client, struct error *err)
{
	owned(keys_clear) struct keys keys = { 0 };

	forecast->times =
		calloc(sweep_totals(sweep)->kept + 1, sizeof(*forecast->times));
	forecast->runs =
		calloc(sweep_totals(sweep)->kept + 1, sizeof(*forecast->runs));
	if (!forecast->times || !forecast->runs)
		return error_nomem(err, "plan");
	if (collect_keys(sweep, &keys, err) < 0)
		return -1;
	for (size_t at = 0; at < keys.count; at += KEYS_AT_ONCE) {
		owned(answer_clear) struct answer answer = { 0 };
		struct message_query query = { .what = QUERY_HISTORY };
		int rc = 0;

		for (size_t i = at;
		     i < keys.count && i < at + KEYS_AT_ONCE && rc == 0; i++)
			rc = strings_add(&query.keys, keys.items[i].key, err);
		if (rc == 0)
			rc = client_query(client, &query, &answer, err);
		strings_clear(&query.keys);
		if (rc < 0)
			return -1;
		if (answer.reply)
			note_history(forecast, &keys, answer.reply);
	}
	return 0;
}

/* Without a controller there is no forecast; the text says why. */
int plan_forecast_init(struct plan_forecast *forecast, struct cli *cli,
		       struct sweep *sweep, struct error *err)
{
	owned(client_free) struct client *client = NULL;
	struct error why = { 0 };

	client = cli_connect(cli, &why);
	if (!client ||
	    node_snapshot_fetch(&forecast->snapshot, client, &why) < 0 ||
	    fetch_history(forecast, sweep, client, &why) < 0) {
		if (why.code == ENOMEM)
			return error_nomem(err, "plan");
		snprintf(forecast->text, sizeof(forecast->text), "%s",
			 why.text);
		return 0;
	}
	forecast->simulation =
		schedule_simulation_new(sweep, forecast->snapshot.slots,
					forecast->snapshot.count,
					forecast->times, err);
	return forecast->simulation ? 0 : -1;
}

/* The additions to the plan. */

static void forecast_add_known(cJSON *to, const char *name, bool known,
			       uint64_t value, bool *failed)
{
	json_add_number(to, name, known ? (double)value : (double)NAN, failed);
}

static void forecast_add_cell(const struct plan_forecast *forecast, size_t cell,
			      cJSON *row, bool *failed)
{
	const struct schedule_simulation_cell *of =
		&forecast->simulation->cells[cell];
	bool timed = forecast->simulation->end_ms && of->first_wave;
	uint64_t time = forecast->times[cell];
	cJSON *names = cJSON_CreateArray();

	json_add(row, "fits",
		 cJSON_CreateBool(of->shortage == UNSCHEDULABLE_NONE), failed);
	json_add_text(row, "lacks", of->lacks, failed);
	forecast_add_known(row, "runs", true, forecast->runs[cell], failed);
	forecast_add_known(row, "time_ms", time, time, failed);
	forecast_add_known(row, "wave", of->first_wave, of->first_wave, failed);
	forecast_add_known(row, "last_wave", of->last_wave, of->last_wave,
			   failed);
	forecast_add_known(row, "start_ms", timed, of->start_ms, failed);
	json_add(row, "on", names, failed);
	for (uint32_t i = 0; i < of->slots_count && !*failed; i++)
		json_add_text(names, NULL,
			      forecast->snapshot.names[of->slots[i]], failed);
}

static void forecast_add_totals(const struct plan_forecast *forecast,
				cJSON *plan, bool *failed)
{
	const struct schedule_simulation *simulation = forecast->simulation;
	const struct node_snapshot *nodes = &forecast->snapshot;
	cJSON *cluster = cJSON_AddObjectToObject(plan, "cluster"), *to;

	json_add(cluster, "checked", cJSON_CreateBool(simulation != NULL),
		 failed);
	if (!simulation) {
		json_add_text(cluster, "text", forecast->text, failed);
		return;
	}
	to = cJSON_AddObjectToObject(plan, "forecast");
	forecast_add_known(cluster, "nodes", true, nodes->count, failed);
	forecast_add_known(cluster, "usable", true, nodes->usable, failed);
	forecast_add_known(to, "waves", true, simulation->waves, failed);
	forecast_add_known(to, "time_ms", simulation->end_ms,
			   simulation->end_ms, failed);
	forecast_add_known(to, "known", true, simulation->known, failed);
	forecast_add_known(to, "unknown", true, simulation->unknown, failed);
	forecast_add_known(to, "lacking", true, simulation->lacking, failed);
	json_add(to, "cut", cJSON_CreateBool(simulation->cut), failed);
}

/* Add to the row which policies of the nodes refuse the cell, if any does. */
static int add_refusals(struct plan_forecast *forecast, struct sweep *sweep,
			size_t cell, cJSON *row, struct error *err)
{
	owned(job_spec_clear) struct job_spec spec = { 0 };
	owned(cJSON_Delete) cJSON *refusals = NULL;

	if (!forecast->snapshot.policies.count)
		return 0;
	if (sweep_cell_spec(sweep, cell, &spec, err) < 0)
		return -1;
	refusals = node_policies_refusals(&forecast->snapshot.policies,
					  spec.vendor, &spec.container, err);
	if (!refusals)
		return -1;
	if (!refusals->child)
		return 0;
	cJSON_AddItemToObject(row, "refused", take(refusals));
	return least_policy_add(&forecast->least, &spec.container, err);
}

int plan_forecast_add(struct plan_forecast *forecast, struct sweep *sweep,
		      cJSON *plan, struct error *err)
{
	size_t cell = 0;
	bool refused = false, failed = false;
	cJSON *row;

	if (least_policy_init(&forecast->least, err) < 0)
		return -1;
	forecast_add_totals(forecast, plan, &failed);
	if (failed)
		return error_nomem(err, "plan");
	if (!forecast->simulation)
		return 0;
	cJSON_ArrayForEach(row, row_at(plan, "kept"))
	{
		if (add_refusals(forecast, sweep, cell, row, err) < 0)
			return -1;
		forecast_add_cell(forecast, cell++, row, &failed);
		if (failed)
			return error_nomem(err, "plan");
		refused |= cJSON_HasObjectItem(row, "refused");
	}
	if (refused)
		cJSON_AddItemToObject(plan, "policy",
				      least_policy_json(&forecast->least));
	return 0;
}
