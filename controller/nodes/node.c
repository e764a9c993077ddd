/* node.c - the registry of nodes: who is there, what it has, since when not.
 */
#include "controller/nodes/node.h"
#include "controller/cluster/active_job.h"
#include "controller/nodes/labels.h"
#include "controller/store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DISCARDS_MAX 4096     /* of one node, that are waited for */
#define MACHINE_MAX 64        /* bytes of what tells machines apart */
#define LABELS_MAX 64         /* of one node */
#define INVENTORY "inventory" /* in the row, beside the facts */

struct nodes {
	const struct job_effects *effects;
	struct store *store;
	struct news *news;
	struct node **list;
	struct slot *slots; /* of list[i], as the scheduler sees it */
	size_t count;
	bool changed; /* since nodes_changed() */
};

struct nodes *nodes_new(const struct job_effects *effects, struct store *store,
			struct news *news, struct error *err)
{
	struct nodes *nodes = calloc(1, sizeof(*nodes));

	if (!nodes) {
		error_nomem(err, "nodes");
		return NULL;
	}
	nodes->effects = effects;
	nodes->store = store;
	nodes->news = news;
	return nodes;
}

size_t node_count(const struct nodes *nodes)
{
	return nodes->count;
}

struct node *node_at(const struct nodes *nodes, size_t index)
{
	return nodes->list[index];
}

struct slot *node_slots(const struct nodes *nodes)
{
	return nodes->slots;
}

struct slot *node_slot(const struct nodes *nodes, const struct node *node)
{
	return &nodes->slots[node->index];
}

bool nodes_changed(struct nodes *nodes)
{
	bool changed = nodes->changed;

	nodes->changed = false;
	return changed;
}

struct node *node_find(const struct nodes *nodes, const char *name)
{
	for (size_t i = 0; i < nodes->count; i++)
		if (!strcmp(nodes->list[i]->name, name))
			return nodes->list[i];
	return NULL;
}

static void node_free(struct node *node)
{
	if (!node)
		return;
	free(node->vendor);
	free(node->address);
	free(node->peers);
	free(node->instance);
	free(node->discards);
	free(node->reason);
	free(node->label_text);
	free(node->machine);
	node_devices_clear(node);
	cJSON_Delete(node->facts);
	cJSON_Delete(node->labels);
	free(node);
}
OWNED_POINTER(struct node, node_free)

static int grow(struct nodes *nodes)
{
	size_t room = nodes->count ? nodes->count * 2 : 1;
	struct node **list;
	struct slot *slots;

	/* Room for powers of two, without a second counter. */
	if (nodes->count & (nodes->count - 1))
		return 0;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	list = realloc(nodes->list, room * sizeof(*list));
	if (!list)
		return -1;
	nodes->list = list;
	slots = realloc(nodes->slots, room * sizeof(*slots));
	if (!slots)
		return -1;
	nodes->slots = slots;
	return 0;
}

struct node *node_get(struct nodes *nodes, const char *name, struct error *err)
{
	owned(node_free) struct node *node = node_find(nodes, name);

	if (node)
		return take(node);
	if (nodes->count >= NODES_MAX) {
		error_set(err, ENOSPC, "more than %d nodes", NODES_MAX);
		return NULL;
	}
	node = calloc(1, sizeof(*node));
	if (!node || !(node->vendor = strdup("")) ||
	    !(node->address = strdup("")) || grow(nodes) < 0) {
		error_nomem(err, "node");
		return NULL;
	}
	strncpy(node->name, name, sizeof(node->name) - 1);
	TAILQ_INIT(&node->tasks);
	node->lost_since_ms = effects_mono_ms(nodes->effects);
	node->index = nodes->count++;
	nodes->list[node->index] = node;
	nodes->slots[node->index] = (struct slot){ .vendor = node->vendor };
	return take(node);
}

void nodes_free(struct nodes *nodes)
{
	if (!nodes)
		return;
	for (size_t i = 0; i < nodes->count; i++)
		node_free(nodes->list[i]);
	free(nodes->list);
	free(nodes->slots);
	free(nodes);
}

struct loading {
	struct nodes *nodes;
	struct error *err;
};

/* What people said of it, and where it is, as the store keeps it. */

static bool drained_at(const struct node *node, int64_t now_ms)
{
	return node->drain && node->drain_from_ms <= now_ms &&
	       (!node->drain_until_ms || now_ms < node->drain_until_ms);
}

static int64_t number_of(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsNumber(item) ? (int64_t)item->valuedouble : 0;
}

