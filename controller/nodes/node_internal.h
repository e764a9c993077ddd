/* node_internal.h - the fields of nodes and of their registry, for the files of
 * the module.
 *
 * node.c has the registry, node_settings.c drains, labels and stored rows, and
 * node_devices.c the devices.
 */
#pragma once

#include "controller/nodes/node.h"

#include <sys/queue.h>

struct node {
	struct node_view view;
	size_t index;           /* of node_at() and node_slots() */
	struct wire_peer *peer; /* NULL: not connected */
	char *instance;         /* of its last agent; NULL: unknown */
	bool reported;          /* its tasks, in this session */
	char *label_text;       /* of the slot */
	struct slot_device parts[SCHEDULER_DEVICES_MAX]; /* of the slot */
	int64_t lost_since_ms; /* monotonic; 0: connected */
	uint64_t lost_sweep;   /* of the task that was lost last; 0: none */
	struct message_discard *discards; /* tasks that it was told to discard,
					     and still has */
	size_t discards_count;
	TAILQ_HEAD(, task_hold) holds; /* of tasks of active jobs */
};

struct nodes {
	const struct job_effects *effects;
	struct store *store;
	struct changes *changes;
	struct node **list;
	struct slot *slots; /* of list[i], as the scheduler sees it */
	void *names;        /* tsearch(3), by name */
	size_t count;
	bool changed; /* since nodes_changed() */
};

/* Update the scheduler's view of the node. */
void node_refresh(struct nodes *nodes, struct node *node);

/* node_settings.c */

/* The key belongs to this machine from now on. Without memory it belongs to
 * none.
 */
void node_bind(struct node *node, const char *key, const char *machine);

/* Queue its row for the store. */
int node_save(struct nodes *nodes, const struct node *node, struct error *err);

/* Its state, or what people set, has changed: watchers are told. */
void node_tell(struct nodes *nodes, struct node *node);

/* node_devices.c: the devices of a node, as its agent reports them. */

/* Take over a list (moved: *count is 0 afterwards). *newly_lost: those that the
 * list before had, one bit each. An empty list: only the number of devices is
 * known. EPROTO: more than SCHEDULER_DEVICES_MAX, or an index that is not the
 * position in the list; nothing is changed then.
 */
int node_devices_take(struct node *node, struct device_info **list,
		      size_t *count, uint64_t *newly_lost, struct error *err);
void node_devices_clear(struct node *node);

/* The list as JSON, which the caller deletes; and the list from JSON. */
cJSON *node_devices_json(const struct node *node);
void node_devices_load(struct node *node, const cJSON *json);

/* Update the scheduler's view of the node's devices. */
void node_devices_show(const struct node *node, struct slot *slot);
