/* preload.c - what jobs to come need is brought to nodes while others run.
 */
#include "controller/cluster/preload.h"

#include "controller/cluster/job.h"
#include "controller/cluster/logins.h"
#include "controller/cluster/pin.h"
#include "protocol/file.h"
#include "protocol/log.h"
#include "protocol/printable.h"
#include "protocol/wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARNINGS_MAX 100
#define MIB 1048576.0

/* One thing that a node is to bring. */
struct item {
	struct preload_spec spec;
	uint64_t sweep;
	char phase[16]; /* "": it said nothing yet */
	uint64_t done, total;
	char *text;
	bool moved, final;
	int64_t began_ms; /* monotonic, when bytes began to move */
};

/* The jobs that a node is to bring something for, in their order. */
struct plan {
	uint64_t jobs[PRELOADS_MAX];
	size_t count;
};

struct ahead {
	struct plan plan; /* that the items are made from */
	uint64_t rate;    /* that they may come with; 0: no bound */
	bool partial;     /* some are left out for now */
	struct item items[PRELOADS_MAX];
	size_t count;
};

static void item_clear(struct item *item)
{
	codec_clear(&preload_spec_schema, &item->spec);
	free(item->text);
	*item = (struct item){ 0 };
}

void preload_forget(struct node *node)
{
	struct ahead *ahead = take(node->ahead);

	for (size_t i = 0; ahead && i < ahead->count; i++)
		item_clear(&ahead->items[i]);
	free(ahead);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Planning. */

static bool is_preparing(const struct job *job)
{
	return job->state == JOB_ALLOCATED || job->state == JOB_PREPARING;
}

/* The smaller of two rates of which 0 is no bound. */
static uint64_t lower(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* What runs on the node bounds what may come there. A node without a job waits
 * with nodes that have one.
 */
static uint64_t rate_of(const struct cluster *cluster, const struct node *node)
{
	const struct task *task;
	const struct gang *gang;
	uint64_t rate = 0;

	TAILQ_FOREACH(task, &node->tasks, by_node)
	{
		rate = lower(rate, task->job->gang->spec.preload_rate);
	}
	if (!TAILQ_EMPTY(&node->tasks))
		return rate;
	TAILQ_FOREACH(gang, &cluster->gangs, by_cluster)
	{
		if (gang->spec.preload)
			rate = lower(rate, gang->spec.preload_rate);
	}
	return rate;
}

/* Do all jobs that are on the node allow it now? */
static bool is_open(const struct node *node)
{
	const struct task *task;

	TAILQ_FOREACH(task, &node->tasks, by_node)
	{
		if (!task->job->gang->spec.preload || is_preparing(task->job))
			return false;
	}
	return !TAILQ_EMPTY(&node->tasks);
}

static void plan_add(struct plan *plan, uint64_t job)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->jobs[i] == job)
			return;
	if (plan->count < PRELOADS_MAX)
		plan->jobs[plan->count++] = job;
}

static bool is_listed(const struct node *node, uint64_t job)
{
	for (size_t i = 0; node->ahead && i < node->ahead->plan.count; i++)
		if (node->ahead->plan.jobs[i] == job)
			return true;
	return false;
}

struct planning {
	struct cluster *cluster;
	struct plan *plans; /* by node */
};

/* place_fn: a job to come, and where. */
static bool plan_placed(void *arg, uint64_t job, const struct shape *shape,
			const struct placement *placements)
{
	struct planning *planning = arg;
	struct node **nodes = planning->cluster->nodes;
	bool open = false;

	for (uint32_t i = 0; i < shape->nodes; i++)
		open |= is_open(nodes[placements[i].slot]);
	for (uint32_t i = 0; i < shape->nodes; i++) {
		const struct node *node = nodes[placements[i].slot];
		bool idle = TAILQ_EMPTY(&node->tasks);

		if (idle ? open || is_listed(node, job) : is_open(node))
			plan_add(&planning->plans[node->index], job);
	}
	return true;
}

/* Is the job the only one that this one still waits for? */
static bool waits_for_one(const struct job *job)
{
	size_t listed = 0;

	for (size_t i = 0; i < job->follows_count; i++)
		listed += job->follows[i].listed;
	return listed == 1;
}

/* Those that go after a job that runs, on its nodes. */
static void plan_followers(struct planning *planning, const struct gang *gang)
{
	const struct follow *follow;

	LIST_FOREACH(follow, &gang->job->followers, by_before)
	{
		if (!follow->job->same_nodes || !waits_for_one(follow->job))
			continue;
		for (uint32_t i = 0; i < gang->spec.nodes; i++) {
			const struct node *node = gang->tasks[i].node;

			if (is_open(node))
				plan_add(&planning->plans[node->index],
					 follow->job->id);
		}
	}
}