/* The key is this machine's from now on. Without memory it is anybody's. */
static void bind(struct node *node, const char *key, const char *machine)
{
	snprintf(node->key, sizeof(node->key), "%s", key);
	free(node->machine);
	node->machine = machine ? strdup(machine) : NULL;
}

static void settings_load(struct node *node, const char *text)
{
	cJSON *settings = codec_parse(text, strlen(text), NULL);
	const cJSON *reason =
		cJSON_GetObjectItemCaseSensitive(settings, "reason");
	const char *key = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(settings, "key"));
	const char *machine = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(settings, "machine"));

	node->drain_from_ms = number_of(settings, "from_ms");
	node->drain_until_ms = number_of(settings, "until_ms");
	if (cJSON_IsString(reason))
		node->reason = strdup(reason->valuestring);
	node->labels =
		cJSON_DetachItemFromObjectCaseSensitive(settings, "labels");
	node->label_text = labels_text(node->labels);
	if (key && machine)
		bind(node, key, machine);
	cJSON_Delete(settings);
}

static cJSON *settings_json(const struct node *node)
{
	cJSON *settings = cJSON_CreateObject();

	cJSON_AddNumberToObject(settings, "from_ms",
				(double)node->drain_from_ms);
	cJSON_AddNumberToObject(settings, "until_ms",
				(double)node->drain_until_ms);
	if (node->reason)
		cJSON_AddStringToObject(settings, "reason", node->reason);
	if (node->labels)
		cJSON_AddItemToObject(settings, "labels",
				      cJSON_Duplicate(node->labels, true));
	if (node->machine) {
		cJSON_AddStringToObject(settings, "key", node->key);
		cJSON_AddStringToObject(settings, "machine", node->machine);
	}
	return settings;
}

static int load_row(const struct node_row *row, void *arg)
{
	struct loading *loading = arg;
	struct node *node = node_get(loading->nodes, row->name, loading->err);
	cJSON *inventory;

	if (!node)
		return -1;
	node->drain = row->drained;
	if (row->settings)
		settings_load(node, row->settings);
	node->drained =
		drained_at(node, effects_wall_ms(loading->nodes->effects));
	node->seen_ms = row->seen_ms;
	if (row->facts)
		node->facts = codec_parse(row->facts, strlen(row->facts), NULL);
	inventory =
		cJSON_DetachItemFromObjectCaseSensitive(node->facts, INVENTORY);
	node_devices_load(node, inventory);
	cJSON_Delete(inventory);
	return 0;
}

int node_load(struct nodes *nodes, struct error *err)
{
	struct loading loading = { nodes, err };

	return store_nodes(nodes->store, load_row, &loading, err);
}

static int node_save(struct nodes *nodes, const struct node *node,
		     struct error *err)
{
	cJSON *both = node->facts ? cJSON_Duplicate(node->facts, true)
				  : cJSON_CreateObject();
	char *facts =
		cJSON_AddItemToObject(both, INVENTORY, node_devices_json(node))
			? cJSON_PrintUnformatted(both)
			: NULL;
	cJSON *said = settings_json(node);
	char *settings = cJSON_PrintUnformatted(said);
	struct node_row row = {
		.name = node->name,
		.drained = node->drain,
		.facts = facts,
		.seen_ms = node->seen_ms,
		.settings = settings,
	};
	int rc = store_put_node(nodes->store, &row, err);

	cJSON_Delete(both);
	cJSON_Delete(said);
	cJSON_free(facts);
	cJSON_free(settings);
	return rc;
}

/* Its state, or what people said of it: who waits for news wants to know. */
static void tell(struct nodes *nodes, struct node *node)
{
	node_refresh(nodes, node);
	news_progress(nodes->news);
}

/* What is said of its drain, stored; reason is moved. */
static int set_drain(struct nodes *nodes, struct node *node, bool drain,
		     int64_t from_ms, int64_t until_ms, char *reason,
		     struct error *err)
{
	const struct node was = *node;

	node->drain = drain;
	node->drain_from_ms = from_ms;
	node->drain_until_ms = until_ms;
	node->reason = reason;
	if (node_save(nodes, node, err) < 0) {
		node->drain = was.drain;
		node->drain_from_ms = was.drain_from_ms;
		node->drain_until_ms = was.drain_until_ms;
		node->reason = was.reason;
		free(reason);
		return -1;
	}
	free(was.reason);
	node->drained = drained_at(node, effects_wall_ms(nodes->effects));
	tell(nodes, node);
	return 0;
}

