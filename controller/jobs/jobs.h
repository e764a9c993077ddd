/* jobs.h - the core of the controller: jobs and nodes, for the daemon that
 * drives it.
 *
 * Events go in by the calls here and by those of the modules (job.h, gang.h,
 * node.h); effects come out by effects.h. The driver owns the turn: it hands in
 * an event, commits the store where jobs_decide() reads what is queued, calls
 * that, commits, and only then sends what was queued. So whatever was told to
 * anybody is never forgotten, wherever the process is killed.
 */
#ifndef CONTROLLER_JOBS_JOBS_H
#define CONTROLLER_JOBS_JOBS_H

#include "controller/cluster/active_job.h"
#include "controller/cluster/effects.h"
#include "controller/cluster/changes.h"

struct catalog;
struct failure_patterns;
struct image_digests;
struct image_references;
struct key;
struct log_ingest;
struct nodes;
struct store;
struct sweep_logins;

/* What jobs are given; all is borrowed. */
struct jobs_config {
	const struct job_effects *effects;
	struct store *store;
	struct changes *changes;           /* what changed is added to it */
	const struct catalog *catalog;     /* NULL: nothing is measured */
	struct failure_patterns *failures; /* NULL: no reasons are read */
	const struct key *key; /* the controller's own; NULL: no logins */
	const struct key
		*former; /* the one before it; without a secret: none */
	uint64_t node_lost_ms;
};

/* Nothing is there yet. */
struct jobs *jobs_new(const struct jobs_config *config, struct error *err);
/* All that is in memory; nothing is stored. */
void jobs_free(struct jobs *jobs);
OWNED_POINTER(struct jobs, jobs_free)

/* The modules that the life of jobs is built on, for who asks them. */
struct jobs_parts {
	struct job_table *table;
	struct nodes *nodes;
	struct log_ingest *ingest;
	struct image_references *references;
	struct image_digests *digests;
	struct sweep_logins *logins;
};
struct jobs_parts jobs_parts(const struct jobs *jobs);

/* Take up what the store has: nodes, which are down until they say hello, and
 * the jobs that are not final.
 */
int jobs_load(struct jobs *jobs, struct error *err);

/* Before each commit: what ends with this turn. */
void jobs_settle(struct jobs *jobs);
/* Does jobs_decide() read what was queued in this turn? Then commit first. */
bool jobs_reads_rows(const struct jobs *jobs);
/* Jobs that wait are queued, queued ones get nodes. */
void jobs_decide(struct jobs *jobs);

/* A message of a node about its tasks, output or devices. false: it is about
 * something else, and nothing was done.
 */
bool jobs_message(struct jobs *jobs, struct node *node, enum message_type type,
		  void *body, const void *payload, size_t size);

/* The node's session is over. */
void jobs_node_gone(struct jobs *jobs, struct node *node);

/* Every half second: drains begin and end, nodes count as lost, and jobs that
 * could not go on, say because the disk was full, are looked at again.
 */
void jobs_tick(struct jobs *jobs);
/* Nobody was heard for so long: no node is to blame for its silence. */
void jobs_forgive(struct jobs *jobs, int64_t deaf_ms);

/* Read output on, as effects.h was asked for. */
void jobs_read(struct jobs *jobs);

/* The process is to end: nothing new is begun, every job is cancelled. */
void jobs_drain(struct jobs *jobs);
/* No job is active, and no node has anything left to remove. */
bool jobs_idle(const struct jobs *jobs);

#endif