static bool brings_image(const struct node *node, const char *image)
{
	for (size_t i = 0; node->ahead && i < node->ahead->count; i++)
		if (same_text(node->ahead->items[i].spec.image, image))
			return true;
	return false;
}

/* A job that is being prepared joins what was begun for it, or another one. */
static void plan_preparing(struct planning *planning, const struct gang *gang)
{
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct node *node = gang->tasks[i].node;

		if (is_listed(node, gang->job->id) ||
		    brings_image(node, gang->spec.container.image))
			plan_add(&planning->plans[node->index], gang->job->id);
	}
}

/* false: nothing is to be brought anywhere. */
static bool plan_all(struct planning *planning)
{
	struct cluster *cluster = planning->cluster;
	const struct gang *gang;
	bool any = false;
	struct error err;

	if (cluster->draining)
		return false;
	TAILQ_FOREACH(gang, &cluster->gangs, by_cluster)
	{
		if (is_preparing(gang->job))
			plan_preparing(planning, gang);
		else if (gang->spec.preload)
			plan_followers(planning, gang);
		any |= gang->spec.preload;
	}
	if (any && scheduler_forecast(cluster->queue, cluster->slots,
				      cluster->nodes_count, PRELOAD_AHEAD,
				      plan_placed, planning, &err) < 0)
		log_error("%s", err.text);
	return true;
}

/* What a job needs. */

static int copy_text(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return *to || !from ? 0 : -1;
}

struct reading {
	struct item *item;
	struct error *err;
};

static int read_job(const struct job_row *row, void *arg)
{
	struct reading *reading = arg;
	struct item *item = reading->item;
	struct job_spec spec;
	int rc;

	if (codec_decode(&job_spec_schema, row->spec, strlen(row->spec), &spec,
			 reading->err) < 0)
		return -1;
	item->sweep = row->sweep;
	item->spec.job = row->id;
	/* A build would take the processors: it waits for its job. */
	rc = copy_text(&item->spec.owner, spec.owner) |
	     copy_text(&item->spec.image,
		       spec.container.build ? NULL : spec.container.image) |
	     copy_text(&item->spec.workspace, spec.container.workspace);
	codec_clear(&job_spec_schema, &spec);
	return rc < 0 ? error_nomem(reading->err, "preload") : 0;
}

static bool same_item(const struct item *a, const struct item *b)
{
	return same_text(a->spec.image, b->spec.image) &&
	       same_text(a->spec.workspace, b->spec.workspace);
}

static struct item *find_item(struct ahead *ahead, const struct item *item)
{
	for (size_t i = 0; ahead && i < ahead->count; i++)
		if (same_item(&ahead->items[i], item))
			return &ahead->items[i];
	return NULL;
}

/* Is another node about to find out what the image's name means? A tag is
 * resolved once.
 */
static bool is_asked(const struct cluster *cluster, const struct node *but,
		     const struct item *item)
{
	for (size_t n = 0; n < cluster->nodes_count; n++) {
		const struct ahead *ahead = cluster->nodes[n]->ahead;

		if (cluster->nodes[n] == but)
			continue;
		for (size_t i = 0; ahead && i < ahead->count; i++)
			if (ahead->items[i].sweep == item->sweep &&
			    !ahead->items[i].final &&
			    same_text(ahead->items[i].spec.image,
				      item->spec.image))
				return true;
	}
	return false;
}

/* Add what the job needs, with what is known already of the same. */
static void add_item(struct cluster *cluster, const struct node *node,
		     uint64_t job, struct ahead *to)
{
	struct item item = { 0 }, *old;
	struct error err = { 0 };
	struct reading reading = { &item, &err };
	const char *pin = NULL;
	bool unknown = false;

	if (store_job(cluster->store, job, read_job, &reading, &err) < 0)
		log_error("preload job=%" PRIu64 ": %s", job, err.text);
	if (item.spec.image) {
		unknown = pin_find(cluster, item.sweep, item.spec.image, &pin);
		copy_text(&item.spec.pin, pin);
	}
	old = find_item(node->ahead, &item);
	unknown = unknown && !old && is_asked(cluster, node, &item);
	if (unknown)
		to->partial = true;
	if (unknown || find_item(to, &item) ||
	    (!item.spec.image && !item.spec.workspace)) {
		item_clear(&item);
		return;
	}
	if (item.spec.image && node->peer &&
	    logins_give(cluster, item.sweep, wire_peer_public(node->peer),
			item.spec.image, &item.spec.logins,
			&item.spec.logins_count, &err) < 0)
		log_error("preload job=%" PRIu64 ": %s", job, err.text);
	if (old) {
		memcpy(item.phase, old->phase, sizeof(item.phase));
		item.done = old->done;
		item.total = old->total;
		item.moved = old->moved;
		item.final = old->final;
		item.began_ms = old->began_ms;
		item.text = take(old->text);
	}
	to->items[to->count++] = item;
}