int node_drain(struct nodes *nodes, struct node *node, int64_t from_ms,
	       int64_t until_ms, const char *reason, struct error *err)
{
	int64_t now_ms = effects_wall_ms(nodes->effects);
	char *copy = reason ? strdup(reason) : NULL;

	if (until_ms && (until_ms <= now_ms || until_ms <= from_ms)) {
		free(copy);
		return error_set(err, EINVAL,
				 "until: it is past, or before it begins");
	}
	if (reason && !copy)
		return error_nomem(err, "node");
	return set_drain(nodes, node, true, from_ms, until_ms, copy, err);
}

int node_undrain(struct nodes *nodes, struct node *node, struct error *err)
{
	return set_drain(nodes, node, false, 0, 0, NULL, err);
}

void node_settle_drain(struct nodes *nodes, struct node *node, int64_t now_ms)
{
	if (!node->drain || drained_at(node, now_ms) == node->drained)
		return;
	node->drained = !node->drained;
	tell(nodes, node);
}

int node_label(struct nodes *nodes, struct node *node, const cJSON *labels,
	       struct error *err)
{
	cJSON *was = node->labels, *now = labels_merge(was, labels, err);

	if (!now)
		return -1;
	node->labels = now;
	if (node_save(nodes, node, err) < 0) {
		node->labels = was;
		cJSON_Delete(now);
		return -1;
	}
	cJSON_Delete(was);
	/* Without memory it has none: nothing runs where it should not. */
	free(node->label_text);
	node->label_text = labels_text(now);
	tell(nodes, node);
	return 0;
}

int node_remove(struct nodes *nodes, struct node *node, struct error *err)
{
	if (store_remove_node(nodes->store, node->name, err) < 0)
		return -1;
	node->removed = true;
	free(node->reason);
	node->reason = NULL;
	node->drain = node->drained = false;
	bind(node, "", NULL);
	cJSON_Delete(node->labels);
	node->labels = NULL;
	free(node->label_text);
	node->label_text = NULL;
	/* No job waits for it to come back. */
	node_slot(nodes, node)->devices = 0;
	node_refresh(nodes, node);
	return 0;
}

int node_check_machine(const struct node *node, const char *key,
		       const char *machine, struct error *err)
{
	if (!node->machine || strcmp(node->key, key) != 0 ||
	    (machine && !strcmp(node->machine, machine)))
		return 0;
	return error_set(err, EACCES,
			 "the key of %s is in use on another machine than this "
			 "one: make one of its own for this one, or 'regatta "
			 "node rekey %s'",
			 node->name, node->name);
}

bool node_taken(const struct node *node, const struct message_hello *hello)
{
	return node->peer && node->instance && hello->instance &&
	       strcmp(node->instance, hello->instance) != 0;
}

int node_join(struct nodes *nodes, struct node *node, struct wire_peer *peer,
	      const char *public, struct message_hello *hello,
	      struct error *err)
{
	owned_free char *vendor = NULL;
	owned_free char *address = NULL;
	owned_free char *instance = NULL;
	owned_free char *peers = NULL;

	if (!hello->vendor || !hello->address ||
	    hello->devices > SCHEDULER_DEVICES_MAX)
		return error_set(err, EPROTO,
				 "hello: an agent needs vendor, address and at "
				 "most %d devices",
				 SCHEDULER_DEVICES_MAX);
	if (!name_valid(hello->vendor) || !address_valid(hello->address))
		return error_set(err, EPROTO,
				 "hello: vendor '%.40s', address '%.80s': "
				 "expected a name, and a host's name or IP "
				 "address",
				 hello->vendor, hello->address);
	if (hello->machine && strlen(hello->machine) > MACHINE_MAX)
		return error_set(err, EPROTO,
				 "hello: machine: longer than %d bytes",
				 MACHINE_MAX);
	vendor = strdup(hello->vendor);
	address = strdup(hello->address);
	instance = hello->instance ? strdup(hello->instance) : NULL;
	peers = hello->peers ? strdup(hello->peers) : NULL;
	if (!vendor || !address || !hello->peers != !peers ||
	    (hello->instance && !instance))
		return error_nomem(err, "node");
	if (node_devices_take(node, &hello->inventory, &hello->inventory_count,
			      err) < 0)
		return error_prefix(err, "hello");
	free(node->instance);
	node->instance = take(instance);
	free(node->vendor);
	free(node->address);
	node->vendor = take(vendor);
	node->address = take(address);
	free(node->peers);
	node->peers = take(peers);
	node->gives_failed = node->takes_failed = 0;
	node->takes_again_ms = 0;
	cJSON_Delete(node->facts);
	node->facts = cJSON_Duplicate(hello->facts, true);
	node->peer = peer;
	bind(node, public, hello->machine);
	node->removed = false;
	node->reported = false;
	node->seen_ms = effects_wall_ms(nodes->effects);
	node->lost_since_ms = 0;
	node_slot(nodes, node)->devices = hello->devices;
	tell(nodes, node);
	return node_save(nodes, node, err);
}

