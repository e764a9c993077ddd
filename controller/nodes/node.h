/* node.h - the registry of nodes: sessions, devices, drains and labels.
 */
#pragma once

#include "controller/cluster/effects.h"
#include "controller/cluster/changes.h"
#include "controller/nodes/node_health.h"
#include "controller/scheduler/scheduler.h"
#include "protocol/message/device_info.h"
#include "protocol/wire/key.h"

#define NODES_MAX 16384

struct store;
struct task;
struct wire_peer;

/* A machine with an agent. */
struct node;

/* The data of a node; borrowed. */
struct node_view {
	char name[KEY_NAME_SIZE];
	char *vendor; /* "" before the first hello */
	char *address;
	char *peers;             /* its endpoint for other nodes, or NULL */
	char key[KEY_TEXT_SIZE]; /* public key of its last session */
	char *machine;           /* that this key belongs to; NULL: unknown */
	bool removed; /* it has no row; with a new key it may join again */
	bool drained; /* it gets no new task at present */
	bool drain;   /* a drain is set, for this time by the wall clock: */
	int64_t drain_from_ms, drain_until_ms; /* 0: for good */
	char *reason;                          /* of the drain, or NULL */
	struct node_health health;
	struct engine_away engine_away; /* text NULL: its engine answers */
	cJSON *labels;                  /* an object of texts; NULL: none */
	cJSON *facts;
	struct device_info *inventory; /* by index; empty: unknown */
	size_t inventory_count;
	int64_t seen_ms;  /* wall clock of its last message */
	int64_t until_ms; /* wall clock, when it begins to leave; 0: never */
	bool leaving;     /* its agent takes no new task */
};
const struct node_view *node_view(const struct node *node);
const char *node_name(const struct node *node);

/* Its session; NULL: not connected. */
struct wire_peer *node_peer(const struct node *node);
/* Is it connected, and has it reported its tasks in this session? */
bool node_up(const struct node *node);
/* Since when it is not connected, monotonic; 0: it is. */
int64_t node_lost_since_ms(const struct node *node);
/* Does it still have tasks that it was told to discard? */
bool node_discards(const struct node *node);

/* The tasks of active jobs that hold its devices; NULL: no more. */
struct task *node_first_task(const struct node *node);
struct task *node_next_task(struct task *task);

/* The registry of all nodes; the arguments are borrowed. */
struct nodes;
struct nodes *nodes_new(const struct job_effects *effects, struct store *store,
			struct changes *changes, struct error *err);
void nodes_free(struct nodes *nodes);

/* All known nodes, numbered from 0 in order of their first session. None is
 * ever removed from the list.
 */
size_t node_count(const struct nodes *nodes);
struct node *node_at(const struct nodes *nodes, size_t index);
size_t node_index(const struct node *node);
/* The scheduler's view of them, by the same numbers; valid until the next
 * node_get().
 */
struct slot *node_slots(const struct nodes *nodes);
struct slot *node_slot(const struct nodes *nodes, const struct node *node);

/* By name; NULL: not known. */
struct node *node_find(const struct nodes *nodes, const char *name);

/* ENOENT: there is no such node; the text names some that there are. */
int node_unknown(const struct nodes *nodes, const char *name,
		 struct error *err);

/* Find or add. NULL with *err set: NODES_MAX, ENOMEM. */
struct node *node_get(struct nodes *nodes, const char *name, struct error *err);

/* Has a node changed or become free since the last call? Then waiting jobs may
 * fit.
 */
bool nodes_changed(struct nodes *nodes);

/* Load the nodes from the store; they are down until they say hello. */
int node_load(struct nodes *nodes, struct error *err);

/* May an agent with this public key be on this machine (NULL: unknown)? A key
 * belongs to the machine that it first came from. EACCES.
 */
int node_check_machine(const struct node *node, const char *key,
		       const char *machine, struct error *err);

