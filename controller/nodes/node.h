/* node.h - the registry of nodes: sessions, devices, drains and labels.
 */
#ifndef CONTROLLER_NODES_NODE_H
#define CONTROLLER_NODES_NODE_H

#include "controller/cluster/effects.h"
#include "controller/cluster/changes.h"
#include "controller/scheduler/scheduler.h"
#include "protocol/message/device_info.h"
#include "protocol/wire/key.h"

#define NODES_MAX 16384

struct store;
struct task;
struct wire_peer;

/* A machine with an agent. */
struct node;

/* What is known of a node. The texts and lists are the node's own. */
struct node_view {
	char name[KEY_NAME_SIZE];
	char *vendor; /* "" before the first hello */
	char *address;
	char *peers;             /* where other nodes get contents of it; NULL:
				    nowhere */
	char key[KEY_TEXT_SIZE]; /* public, that its agent came with last */
	char *machine;           /* and from where; NULL: not told */
	bool removed; /* it may not come back under this name's old key */
	bool drained; /* it gets no new task now: */
	bool drain;   /* somebody said so, for this time, wall clock: */
	int64_t drain_from_ms, drain_until_ms; /* 0: for good */
	char *reason;                          /* or NULL */
	cJSON *labels; /* an object of texts; NULL: none */
	cJSON *facts;
	struct device_info *inventory; /* by index; none: not told */
	size_t inventory_count;
	int64_t seen_ms;  /* wall clock of its last message */
	int64_t until_ms; /* wall clock, when it begins to leave; 0: never */
	bool leaving;     /* it said that it takes no new task */
};
const struct node_view *node_view(const struct node *node);
const char *node_name(const struct node *node);

/* Its session; NULL: out of reach. */
struct wire_peer *node_peer(const struct node *node);
/* Is it in reach, and did it say what it has in this session? */
bool node_up(const struct node *node);
/* Since when it is out of reach, monotonic; 0: it is in reach. */
int64_t node_lost_since_ms(const struct node *node);
/* Does it still have tasks that it was told to discard? */
bool node_discards(const struct node *node);

/* The tasks of active jobs that hold devices of it; NULL: no more. */
struct task *node_first_task(const struct node *node);
struct task *node_next_task(struct task *task);

/* The registry of all; what it is given is borrowed. */
struct nodes;
struct nodes *nodes_new(const struct job_effects *effects, struct store *store,
			struct changes *changes, struct error *err);
void nodes_free(struct nodes *nodes);

/* All that are known, numbered in the order in which they came; none goes. */
size_t node_count(const struct nodes *nodes);
struct node *node_at(const struct nodes *nodes, size_t index);
size_t node_index(const struct node *node);
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

/* How long the slots of those that leave stay yet, as of now. */
void nodes_pass_time(struct nodes *nodes);

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
/* Is its time over, so that it may be gone for good? */
bool node_is_over(const struct node *node, int64_t now_ms);
/* The session is over. */
void node_leave(struct nodes *nodes, struct node *node);

/* It said what it has, in this session, and when it leaves; something was heard
 * of it.
 */
void node_reported(struct nodes *nodes, struct node *node,
		   const struct message_report *report);
void node_heard(struct nodes *nodes, struct node *node);
/* Nobody was heard for so long: no node is to blame for its silence. */
void nodes_forgive(struct nodes *nodes, int64_t deaf_ms);

/* The task holds these devices of the node; and no longer, if it does. */
void node_assign(struct nodes *nodes, struct task *task, struct node *node,
		 uint64_t devices);
void node_release(struct nodes *nodes, struct task *task);

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

#endif