int node_inventory(struct nodes *nodes, struct node *node,
		   struct message_inventory *message, struct error *err)
{
	if (node_devices_take(node, &message->inventory,
			      &message->inventory_count, err) < 0)
		return -1;
	node_refresh(nodes, node);
	return node_save(nodes, node, err);
}

void node_renew(struct node *node, const cJSON *facts)
{
	const cJSON *fact;

	cJSON_ArrayForEach(fact, facts)
	{
		if (!cJSON_IsObject(node->facts) ||
		    !strcmp(fact->string, "warnings"))
			continue;
		cJSON_DeleteItemFromObjectCaseSensitive(node->facts,
							fact->string);
		cJSON_AddItemToObject(node->facts, fact->string,
				      cJSON_Duplicate(fact, true));
	}
}

void node_leave(struct nodes *nodes, struct node *node)
{
	node->peer = NULL;
	node->reported = false;
	node->lost_since_ms = effects_mono_ms(nodes->effects);
	tell(nodes, node);
}

void node_refresh(struct nodes *nodes, struct node *node)
{
	struct slot *slot = node_slot(nodes, node);

	slot->labels = node->label_text;
	slot->vendor = node->vendor;
	node_devices_show(node, slot);
	slot->usable = node->peer && node->reported && !node->drained &&
		       !node->discards_count;
	nodes->changed = true;
	nodes->news->events = true;
}

void node_reported(struct nodes *nodes, struct node *node)
{
	node->reported = true;
	node_drop_discards(nodes, node);
}

void node_heard(struct nodes *nodes, struct node *node)
{
	node->seen_ms = effects_wall_ms(nodes->effects);
}

void nodes_forgive(struct nodes *nodes, int64_t deaf_ms)
{
	for (size_t i = 0; i < nodes->count; i++)
		if (!nodes->list[i]->peer)
			nodes->list[i]->lost_since_ms += deaf_ms;
}

void node_assign(struct nodes *nodes, struct task *task, struct node *node,
		 uint64_t devices)
{
	task->node = node;
	task->held = true;
	task->devices = devices;
	slot_take(node_slot(nodes, node), &task->job->shape, devices);
	TAILQ_INSERT_TAIL(&node->tasks, task, by_node);
}

void node_release(struct nodes *nodes, struct task *task)
{
	struct node *node = task->node;

	if (!task->held)
		return;
	task->held = false;
	TAILQ_REMOVE(&node->tasks, task, by_node);
	slot_release(node_slot(nodes, node), task->devices);
	nodes->changed = true;
}

static struct discard *find_discard(struct node *node, uint64_t job,
				    uint32_t attempt, uint32_t rank)
{
	for (size_t i = 0; i < node->discards_count; i++) {
		struct discard *discard = &node->discards[i];

		if (discard->job == job && discard->attempt == attempt &&
		    discard->rank == rank)
			return discard;
	}
	return NULL;
}

void node_add_discard(struct nodes *nodes, struct node *node, uint64_t job,
		      uint32_t attempt, uint32_t rank)
{
	size_t count = node->discards_count;
	struct discard *discards;

	if (find_discard(node, job, attempt, rank) || count >= DISCARDS_MAX)
		return;
	/* Room for powers of two, without a second counter. */
	if (!(count & (count - 1))) {
		size_t room = count ? count * 2 : 1;

		discards = realloc(node->discards, room * sizeof(*discards));
		if (!discards)
			return; /* it is told all the same */
		node->discards = discards;
	}
	node->discards[node->discards_count++] =
		(struct discard){ job, attempt, rank };
	node_refresh(nodes, node);
}

void node_drop_discard(struct nodes *nodes, struct node *node, uint64_t job,
		       uint32_t attempt, uint32_t rank)
{
	struct discard *discard = find_discard(node, job, attempt, rank);

	if (!discard)
		return;
	*discard = node->discards[--node->discards_count];
	node_refresh(nodes, node);
}

void node_drop_discards(struct nodes *nodes, struct node *node)
{
	node->discards_count = 0;
	node_refresh(nodes, node);
}

const char *node_state(const struct node *node)
{
	return !node->peer ? "down" : node->reported ? "up" : "joining";
}