/* Telling. */

static void send(struct node *node)
{
	struct preload_spec specs[PRELOADS_MAX] = { 0 };
	struct message_preload message = { .items = specs };
	struct error err;

	for (size_t i = 0; node->ahead && i < node->ahead->count; i++)
		specs[message.items_count++] = node->ahead->items[i].spec;
	message.rate = node->ahead ? node->ahead->rate : 0;
	if (wire_server_send(node->peer, MESSAGE_PRELOAD, &message, NULL, 0,
			     &err) < 0)
		log_error("node=%s: %s", node->name, err.text);
}

static bool same_plan(const struct ahead *ahead, const struct plan *plan,
		      uint64_t rate)
{
	size_t count = ahead ? ahead->plan.count : 0;

	return count == plan->count &&
	       (!count || (!ahead->partial && ahead->rate == rate &&
			   !memcmp(ahead->plan.jobs, plan->jobs,
				   count * sizeof(plan->jobs[0]))));
}

static bool same_items(const struct ahead *a, const struct ahead *b)
{
	if ((a ? a->count : 0) != b->count || (a && a->rate != b->rate))
		return false;
	for (size_t i = 0; i < b->count; i++)
		if (!same_item(&a->items[i], &b->items[i]) ||
		    a->items[i].spec.job != b->items[i].spec.job)
			return false;
	return true;
}

static void settle(struct cluster *cluster, struct node *node,
		   const struct plan *plan)
{
	uint64_t rate = plan->count ? rate_of(cluster, node) : 0;
	struct ahead *ahead;
	bool same;

	if (!node->peer || !node->reported ||
	    (!node->ahead_due && same_plan(node->ahead, plan, rate)))
		return;
	ahead = calloc(1, sizeof(*ahead));
	if (!ahead)
		return; /* the next time */
	ahead->plan = *plan;
	ahead->rate = rate;
	for (size_t i = 0; i < plan->count; i++)
		add_item(cluster, node, plan->jobs[i], ahead);
	same = !node->ahead_due && same_items(node->ahead, ahead);
	preload_forget(node);
	node->ahead = ahead;
	if (same)
		return;
	send(node);
	node->ahead_due = false;
	cluster->progress_seq++;
	cluster->changed = true;
}

void preload_tick(struct cluster *cluster)
{
	owned_free struct plan *plans =
		calloc(cluster->nodes_count + 1, sizeof(*plans));
	struct planning planning = { cluster, plans };

	if (!plans)
		return;
	if (!plan_all(&planning))
		memset(plans, 0, cluster->nodes_count * sizeof(*plans));
	for (size_t i = 0; i < cluster->nodes_count; i++)
		settle(cluster, cluster->nodes[i], &plans[i]);
}

/* Hearing. */

/* The jobs that run there are disturbed by it. */
static void note(struct cluster *cluster, const struct node *node,
		 const struct item *item)
{
	const char *image = item->spec.image;
	struct task *task;
	struct error err;

	TAILQ_FOREACH(task, &node->tasks, by_node)
	{
		struct job *job = task->job;
		cJSON *data;

		if ((job->state != JOB_READY && job->state != JOB_RUNNING))
			continue;
		data = cJSON_CreateObject();
		cJSON_AddStringToObject(data, "node", node->name);
		cJSON_AddStringToObject(data, "what",
					image ? image : "workspace");
		cJSON_AddNumberToObject(data, "for", (double)item->spec.job);
		if (item->final) {
			cJSON_AddNumberToObject(data, "bytes",
						(double)item->done);
			cJSON_AddNumberToObject(data, "seconds",
						(double)(clock_mono_ms() -
							 item->began_ms) /
							1000);
		}
		job_event(cluster, job, JOB_EVENT_PRELOAD, data, &err);
	}
}

static void learn_pin(struct cluster *cluster, const struct node *node,
		      struct item *item, const char *found)
{
	if (item->spec.pin || !found || !item->spec.image)
		return;
	pin_tell(cluster, item->sweep, item->spec.image, found, node->name);
	copy_text(&item->spec.pin, found);
}

