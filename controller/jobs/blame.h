/* blame.h - says whose fault a failed attempt was: the node's, where it failed,
 * or the job's.
 *
 * A failure of the infrastructure counts against its node (node_health.h). If
 * the job fails in the same class on another node, it was the job's own, and
 * counts against neither. A job prefers other nodes than those where it failed:
 * it waits for them BLAME_WAIT_MS at most, as long as enough of them suit, and
 * takes a node where it failed after that, or if there is no other.
 *
 * What a job tried is not stored: after a restart of the controller it may lose
 * another attempt on the same node, within its retries.
 */
#pragma once

#include "controller/cluster/active_job.h"

#define BLAME_WAIT_MS (INT64_C(10) * 60 * 1000)

/* The job failed there. code: as in task_status. Call it before the failure is
 * set; it does nothing if the attempt failed already.
 */
void blame_node(struct job *job, struct node *node, enum failure failure,
		int64_t code, const char *text);
/* The same for the failure that a task tells. That a task was lost while its
 * node went on is something a command can bring about: it counts once tasks of
 * two sweeps were lost so, or if the engine is away.
 */
void blame_task(const struct task *task, int64_t code, const char *text);
/* The job prefers other nodes; nothing is counted. */
void blame_avoid(struct job *job, struct node *node, enum failure failure);
/* The task was started; or (ended) it has ended without such a failure. */
void blame_none(const struct task *task, bool ended);

/* For scheduler_run(). */
enum avoided blame_avoids(const struct job *job, const struct node *node);
/* Could the job run on nodes where it did not fail yet, once they are free? */
bool blame_leaves_others(const struct job *job);
/* Until when it waits for them, monotonic; 0: it does not. */
int64_t blame_waits_until(const struct job *job);
/* Where it failed last, or NULL. */
const struct node *blame_last(const struct job *job);
/* A person tries the job again. */
void blame_forget(struct job *job);
