/* describe.c - sweeps, jobs and nodes as the JSON that people get.
 */
#include "controller/server/describe.h"
#include "controller/jobs/dependencies.h"
#include "controller/jobs/image_progress.h"
#include "controller/jobs/job.h"
#include "controller/jobs/unschedulable.h"
#include "controller/logs/log_ingest.h"
#include "controller/nodes/node.h"
#include "controller/nodes/node_devices.h"
#include "controller/server/files.h"
#include "controller/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MAX 1000 /* of one job in one answer */

static void add_text(cJSON *to, const char *name, const char *text)
{
	cJSON_AddItemToObject(to, name,
			      text ? cJSON_CreateString(text)
				   : cJSON_CreateNull());
}

static void add_number(cJSON *to, const char *name, double value)
{
	cJSON_AddNumberToObject(to, name, value);
}

cJSON *answer_new(struct cluster *cluster)
{
	cJSON *body = cJSON_CreateObject();

	cJSON_AddNumberToObject(body, "since",
				(double)store_seen_event(cluster->store));
	return body;
}

struct in_sweep {
	uint64_t sweep;
	size_t count;
};

static void count_one(struct cluster *cluster, struct job *job, void *arg)
{
	struct in_sweep *in = arg;

	in->count += job->sweep == in->sweep;
}

bool sweep_final(struct cluster *cluster, uint64_t sweep)
{
	struct in_sweep in = { .sweep = sweep };
	uint64_t counts[JOB_STATES] = { 0 };

	if (store_sweep_counts(cluster->store, sweep, counts, NULL) < 0)
		return false;
	for (int state = 0; state < JOB_STATES; state++)
		if (counts[state] && !job_state_final((enum job_state)state))
			return false;
	job_each(cluster, count_one, &in);
	return !in.count;
}

cJSON *describe_sweep(struct cluster *cluster, const struct sweep_row *row)
{
	cJSON *sweep = cJSON_CreateObject();
	uint64_t counts[JOB_STATES] = { 0 };
	uint64_t jobs = 0;
	cJSON *states;
	char client[KEY_NAME_SIZE] = "";

	/* Behind the name stands the token of the submit. */
	snprintf(client, sizeof(client), "%.*s", (int)strcspn(row->client, " "),
		 row->client);
	store_sweep_counts(cluster->store, row->id, counts, NULL);
	add_number(sweep, "id", (double)row->id);
	add_text(sweep, "name", row->name);
	add_text(sweep, "client", client);
	add_number(sweep, "submitted_ms", (double)row->submitted_ms);
	states = cJSON_CreateObject();
	for (int i = 1; i < JOB_STATES; i++) {
		jobs += counts[i];
		if (counts[i])
			add_number(states, job_state_name((enum job_state)i),
				   (double)counts[i]);
	}
	add_number(sweep, "jobs", (double)jobs);
	cJSON_AddItemToObject(sweep, "counts", states);
	cJSON_AddBoolToObject(sweep, "final", sweep_final(cluster, row->id));
	return sweep;
}

static void add_if(cJSON *to, const struct record *record,
		   enum record_field field, const char *name, double value)
{
	if (record_has(record, field))
		add_number(to, name, value);
}

static cJSON *describe_progress(const struct job *job)
{
	const struct gang *gang = job ? job->gang : NULL;
	const struct record *latest = log_ingest_latest(gang);
	cJSON *progress;

	if (!gang || job_state_final(job->state))
		return cJSON_CreateNull();
	progress = cJSON_CreateObject();
	if (job->state == JOB_PREPARING)
		image_progress_add_sum(gang, progress);
	if (latest) {
		add_if(progress, latest, RECORD_STEP, "step",
		       (double)latest->step);
		add_if(progress, latest, RECORD_STEPS, "steps",
		       (double)latest->steps_total);
		add_if(progress, latest, RECORD_LOSS, "loss", latest->loss);
		add_if(progress, latest, RECORD_TOKENS_PER_SECOND,
		       "tokens_per_second", latest->tokens_per_second);
	}
	return progress;
}

/* Names of the nodes of the store's allocation, and how many devices. */
static cJSON *allocation_names(const char *text, double *devices)
{
	cJSON *names = cJSON_CreateArray();
	cJSON *allocation = text ? codec_parse(text, strlen(text), NULL) : NULL;
	const cJSON *item;

	*devices = 0;
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(allocation,
								  "tasks"))
	{
		const char *bits = cJSON_GetStringValue(
			cJSON_GetObjectItemCaseSensitive(item, "devices"));
		cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "node");

		cJSON_AddItemToArray(names, cJSON_Duplicate(name, true));
		if (bits)
			*devices +=
				__builtin_popcountll(strtoull(bits, NULL, 16));
	}
	cJSON_Delete(allocation);
	return names;
}

