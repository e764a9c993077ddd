/* state.c - states of jobs and tasks, and the classes of failure.
 */
#include "protocol/message/state.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
static const char *const job_states[JOB_STATES] = {
	[JOB_QUEUED] = "queued",
	[JOB_ALLOCATED] = "allocated",
	[JOB_PREPARING] = "preparing",
	[JOB_READY] = "ready",
	[JOB_RUNNING] = "running",
	[JOB_COLLECTING] = "collecting",
	[JOB_COMPLETED] = "completed",
	[JOB_FAILED] = "failed",
	[JOB_CANCELLED] = "cancelled",
};

static const char *const task_states[TASK_STATES] = {
	[TASK_PREPARING] = "preparing",
	[TASK_READY] = "ready",
	[TASK_STARTING] = "starting",
	[TASK_RUNNING] = "running",
	[TASK_STOPPING] = "stopping",
	[TASK_ENDED] = "ended",
};

static const char *const failures[FAILURES] = {
	[FAILURE_PREFLIGHT] = "preflight",
	[FAILURE_IMAGE] = "image",
	[FAILURE_CREATE] = "create",
	[FAILURE_EXIT] = "exit",
	[FAILURE_OOM] = "oom",
	[FAILURE_NODE_LOST] = "node-lost",
	[FAILURE_TIMEOUT] = "timeout",
	[FAILURE_HANG] = "hang",
	[FAILURE_NO_METRIC] = "no-metric",
	[FAILURE_POLICY] = "policy",
	[FAILURE_CANCELLED] = "cancelled",
	[FAILURE_INCOMPLETE] = "incomplete",
	[FAILURE_SKIPPED] = "skipped",
	[FAILURE_PREEMPTED] = "preempted",
	[FAILURE_PRUNED] = "pruned",
	[FAILURE_ENOUGH] = "enough",
};
/* clang-format on */

static const char *state_find_name(const char *const *names, int count,
				   int value)
{
	return value > 0 && value < count ? names[value] : NULL;
}

static int value_of(const char *const *names, int count, const char *name)
{
	for (int i = 1; name && i < count; i++)
		if (!strcmp(names[i], name))
			return i;
	return 0;
}

const char *job_state_name(enum job_state state)
{
	return state_find_name(job_states, JOB_STATES, (int)state);
}

enum job_state job_state_from(const char *name)
{
	return (enum job_state)value_of(job_states, JOB_STATES, name);
}

const char *task_state_name(enum task_state state)
{
	return state_find_name(task_states, TASK_STATES, (int)state);
}

enum task_state task_state_from(const char *name)
{
	return (enum task_state)value_of(task_states, TASK_STATES, name);
}

const char *failure_name(enum failure failure)
{
	return state_find_name(failures, FAILURES, (int)failure);
}

enum failure failure_from(const char *name)
{
	return (enum failure)value_of(failures, FAILURES, name);
}

bool job_state_final(enum job_state state)
{
	return state >= JOB_COMPLETED && state < JOB_STATES;
}

bool failure_infrastructure(enum failure failure)
{
	return failure == FAILURE_PREFLIGHT || failure == FAILURE_IMAGE ||
	       failure == FAILURE_CREATE || failure == FAILURE_NODE_LOST ||
	       failure == FAILURE_PREEMPTED;
}
