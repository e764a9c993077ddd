/* jobs.h - the core of the controller: nodes and jobs, as their driver sees
 * them.
 *
 * Events go in by the calls here and by those of the modules (job.h, gang.h,
 * node.h); effects come out by effects.h. The driver owns the turn: it hands in
 * an event, commits the store, calls jobs_decide(), commits again, and only
 * then sends what was queued. So whatever was told to anybody is never
 * forgotten, wherever the process is killed.
 */
#ifndef CONTROLLER_JOBS_JOBS_H
#define CONTROLLER_JOBS_JOBS_H

#include "controller/cluster/cluster.h"

/* Empty lists; cluster->store and the settings are the caller's. */
int jobs_init(struct cluster *cluster, struct error *err);
/* All that is in memory; nothing is stored. */
void jobs_clear(struct cluster *cluster);

/* Take up what the store has: nodes, which are down until they say hello, and
 * the jobs that are not final.
 */
int jobs_load(struct cluster *cluster, struct error *err);

/* Before each commit: what ends with this turn. */
void jobs_settle(struct cluster *cluster);
/* After a commit: jobs that wait are queued, queued ones get nodes. */
void jobs_decide(struct cluster *cluster);

/* A message of a node about its tasks, output or devices. false: it is about
 * something else, and nothing was done.
 */
bool jobs_message(struct cluster *cluster, struct node *node,
		  enum message_type type, void *body, const void *payload,
		  size_t size);

/* The node's session is over. */
void jobs_node_gone(struct cluster *cluster, struct node *node);

/* Every half second: drains begin and end, nodes count as lost, and jobs that
 * could not go on, say because the disk was full, are looked at again.
 */
void jobs_tick(struct cluster *cluster);
/* Nobody was heard for so long: no node is to blame for its silence. */
void jobs_forgive(struct cluster *cluster, int64_t deaf_ms);

/* No job is active, and no node has anything left to remove. */
bool jobs_idle(const struct cluster *cluster);

#endif