static void keep_state(struct item *item, const struct message_preloaded *state)
{
	snprintf(item->phase, sizeof(item->phase), "%s", state->phase);
	printable(item->phase, strlen(item->phase));
	item->done = state->done_bytes;
	item->total = state->total_bytes;
	item->final = !strcmp(state->phase, "ready") ||
		      !strcmp(state->phase, "failed");
	free(item->text);
	copy_text(&item->text, state->text);
	if (item->text)
		printable(item->text, strlen(item->text));
}

void preload_state(struct cluster *cluster, struct node *node,
		   const struct message_preloaded *state)
{
	struct item *item = NULL;
	bool was_final, was_moved;

	for (size_t i = 0; node->ahead && i < node->ahead->count; i++)
		if (node->ahead->items[i].spec.job == state->job)
			item = &node->ahead->items[i];
	/* Wanted once: in a former session, or until a moment ago. */
	node->ahead_due |= !item;
	if (!item)
		return;
	was_final = item->final;
	was_moved = item->moved;
	keep_state(item, state);
	item->moved |= state->moved;
	if (item->moved && !was_moved)
		item->began_ms = clock_mono_ms();
	if (item->moved && (!was_moved || item->final != was_final))
		note(cluster, node, item);
	learn_pin(cluster, node, item, state->image_pin);
	cluster->progress_seq++;
	cluster->changed = true;
}

/* Showing. */

static void add_text(cJSON *to, const char *name, const char *text)
{
	cJSON_AddItemToObject(to, name,
			      text ? cJSON_CreateString(text)
				   : cJSON_CreateNull());
}

cJSON *preload_describe(const struct node *node)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; node->ahead && i < node->ahead->count; i++) {
		const struct item *item = &node->ahead->items[i];
		cJSON *to = cJSON_CreateObject();

		cJSON_AddNumberToObject(to, "job", (double)item->spec.job);
		add_text(to, "image", item->spec.image);
		add_text(to, "workspace", item->spec.workspace);
		add_text(to, "phase", *item->phase ? item->phase : "waiting");
		cJSON_AddNumberToObject(to, "done_bytes", (double)item->done);
		cJSON_AddNumberToObject(to, "total_bytes", (double)item->total);
		add_text(to, "text", item->text);
		cJSON_AddItemToArray(list, to);
	}
	return list;
}

struct warning {
	uint32_t attempt;
	cJSON *texts; /* by node and thing: what is told last holds */
};

static const char *text_in(const cJSON *object, const char *name)
{
	const char *text = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(object, name));

	return text ? text : "";
}

static double number_in(const cJSON *object, const char *name)
{
	return cJSON_GetNumberValue(
		cJSON_GetObjectItemCaseSensitive(object, name));
}

static int add_warning(const struct event_row *row, void *arg)
{
	struct warning *warning = arg;
	const cJSON *seconds;
	cJSON *data;
	char key[400], text[600];
	size_t used;

	if (row->attempt != warning->attempt || !row->data ||
	    strcmp(row->kind, job_event_name(JOB_EVENT_PRELOAD)) != 0)
		return 0;
	data = codec_parse(row->data, strlen(row->data), NULL);
	snprintf(key, sizeof(key), "%s: %s", text_in(data, "node"),
		 text_in(data, "what"));
	used = (size_t)snprintf(text, sizeof(text),
				"%s for job %.0f was brought while it ran", key,
				number_in(data, "for"));
	seconds = cJSON_GetObjectItemCaseSensitive(data, "seconds");
	if (cJSON_IsNumber(seconds) && used < sizeof(text))
		snprintf(text + used, sizeof(text) - used,
			 ": %.1f MiB in %.1f s", number_in(data, "bytes") / MIB,
			 seconds->valuedouble);
	cJSON_Delete(data);
	cJSON_DeleteItemFromObjectCaseSensitive(warning->texts, key);
	if (cJSON_GetArraySize(warning->texts) < WARNINGS_MAX)
		cJSON_AddStringToObject(warning->texts, key, text);
	return 0;
}

int preload_warnings(const struct cluster *cluster, const struct job *job,
		     cJSON *list, struct error *err)
{
	struct warning warning = { job->attempt, cJSON_CreateObject() };
	int rc = store_events(cluster->store, job->id, 0, 0, add_warning,
			      &warning, err);
	const cJSON *text;

	cJSON_ArrayForEach(text, warning.texts)
	{
		cJSON_AddItemToArray(list,
				     cJSON_CreateString(text->valuestring));
	}
	cJSON_Delete(warning.texts);
	return rc;
}
