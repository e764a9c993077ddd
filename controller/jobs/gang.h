/* gang.h - the life of a gang: what is done when a job's tasks change.
 *
 * Two phases: every node prepares; only when every task is ready they are
 * told to start, together. The first task that fails ends the gang. A job is
 * final when the output of every task is here; then its nodes are told to
 * discard containers and spools.
 */
#ifndef CONTROLLER_JOBS_GANG_H
#define CONTROLLER_JOBS_GANG_H

#include "controller/cluster/cluster.h"
#include "protocol/message/state.h"

/* Run the scheduler: queued jobs get nodes and are prepared. Reads committed
 * jobs only, so call it after a commit.
 */
void gang_schedule(struct cluster *cluster);

/* A node says what it has, all of it; it is told what it should do. */
void gang_report(struct cluster *cluster, struct node *node,
		 const struct message_report *report);

/* A node says what became of one task. */
void gang_status(struct cluster *cluster, struct node *node,
		 const struct task_status *status);
void gang_progress(struct cluster *cluster, struct node *node,
		   const struct message_progress *progress);
void gang_discarded(struct cluster *cluster, struct node *node,
		    const struct message_discard *discarded);

/* The node was out of reach for too long, or is removed: its tasks count as
 * lost, and it is told to remove them, where it can be. why: a sentence.
 */
void gang_node_lost(struct cluster *cluster, struct node *node,
		    const char *why);
/* The node's session ended: it will be asked again when it is back. */
void gang_node_gone(struct cluster *cluster, struct node *node);

/* End the job early. A queued one is final at once. No-op when it is ending
 * already.
 */
void gang_exception(struct cluster *cluster, struct job *job,
		    enum failure failure, int64_t code, const char *text);

/* Something may have become true that the job waits for. */
void gang_advance(struct cluster *cluster, struct job *job);

/* End the gangs that are past their time limit. */
void gang_deadlines(struct cluster *cluster);

/* After a restart: set the timers of jobs that run. */
void gang_resume(struct cluster *cluster, struct job *job);

#endif
