/* gang.h - the life of a gang: what follows when a job's tasks change.
 *
 * A gang starts in two phases: every node prepares its task, and only when all
 * tasks are ready they are told to start, together. The first task that fails
 * ends the gang. A job is final when the output of every task is here; then its
 * nodes are told to discard containers and spools.
 */
#pragma once

#include "controller/cluster/active_job.h"
#include "protocol/message/state.h"

/* Run the scheduler: queued jobs get nodes and are prepared. Reads committed
 * jobs only, so call it after a commit.
 */
void gang_schedule(struct jobs *jobs);

/* End the job early. A queued job is final at once. A job that is ending
 * already stays as it is. -1: the event could not be stored. Then a queued job
 * stays queued, and gang_tick() ends any other as soon as it can be stored.
 */
int gang_exception(struct job *job, enum failure failure, int64_t code,
		   const char *text);

/* Take the job's next step if it need not wait. May free the job. */
void gang_advance(struct job *job);

/* A node of the gang told what it has by the image's name. When all have, what
 * the lowest rank has is the sweep's; a registry is asked if none has any.
 */
void gang_looked(struct job *job);

/* End the gangs that are past their time limit. Try again what could not be
 * stored.
 */
void gang_tick(struct jobs *jobs);
/* No message was received for a while: no gang is late or silent because of
 * that.
 */
void gang_extend_deadlines(struct jobs *jobs);

/* After a restart: jobs that run have their time limit again. */
void gang_resume(struct job *job);
