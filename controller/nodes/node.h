/* node.h - the registry of nodes: who is there, what it has, since when not.
 */
#ifndef CONTROLLER_NODES_NODE_H
#define CONTROLLER_NODES_NODE_H

#include "controller/cluster/effects.h"
#include "controller/cluster/news.h"
#include "controller/scheduler/scheduler.h"
#include "protocol/blob/blob_store.h"
#include "protocol/message/device_info.h"
#include "protocol/wire/key.h"

#include <sys/queue.h>

#define NODES_MAX 16384

struct store;
struct task;
struct wire_peer;

/* A task that a node was told to discard, and still has. */
struct discard {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank;
};

/* A machine with an agent. Its fields are read by all, and changed by the
 * calls here alone, but for those that name another owner.
 */
struct node {
	size_t index; /* of node_at() and node_slots() */
	char name[KEY_NAME_SIZE];
	struct wire_peer *peer; /* NULL: out of reach */
	char *instance; /* of the agent that spoke last; NULL: not told */
	bool reported;  /* it said what it has, in this session */
	bool removed;   /* it may not come back under this name's old key */
	char key[KEY_TEXT_SIZE]; /* public, that its agent came with last */
	char *machine;           /* and from where; NULL: not told */
	bool drained;            /* it gets no new task now: */
	bool drain; /* somebody said so, for this time, wall clock: */
	int64_t drain_from_ms, drain_until_ms; /* 0: for good */
	char *reason;                          /* or NULL */
	char *label_text;                      /* of the slot */
	cJSON *labels; /* an object of texts; NULL: none */
	char *vendor;  /* "" before the first hello */
	char *address;
	char *peers; /* where other nodes get contents of it; NULL: nowhere */
	/* Of the blob service: */
	unsigned int
		gives_failed; /* contents that others asked of it in vain */
	unsigned int takes_failed; /* and it of others, in a row */
	int64_t takes_again_ms;    /* monotonic; until then not from others */
	char awaits[CONTENT_HASH_SIZE]; /* asked for, and not here yet */
	cJSON *facts;
	struct device_info *inventory; /* by index; none: not told */
	size_t inventory_count;
	struct slot_device parts[SCHEDULER_DEVICES_MAX]; /* of the slot */
	int64_t seen_ms;          /* wall clock of its last message */
	int64_t lost_since_ms;    /* monotonic; 0: in reach */
	struct discard *discards; /* no new task until they are done */
	size_t discards_count;
	TAILQ_HEAD(, task) tasks; /* of active jobs */
};

/* The registry of all; what it is given is borrowed. */
struct nodes;
struct nodes *nodes_new(const struct job_effects *effects, struct store *store,
			struct news *news, struct error *err);
void nodes_free(struct nodes *nodes);

/* All that are known, numbered in the order in which they came; none goes. */
size_t node_count(const struct nodes *nodes);
struct node *node_at(const struct nodes *nodes, size_t index);
/* As the scheduler sees them, by the same numbers; until the next node_get().
 */
struct slot *node_slots(const struct nodes *nodes);
struct slot *node_slot(const struct nodes *nodes, const struct node *node);

/* By name; NULL: not known. */
struct node *node_find(const struct nodes *nodes, const char *name);

/* Find or add. NULL with *err set: NODES_MAX, ENOMEM. */
struct node *node_get(struct nodes *nodes, const char *name, struct error *err);

/* Did a node change, or give something back, since this was asked last? Then
 * jobs that wait may find a place.
 */
bool nodes_changed(struct nodes *nodes);

/* The nodes that the store knows: down until they say hello. */
int node_load(struct nodes *nodes, struct error *err);

/* May its agent, with this public key, be on this machine (NULL: it did not
 * tell)? The key of a node is that of the machine that it came from first.
 * EACCES.
 */
int node_check_machine(const struct node *node, const char *key,
		       const char *machine, struct error *err);

/* A session begins, of the owner of that key: take over what hello says (its
 * inventory is moved).
 */
int node_join(struct nodes *nodes, struct node *node, struct wire_peer *peer,
	      const char *public, struct message_hello *hello,
	      struct error *err);
/* Its devices changed; the list is moved. */
int node_inventory(struct nodes *nodes, struct node *node,
		   struct message_inventory *message, struct error *err);
/* Does an agent speak for the node already that is another than this one, if it
 * is still there? Two with one key would take each other's jobs away.
 */
bool node_taken(const struct node *node, const struct message_hello *hello);
/* What a task told of its node when it was checked is what the node is now. */
void node_renew(struct node *node, const cJSON *facts);
/* From from_ms on until until_ms (0: for good) it gets no new task; reason may
 * be NULL. Or no longer so. EINVAL: until_ms is past, or before from_ms.
 */
int node_drain(struct nodes *nodes, struct node *node, int64_t from_ms,
	       int64_t until_ms, const char *reason, struct error *err);
int node_undrain(struct nodes *nodes, struct node *node, struct error *err);
/* Begin and end what was said of a time, when it has come. */
void node_settle_drain(struct nodes *nodes, struct node *node, int64_t now_ms);
/* Texts of labels are set, nulls remove. EINVAL: no such label may be. */
int node_label(struct nodes *nodes, struct node *node, const cJSON *labels,
	       struct error *err);
/* Its key is revoked: it is no node any more, until one of its name joins. */
int node_remove(struct nodes *nodes, struct node *node, struct error *err);
/* The session is over. */
void node_leave(struct nodes *nodes, struct node *node);

/* It said what it has, in this session; something was heard of it. */
void node_reported(struct nodes *nodes, struct node *node);
void node_heard(struct nodes *nodes, struct node *node);
/* Nobody was heard for so long: no node is to blame for its silence. */
void nodes_forgive(struct nodes *nodes, int64_t deaf_ms);

/* The task holds these devices of the node; and no longer, if it does. */
void node_assign(struct nodes *nodes, struct task *task, struct node *node,
		 uint64_t devices);
void node_release(struct nodes *nodes, struct task *task);

/* Bring the scheduler's view of the node up to date. */
void node_refresh(struct nodes *nodes, struct node *node);

/* The node was told to discard a task of no active job; until it says that it
 * is gone, it gets no new one. Twice the same is once.
 */
void node_add_discard(struct nodes *nodes, struct node *node, uint64_t job,
		      uint32_t attempt, uint32_t rank);
void node_drop_discard(struct nodes *nodes, struct node *node, uint64_t job,
		       uint32_t attempt, uint32_t rank);
void node_drop_discards(struct nodes *nodes, struct node *node);

/* "up", "joining", "down". */
const char *node_state(const struct node *node);

/* node_devices.c: the devices of a node, as its agent tells them. */

/* Take over a list (moved: *count is 0 afterwards). Jobs that hold a device
 * which is lost since the last one get an event that says so; they go on.
 * EPROTO: more than SCHEDULER_DEVICES_MAX, or an index that is not its place;
 * nothing is changed then. An empty list is "not told": nothing is known of the
 * devices but their number.
 */
int node_devices_take(struct node *node, struct device_info **list,
		      size_t *count, struct error *err);
void node_devices_clear(struct node *node);

/* The list as JSON, and from it; the caller deletes. */
cJSON *node_devices_json(const struct node *node);
void node_devices_load(struct node *node, const cJSON *json);

/* Bring the scheduler's view of the node's devices up to date. */
void node_devices_show(const struct node *node, struct slot *slot);

#endif
