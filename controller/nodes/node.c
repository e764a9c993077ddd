/* node.c - the registry of nodes: sessions, devices, drains and labels.
 */
#include "controller/nodes/node_internal.h"

#include "controller/cluster/active_job.h"
#include "protocol/base/list.h"
#include "protocol/base/strings.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#define DISCARDS_MAX 4096 /* of one node, that are waited for */
#define MACHINE_MAX 64    /* bytes of a machine's id */

struct nodes *nodes_new(const struct job_effects *effects, struct store *store,
			struct changes *changes, struct error *err)
{
	struct nodes *nodes = calloc(1, sizeof(*nodes));

	if (!nodes)
		return error_null(error_nomem(err, "nodes"));
	nodes->effects = effects;
	nodes->store = store;
	nodes->changes = changes;
	return nodes;
}

const struct node_view *node_view(const struct node *node)
{
	return &node->view;
}

const char *node_name(const struct node *node)
{
	return node->view.name;
}

struct wire_peer *node_peer(const struct node *node)
{
	return node->peer;
}

bool node_up(const struct node *node)
{
	return node->peer && node->reported;
}

int64_t node_lost_since_ms(const struct node *node)
{
	return node->lost_since_ms;
}

bool node_discards(const struct node *node)
{
	return node->discards_count;
}

size_t node_index(const struct node *node)
{
	return node->index;
}

struct task *node_first_task(const struct node *node)
{
	struct task_hold *first = TAILQ_FIRST(&node->holds);

	return first ? first->task : NULL;
}

struct task *node_next_task(struct task *task)
{
	struct task_hold *next = TAILQ_NEXT(task_hold(task), by_node);

	return next ? next->task : NULL;
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

static int nodes_compare(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return strcmp(x->view.name, y->view.name);
}

static int compare_name(const void *name, const void *node)
{
	return strcmp(name, ((const struct node *)node)->view.name);
}

struct node *node_find(const struct nodes *nodes, const char *name)
{
	void *found = tfind(name, &nodes->names, compare_name);

	return found ? *(struct node **)found : NULL;
}

int node_unknown(const struct nodes *nodes, const char *name, struct error *err)
{
	char known[120] = "";
	size_t more = 0;

	for (size_t i = 0; i < node_count(nodes); i++) {
		const struct node *node = node_at(nodes, i);
		size_t used = strlen(known);

		if (node_view(node)->removed)
			continue;
		if (used + strlen(node_name(node)) + 2 >= sizeof(known))
			more++;
		else
			text_append(known, sizeof(known), "%s%s",
				    used ? ", " : "", node_name(node));
	}
	if (!*known)
		return error_set(err, ENOENT, "no node '%.64s'; none is known",
				 name);
	if (more)
		return error_set(err, ENOENT,
				 "no node '%.64s'; known are %s and %zu more",
				 name, known, more);
	return error_set(err, ENOENT, "no node '%.64s'; known are %s", name,
			 known);
}

static void node_free(struct node *node)
{
	if (!node)
		return;
	free(node->view.vendor);
	free(node->view.address);
	free(node->view.peers);
	free(node->instance);
	free(node->discards);
	free(node->view.reason);
	codec_clear(&node_health_schema, &node->view.health);
	codec_clear(&engine_away_schema, &node->view.engine_away);
	free(node->label_text);
	free(node->view.machine);
	node_devices_clear(node);
	cJSON_Delete(node->view.facts);
	cJSON_Delete(node->view.labels);
	free(node);
}
OWNED_POINTER(struct node, node_free)

static int nodes_grow(struct nodes *nodes)
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
	if (nodes->count >= NODES_MAX)
		return error_null(error_set(err, ENOSPC, "more than %d nodes",
					    NODES_MAX));
	node = calloc(1, sizeof(*node));
	if (!node || !(node->view.vendor = strdup("")) ||
	    !(node->view.address = strdup("")) || nodes_grow(nodes) < 0)
		return error_null(error_nomem(err, "node"));
	strncpy(node->view.name, name, sizeof(node->view.name) - 1);
	if (!tsearch(node, &nodes->names, nodes_compare))
		return error_null(error_nomem(err, "node"));
	TAILQ_INIT(&node->holds);
	/* Until its row is read, or it joins: a job may name one of old. */
	node->view.removed = true;
	node->lost_since_ms = effects_mono_ms(nodes->effects);
	node->index = nodes->count++;
	nodes->list[node->index] = node;
	nodes->slots[node->index] =
		(struct slot){ .vendor = node->view.vendor };
	return take(node);
}