/* A session with that key begins: take the data of hello (its inventory is
 * moved). *lost: devices that the node had before, one bit each.
 */
int node_join(struct nodes *nodes, struct node *node, struct wire_peer *peer,
	      const char *public, struct message_hello *hello, uint64_t *lost,
	      struct error *err);
/* Its devices or facts changed, or its engine went away or came back; both are
 * moved.
 * *lost as above.
 */
int node_inventory(struct nodes *nodes, struct node *node,
		   struct message_inventory *message, uint64_t *lost,
		   struct error *err);
/* Does another agent have a session for the node? Two agents with one key would
 * take each other's jobs away.
 */
bool node_taken(const struct node *node, const struct message_hello *hello);
/* Update the node's facts with those of a task's preflight. */
void node_renew(struct node *node, const cJSON *facts);
/* It gets no new task from from_ms on until until_ms (0: for good); reason may
 * be NULL. node_undrain() ends that. EINVAL: until_ms is past, or before
 * from_ms.
 */
int node_drain(struct nodes *nodes, struct node *node, int64_t from_ms,
	       int64_t until_ms, const char *reason, struct error *err);
int node_undrain(struct nodes *nodes, struct node *node, struct error *err);
/* Begin or end its drain, and end its pause, when the time has come. */
void node_settle(struct nodes *nodes, struct node *node, int64_t now_ms);
/* A task of the sweep was lost there. True: its engine is away, or a task of
 * another sweep was lost there before, and none ended by itself since. Not
 * stored.
 */
bool node_lost_task(struct node *node, uint64_t sweep);
/* node_health.h, stored: a failure there is counted, or was the job's own; a
 * task was started, or (ended) ended by itself. An undrain clears all. What
 * cannot be stored is not counted.
 */
void node_failed(struct nodes *nodes, struct node *node, enum failure failure,
		 const char *text);
void node_forgiven(struct nodes *nodes, struct node *node,
		   enum failure failure);
void node_succeeded(struct nodes *nodes, struct node *node, bool ended);
/* Set the labels that are texts, remove those that are null. EINVAL: a label is
 * not valid.
 */
int node_label(struct nodes *nodes, struct node *node, const cJSON *labels,
	       struct error *err);
/* As ACCEPTED_LABEL (result.h): when it was found not to be good. */
#define REJECTED_LABEL "rejected"
/* The time of such a label, in ms; 0: there is none. */
int64_t node_label_ms(const struct node *node, const char *label);
/* Its key is revoked: it is hidden until a node of its name joins again. */
int node_remove(struct nodes *nodes, struct node *node, struct error *err);
/* Has its allocation ended, so that it may never come back? */
bool node_is_over(const struct node *node, int64_t now_ms);
/* The session has ended. */
void node_leave(struct nodes *nodes, struct node *node);

/* It reported its tasks, and when it leaves; it sent any message. */
void node_reported(struct nodes *nodes, struct node *node,
		   const struct message_report *report);
void node_heard(struct nodes *nodes, struct node *node);
/* The controller itself was stopped for so long: no node counts as silent for
 * that time.
 */
void nodes_extend_deadlines(struct nodes *nodes, int64_t stopped_ms);

/* The task holds these devices of the node; it releases them, if it holds any.
 */
void node_assign(struct nodes *nodes, struct task *task, struct node *node,
		 uint64_t devices);
void node_release(struct nodes *nodes, struct task *task);

/* The node was told to discard a task of a job that is not active. It gets no
 * new task until it reports that the task is discarded. Adding one twice is the
 * same as once.
 */
void node_add_discard(struct nodes *nodes, struct node *node,
		      const struct message_discard *task);
void node_drop_discard(struct nodes *nodes, struct node *node,
		       const struct message_discard *task);
void node_drop_discards(struct nodes *nodes, struct node *node);

/* "up", "joining", "down". */
const char *node_state(const struct node *node);
