/* preload.h - what jobs to come need is brought to nodes while others run.
 *
 * Every half second it is looked who would run where if all that runs ended
 * (scheduler_forecast()), and who goes after a job that runs, on its nodes. A
 * node brings what these need only while every job on it allows that (job_spec.
 * preload), and while none of them is still being prepared: a job's own image
 * goes before. A node without a job brings nothing unless one of the nodes that
 * wait with it does. Images come at no more than the smallest rate of the jobs
 * there. Nodes are told all that is wanted of them when that
 * changes, and in each session anew; nothing of it is kept.
 *
 * Jobs beside which something came get an event, and their result a warning.
 */
#ifndef CONTROLLER_CLUSTER_PRELOAD_H
#define CONTROLLER_CLUSTER_PRELOAD_H

#include "controller/cluster/cluster.h"

#define PRELOAD_AHEAD 1024 /* queued jobs that are looked at */

/* Every half second. */
void preload_tick(struct cluster *cluster);

/* What a node says of it. */
void preload_state(struct cluster *cluster, struct node *node,
		   const struct message_preloaded *state);

/* The node's session is over, or the node goes. */
void preload_forget(struct node *node);

/* [{"job", "image", "workspace", "phase", "done_bytes", "total_bytes", "text"}]
 * of a node; phase "waiting": it has said nothing of it.
 */
cJSON *preload_describe(const struct node *node);

/* Add a sentence for each thing that came to a node of the job while this
 * attempt of it ran.
 */
int preload_warnings(const struct cluster *cluster, const struct job *job,
		     cJSON *list, struct error *err);

#endif