void nodes_free(struct nodes *nodes)
{
	if (!nodes)
		return;
	for (size_t i = 0; i < nodes->count; i++) {
		tdelete(nodes->list[i], &nodes->names, nodes_compare);
		node_free(nodes->list[i]);
	}
	free(nodes->list);
	free(nodes->slots);
	free(nodes);
}

int node_check_machine(const struct node *node, const char *key,
		       const char *machine, struct error *err)
{
	if (!node->view.machine || strcmp(node->view.key, key) != 0 ||
	    (machine && !strcmp(node->view.machine, machine)))
		return 0;
	return error_set(err, EACCES,
			 "the key of %s is in use on another machine; create a "
			 "new key for this machine, or run 'regatta node rekey "
			 "%s'",
			 node->view.name, node->view.name);
}

bool node_taken(const struct node *node, const struct message_hello *hello)
{
	return node->peer && node->instance && hello->instance &&
	       strcmp(node->instance, hello->instance) != 0;
}

/* Other agents connect to it: it is a port of the address that the node is
 * known by, as agents make it.
 */
static bool node_peers_valid(const char *peers, const char *address)
{
	const char *open = strchr(address, ':') ? "[" : "";
	unsigned int port = 0;
	char head[300];
	size_t size;
	int end = 0;

	snprintf(head, sizeof(head), "tcp://%s%s%s:", open, address,
		 *open ? "]" : "");
	size = strlen(head);
	return !strncmp(peers, head, size) && peers[size] >= '1' &&
	       peers[size] <= '9' &&
	       sscanf(peers + size, "%5u%n", &port, &end) == 1 &&
	       !peers[size + (size_t)end] && port <= UINT16_MAX;
}

static int node_check_hello(const struct message_hello *hello,
			    struct error *err)
{
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
	if (hello->peers && !node_peers_valid(hello->peers, hello->address))
		return error_set(err, EPROTO,
				 "hello: peers '%.80s': expected a port of "
				 "%.80s",
				 hello->peers, hello->address);
	if (hello->machine && strlen(hello->machine) > MACHINE_MAX)
		return error_set(err, EPROTO,
				 "hello: machine: longer than %d bytes",
				 MACHINE_MAX);
	return 0;
}

int node_join(struct nodes *nodes, struct node *node, struct wire_peer *peer,
	      const char *public, struct message_hello *hello, uint64_t *lost,
	      struct error *err)
{
	owned_free char *vendor = NULL;
	owned_free char *address = NULL;
	owned_free char *instance = NULL;
	owned_free char *peers = NULL;

	if (node_check_hello(hello, err) < 0)
		return -1;
	vendor = strdup(hello->vendor);
	address = strdup(hello->address);
	instance = hello->instance ? strdup(hello->instance) : NULL;
	peers = hello->peers ? strdup(hello->peers) : NULL;
	if (!vendor || !address || !hello->peers != !peers ||
	    (hello->instance && !instance))
		return error_nomem(err, "node");
	if (node_devices_take(node, &hello->inventory, &hello->inventory_count,
			      lost, err) < 0)
		return error_prefix(err, "hello");
	free(node->instance);
	node->instance = take(instance);
	free(node->view.vendor);
	free(node->view.address);
	node->view.vendor = take(vendor);
	node->view.address = take(address);
	free(node->view.peers);
	node->view.peers = take(peers);
	cJSON_Delete(node->view.facts);
	node->view.facts = cJSON_Duplicate(hello->facts, true);
	node->peer = peer;
	node_bind(node, public, hello->machine);
	node->view.removed = false;
	node->reported = node->view.leaving = false;
	codec_clear(&engine_away_schema, &node->view.engine_away);
	node->view.seen_ms = effects_wall_ms(nodes->effects);
	node->lost_since_ms = 0;
	node_slot(nodes, node)->devices = hello->devices;
	node_tell(nodes, node);
	return node_save(nodes, node, err);
}

static void node_keep_engine(struct nodes *nodes, struct node *node,
			     const char *why)
{
	struct engine_away *away = &node->view.engine_away;

	if (why && !away->text)
		away->since_ms = effects_wall_ms(nodes->effects);
	string_set(&away->text, why, NULL);
}