static void move_item(cJSON *to, cJSON *from, const char *name)
{
	cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(from, name);

	cJSON_AddItemToObject(to, name, item ? item : cJSON_CreateNull());
}

struct origin {
	uint64_t sweep;
};

static int note_origin(const struct job_row *row, void *arg)
{
	((struct origin *)arg)->sweep = row->sweep;
	return 0;
}

cJSON *describe_origin(struct cluster *cluster, const struct job_row *row)
{
	struct origin origin = { 0 };
	cJSON *from;

	if (!row->origin)
		return cJSON_CreateNull();
	store_job(cluster->store, row->origin, note_origin, &origin, NULL);
	from = cJSON_CreateObject();
	add_number(from, "job", (double)row->origin);
	add_number(from, "sweep", (double)origin.sweep);
	return from;
}

/* Why a queued job is held, or does not even have nodes to wait for. */
static void add_waits(struct cluster *cluster, const struct job *job, cJSON *to)
{
	char text[300];
	bool waits =
		job && (dependencies_waits(cluster, job, text, sizeof(text)) ||
			(job->state == JOB_QUEUED &&
			 unschedulable_of(cluster->slots, cluster->nodes_count,
					  &job->shape, text,
					  sizeof(text)) != UNSCHEDULABLE_NONE));

	add_text(to, "waits", waits ? text : NULL);
}

static cJSON *describe_with_spec(struct cluster *cluster,
				 const struct job_row *row, cJSON *spec)
{
	const struct job *job = job_find(cluster, row->id);
	cJSON *to = cJSON_CreateObject();
	double devices, asked;
	cJSON *names = allocation_names(row->allocation, &devices);

	asked = cJSON_GetNumberValue(
		cJSON_GetObjectItemCaseSensitive(spec, "devices"));
	add_number(to, "job", (double)row->id);
	add_number(to, "sweep", (double)row->sweep);
	cJSON_AddItemToObject(
		to, "cell",
		cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(spec, "cell"),
				true));
	add_number(to, "repeat", row->repeat);
	add_text(to, "state", job_state_name(row->state));
	add_number(to, "attempt", row->attempt);
	add_text(to, "failure", failure_name(row->failure));
	add_text(to, "text", row->text);
	add_number(to, "nodes",
		   cJSON_GetNumberValue(
			   cJSON_GetObjectItemCaseSensitive(spec, "nodes")));
	add_number(to, "devices",
		   devices > 0 ? devices
		   : asked > 0 ? asked
			       : 0);
	cJSON_AddItemToObject(to, "vendor",
			      cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(
						      spec, "vendor"),
					      true));
	cJSON_AddItemToObject(to, "allocation", names);
	add_number(to, "queued_ms", (double)row->queued_ms);
	add_number(to, "started_ms", (double)row->started_ms);
	add_number(to, "ended_ms", (double)row->ended_ms);
	cJSON_AddBoolToObject(to, "removed",
			      job_state_final(row->state) && !job);
	cJSON_AddItemToObject(to, "progress", describe_progress(job));
	add_waits(cluster, job, to);
	cJSON_AddItemToObject(to, "from", describe_origin(cluster, row));
	return to;
}

cJSON *describe_job(struct cluster *cluster, const struct job_row *row)
{
	cJSON *spec = codec_parse(row->spec, strlen(row->spec), NULL);
	cJSON *to = describe_with_spec(cluster, row, spec);

	cJSON_Delete(spec);
	return to;
}

static cJSON *describe_tasks(const struct job *job)
{
	cJSON *tasks = cJSON_CreateArray();

	for (uint32_t i = 0; job && job->gang && i < job->gang->spec.nodes;
	     i++) {
		const struct task *task = &job->gang->tasks[i];
		cJSON *to = cJSON_CreateObject(), *transfer;

		add_number(to, "rank", i);
		add_text(to, "node", task->node->name);
		add_text(to, "state", task_state_name(task->state));
		add_text(to, "failure", failure_name(task->failure));
		add_text(to, "text", task->text);
		add_number(to, "exit_code", (double)task->exit_code);
		transfer = image_progress_of_task(task);
		cJSON_AddItemToObject(to, "transfer",
				      transfer ? transfer : cJSON_CreateNull());
		cJSON_AddItemToArray(tasks, to);
	}
	return tasks;
}

