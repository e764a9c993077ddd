/* jobs.h - the core of the controller: jobs and nodes, for the daemon that
 * drives it.
 *
 * Events come in through these functions and those of job.h, gang.h and node.h;
 * effects go out through effects.h. The driver runs the turns. In a turn it
 * passes an event in, commits the store if jobs_reads_rows() says so, calls
 * jobs_decide(), commits, and only then sends the queued messages. So
 * everything that was sent to anyone is in the store, whenever the process is
 * killed.
 */
#pragma once

#include "controller/cluster/active_job.h"
#include "controller/cluster/effects.h"
#include "controller/cluster/changes.h"

struct catalog;
struct failure_patterns;
struct key;
struct log_ingest;
struct nodes;
struct store;
struct sweep_images;
struct sweep_logins;
struct wire_peer;

/* All borrowed. */
struct jobs_config {
	const struct job_effects *effects;
	struct store *store;
	struct changes *changes;           /* changes are marked there */
	const struct catalog *catalog;     /* NULL: nothing is measured */
	struct failure_patterns *failures; /* NULL: no reasons are read */
	const struct key *key;    /* the controller's own; NULL: no logins */
	const struct key *former; /* the previous one; without a secret: none */
	uint64_t node_lost_ms;    /* disconnected for so long, a node is lost */
	bool pods; /* a job runs only on nodes with the label job=NUMBER */
};

/* Empty; jobs_load() follows. */
struct jobs *jobs_new(const struct jobs_config *config, struct error *err);
/* Frees memory only; stores nothing. */
void jobs_free(struct jobs *jobs);
OWNED_POINTER(struct jobs, jobs_free)

/* The modules that it uses, borrowed. */
struct jobs_parts {
	struct job_table *table;
	struct nodes *nodes;
	struct log_ingest *ingest;
	struct sweep_images *images;
	struct sweep_logins *logins;
};
struct jobs_parts jobs_parts(const struct jobs *jobs);

/* Load from the store the nodes, which are down until they say hello, and the
 * jobs that are not final.
 */
int jobs_load(struct jobs *jobs, struct error *err);

/* Set job_note(); "": none. ENOENT: no such job is queued. */
int jobs_note(struct jobs *jobs, uint64_t job, const char *text,
	      struct error *err);

/* Before each commit: complete what belongs to this turn. */
void jobs_settle(struct jobs *jobs);
/* Does jobs_decide() read rows that were queued in this turn? Then commit
 * first.
 */
bool jobs_reads_rows(const struct jobs *jobs);
/* Check dependencies, and run the scheduler. */
void jobs_decide(struct jobs *jobs);

/* A message of a node about its tasks, output or devices. False: it is another
 * message, and nothing was done.
 */
bool jobs_message(struct jobs *jobs, struct node *node, enum message_type type,
		  void *body, const void *payload, size_t size);

/* A session of the node with that key begins: take the data of hello (its
 * inventory is moved). Errors as node_join().
 */
int jobs_node_joins(struct jobs *jobs, struct node *node,
		    struct wire_peer *peer, const char *public,
		    struct message_hello *hello, struct error *err);

/* The node's session is over. */
void jobs_node_gone(struct jobs *jobs, struct node *node);

/* Call it every half second: drains begin and end, nodes become lost, jobs
 * reach their time limit, and those that could not continue, for example
 * because the disk was full, are tried again.
 */
void jobs_tick(struct jobs *jobs);
/* The process received no message for so long. Call it before the next
 * jobs_tick(): no node is lost and no job is late because of that.
 */
void jobs_extend_deadlines(struct jobs *jobs, int64_t stopped_ms);

/* A person has retried the sweep: if it was paused (failure_budget.h), its
 * queued jobs go on.
 */
int jobs_resume_sweep(struct jobs *jobs, uint64_t sweep, struct error *err);

/* Continue to read output; effects.h: read_soon. */
void jobs_read(struct jobs *jobs);

/* Files of nodes arrived, or cannot be had; effects.h: fetch. */
void jobs_check_files(struct jobs *jobs);

/* Before the process ends: start nothing new, cancel every job. */
void jobs_drain(struct jobs *jobs);
/* Is no job active, and has no node anything left to discard? */
bool jobs_idle(const struct jobs *jobs);