int node_inventory(struct nodes *nodes, struct node *node,
		   struct message_inventory *message, uint64_t *lost,
		   struct error *err)
{
	if (node_devices_take(node, &message->inventory,
			      &message->inventory_count, lost, err) < 0)
		return -1;
	if (message->facts) {
		cJSON_Delete(node->view.facts);
		node->view.facts = take(message->facts);
	}
	node_keep_engine(nodes, node, message->engine);
	node_tell(nodes, node);
	return node_save(nodes, node, err);
}

void node_renew(struct node *node, const cJSON *facts)
{
	const cJSON *fact;

	cJSON_ArrayForEach(fact, facts) {
		if (!cJSON_IsObject(node->view.facts) ||
		    !strcmp(fact->string, "warnings"))
			continue;
		cJSON_DeleteItemFromObjectCaseSensitive(node->view.facts,
							fact->string);
		cJSON_AddItemToObject(node->view.facts, fact->string,
				      cJSON_Duplicate(fact, true));
	}
}

void node_leave(struct nodes *nodes, struct node *node)
{
	node->peer = NULL;
	node->reported = false;
	node->lost_since_ms = effects_mono_ms(nodes->effects);
	node_tell(nodes, node);
}

void node_refresh(struct nodes *nodes, struct node *node)
{
	struct slot *slot = node_slot(nodes, node);
	bool up = node_up(node) && !node->view.leaving && !node->view.drained &&
		  !node->view.engine_away.text;

	slot->name = node->view.name;
	slot->labels = node->label_text;
	slot->vendor = node->view.vendor;
	node_devices_show(node, slot);
	slot->usable = up && !node->discards_count;
	slot->cleaning = up && node->discards_count;
	slot->until_ms = node->view.until_ms;
	slot->single = node->view.health.probation_ms;
	slot->paused = node_health_pauses(&node->view.health,
					  effects_wall_ms(nodes->effects));
	nodes->changed = true;
	nodes->changes->events = true;
}

void node_reported(struct nodes *nodes, struct node *node,
		   const struct message_report *report)
{
	int64_t was_ms = node->view.until_ms;

	node->reported = true;
	node->view.leaving = report->leaving;
	node->view.until_ms = (int64_t)report->until_ms;
	/* A controller that starts later knows why the node is away. */
	if (node->view.until_ms != was_ms && !node->view.removed)
		node_save(nodes, node, NULL);
	node_drop_discards(nodes, node);
}

bool node_is_over(const struct node *node, int64_t now_ms)
{
	return node->view.leaving ||
	       (node->view.until_ms && now_ms >= node->view.until_ms);
}

void node_heard(struct nodes *nodes, struct node *node)
{
	node->view.seen_ms = effects_wall_ms(nodes->effects);
}

void nodes_extend_deadlines(struct nodes *nodes, int64_t stopped_ms)
{
	for (size_t i = 0; i < nodes->count; i++)
		if (!nodes->list[i]->peer)
			nodes->list[i]->lost_since_ms += stopped_ms;
}

void node_assign(struct nodes *nodes, struct task *task, struct node *node,
		 uint64_t devices)
{
	struct task_hold *hold = task_hold(task);

	*hold = (struct task_hold){
		.task = task,
		.node = node,
		.devices = devices,
		.held = true,
	};
	slot_take(node_slot(nodes, node), job_shape(task_job(task)), devices);
	TAILQ_INSERT_TAIL(&node->holds, hold, by_node);
}

void node_release(struct nodes *nodes, struct task *task)
{
	struct task_hold *hold = task_hold(task);

	if (!hold->held)
		return;
	hold->held = false;
	TAILQ_REMOVE(&hold->node->holds, hold, by_node);
	slot_release(node_slot(nodes, hold->node), hold->devices);
	nodes->changed = true;
}

static struct message_discard *find_discard(struct node *node,
					    const struct message_discard *task)
{
	for (size_t i = 0; i < node->discards_count; i++) {
		struct message_discard *discard = &node->discards[i];

		if (discard->job == task->job &&
		    discard->attempt == task->attempt &&
		    discard->rank == task->rank)
			return discard;
	}
	return NULL;
}

void node_add_discard(struct nodes *nodes, struct node *node,
		      const struct message_discard *task)
{
	struct message_discard *added;

	if (find_discard(node, task) || node->discards_count >= DISCARDS_MAX)
		return;
	added = LIST_ADD(node->discards, node->discards_count, NULL);
	if (!added)
		return; /* it is sent the command all the same */
	*added = *task;
	node_refresh(nodes, node);
}

void node_drop_discard(struct nodes *nodes, struct node *node,
		       const struct message_discard *task)
{
	struct message_discard *discard = find_discard(node, task);

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