static int add_event(const struct event_row *row, void *arg)
{
	cJSON *to = cJSON_CreateObject();

	add_number(to, "seq", (double)row->seq);
	add_number(to, "time_ms", (double)row->time_ms);
	add_number(to, "attempt", row->attempt);
	add_text(to, "kind", row->kind);
	cJSON_AddItemToObject(to, "data",
			      row->data ? codec_parse(row->data,
						      strlen(row->data), NULL)
					: cJSON_CreateNull());
	cJSON_AddItemToArray(arg, to);
	return 0;
}

static int add_result(const struct result_row *row, void *arg)
{
	cJSON *both = codec_parse(row->json, strlen(row->json), NULL);

	move_item(arg, both, "result");
	move_item(arg, both, "provenance");
	cJSON_Delete(both);
	return 0;
}

cJSON *describe_job_whole(struct cluster *cluster, const struct job_row *row)
{
	cJSON *spec = codec_parse(row->spec, strlen(row->spec), NULL);
	cJSON *to = describe_with_spec(cluster, row, spec);
	cJSON *events = cJSON_CreateArray();

	cJSON_AddItemToObject(to, "spec", spec);
	cJSON_AddItemToObject(to, "tasks",
			      describe_tasks(job_find(cluster, row->id)));
	store_events(cluster->store, row->id, 0, EVENTS_MAX, add_event, events,
		     NULL);
	cJSON_AddItemToObject(to, "events", events);
	cJSON_AddItemToObject(to, "streams",
			      files_describe_all(cluster,
						 row->origin ? row->origin
							     : row->id,
						 row->attempt));
	if (store_result(cluster->store, row->id, add_result, to, NULL) < 0)
		cJSON_AddNullToObject(to, "result");
	return to;
}

static void add_chips(cJSON *to, const struct node *node,
		      const struct slot *slot)
{
	cJSON *chips = cJSON_AddObjectToObject(to, "chips");

	for (size_t i = 0; i < node->inventory_count; i++) {
		const char *chip = node->inventory[i].chip;
		cJSON *count =
			chip ? cJSON_GetObjectItemCaseSensitive(chips, chip)
			     : NULL;

		if (!chip || slot->lost >> i & 1)
			continue;
		if (count)
			cJSON_SetNumberValue(count, count->valuedouble + 1);
		else
			add_number(chips, chip, 1);
	}
}

cJSON *describe_node_whole(const struct cluster *cluster,
			   const struct node *node)
{
	cJSON *to = describe_node(cluster, node);

	cJSON_AddItemToObject(to, "inventory", node_devices_json(node));
	return to;
}

/* What somebody said of when it gets no new task; null: nothing. */
static cJSON *describe_drain(const struct node *node)
{
	cJSON *to;

	if (!node->drain)
		return cJSON_CreateNull();
	to = cJSON_CreateObject();
	add_number(to, "from_ms", (double)node->drain_from_ms);
	add_number(to, "until_ms", (double)node->drain_until_ms);
	if (node->reason)
		add_text(to, "reason", node->reason);
	return to;
}

cJSON *describe_node(const struct cluster *cluster, const struct node *node)
{
	const struct slot *slot = &cluster->slots[node->index];
	cJSON *to = cJSON_CreateObject();
	cJSON *jobs = cJSON_CreateArray();
	const struct task *task;

	add_text(to, "name", node->name);
	add_text(to, "state", node_state(node));
	cJSON_AddBoolToObject(to, "drained", node->drained);
	cJSON_AddItemToObject(to, "drain", describe_drain(node));
	cJSON_AddItemToObject(to, "labels",
			      node->labels ? cJSON_Duplicate(node->labels, true)
					   : cJSON_CreateObject());
	add_text(to, "vendor", node->vendor);
	add_number(to, "devices", slot->devices);
	add_number(to, "lost", __builtin_popcountll(slot->lost));
	add_number(to, "free",
		   slot->devices - (double)__builtin_popcountll(slot->busy |
								slot->lost));
	add_chips(to, node, slot);
	add_text(to, "address", node->address);
	TAILQ_FOREACH(task, &node->tasks, by_node)
	{
		cJSON_AddItemToArray(jobs,
				     cJSON_CreateNumber((double)task->job->id));
	}
	cJSON_AddItemToObject(to, "jobs", jobs);
	add_number(to, "seen_ms", (double)node->seen_ms);
	cJSON_AddItemToObject(to, "facts",
			      node->facts ? cJSON_Duplicate(node->facts, true)
					  : cJSON_CreateNull());
	return to;
}
