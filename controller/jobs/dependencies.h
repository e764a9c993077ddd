/* dependencies.h - holds jobs that depend on others until those have ended.
 *
 * A job that depends on others (`after`) is not in the scheduler's queue. It is
 * listed with each of them that is not final, and checked again when the last
 * of them completes, or the first fails. Being held is not a state: it follows
 * from the states of the other jobs, which the store has after a restart.
 *
 * A job with `same_nodes` is queued for the nodes of the first job that it
 * depends on, in the order of that job's ranks. If a job fails or is cancelled,
 * those that depend on it fail with FAILURE_SKIPPED and a text that names it:
 * "job 3 (step=train) failed: exit".
 *
 * A heat of a race is followed by its verdict: the job runs if its cell won, on
 * the nodes of the race, else it is pruned (FAILURE_PRUNED), and so are those
 * that depend on it. Of several heats of one race one must have won.
 *
 * Cost: a few memory accesses when a job is held and when it is released, and
 * one read of the store for each job that it depends on.
 */
#pragma once

#include "controller/cluster/active_job.h"

/* Copy the ids of the jobs that it depends on. */
int dependencies_init(struct job *job, const struct job_spec *spec,
		      struct error *err);

/* Is the job held, because it depends on others? Then dependencies_next() gives
 * it when they changed.
 */
bool dependencies_hold(struct job *job);

/* The job has become final. */
void dependencies_ended(const struct job *job);

/* What is known of the jobs that a job depends on. */
enum dependencies {
	DEPENDENCIES_UNREAD,    /* they cannot be read now: try again later */
	DEPENDENCIES_ACTIVE,    /* one is not final: the job is held */
	DEPENDENCIES_COMPLETED, /* all are; the job may be queued */
	DEPENDENCIES_LOST,      /* the race before it was won by another cell,
				   or one was pruned: the job must be, too */
	DEPENDENCIES_FAILED,    /* one failed: the job must be skipped */
};

/* Check the next job whose dependencies changed; NULL: there is none. why: the
 * reason of DEPENDENCIES_FAILED. Reads committed jobs only, so call it after a
 * commit.
 */
#define DEPENDENCIES_WHY 300
struct job *dependencies_next(struct jobs *jobs, enum dependencies *found,
			      char why[DEPENDENCIES_WHY]);
/* What follows from them could not be done: dependencies_next() gives the job
 * again, after all others.
 */
void dependencies_due(struct job *job);

/* The race before these is decided. */
void dependencies_release(struct follow_list *followers);

/* The job is being freed. */
void dependencies_clear(struct job *job);

/* Why it is held, or why it cannot get the nodes of `same_nodes` yet; false:
 * neither.
 */
bool dependencies_waits(const struct job *job, char *text, size_t size);
