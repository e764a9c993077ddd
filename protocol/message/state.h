/* state.h - states of jobs and tasks, and the classes of failure.
 */
#pragma once

#include <stdbool.h>

enum job_state {
	JOB_NONE, /* no such state: a refused event */
	JOB_QUEUED,
	JOB_ALLOCATED,  /* nodes are held */
	JOB_PREPARING,  /* every node: preflight, image, container created */
	JOB_READY,      /* every node is; the order to start goes out */
	JOB_RUNNING,    /* started on every node */
	JOB_COLLECTING, /* ending: the last output is fetched */
	JOB_COMPLETED,
	JOB_FAILED,
	JOB_CANCELLED,
	JOB_STATES
};

enum task_state {
	TASK_NONE,
	TASK_PREPARING, /* preflight, image, container being created */
	TASK_READY,     /* container created, not started */
	TASK_STARTING,  /* the engine was told to start it */
	TASK_RUNNING,
	TASK_STOPPING, /* told to stop, not yet ended */
	TASK_ENDED,    /* the command ended, or could not begin; the sizes of
			  its streams are final */
	TASK_STATES
};

enum failure {
	FAILURE_NONE,
	FAILURE_PREFLIGHT, /* path, device, disk, port or clock on a node */
	FAILURE_IMAGE,     /* pull or build */
	FAILURE_CREATE,    /* the engine would not create or start it */
	FAILURE_EXIT,      /* a process ended with a code other than 0 */
	FAILURE_OOM,       /* of the host, by the kernel; or of a device */
	FAILURE_NODE_LOST, /* node or container vanished */
	FAILURE_TIMEOUT,   /* the job's own time limit */
	FAILURE_HANG,      /* no step for too long */
	FAILURE_NO_METRIC, /* exit code 0, but nothing was measured */
	FAILURE_POLICY,    /* the node's policy forbids it */
	FAILURE_CANCELLED,
	FAILURE_INCOMPLETE, /* exit code 0, but the last step is missing */
	FAILURE_SKIPPED,    /* a job that it goes after did not complete */
	FAILURE_PREEMPTED,  /* the time of a node was over */
	FAILURE_PRUNED, /* in a race, needs more memory than one that ran out;
			   no failure: the job completes */
	FAILURE_ENOUGH, /* a heat whose rate is known; the same */
	FAILURES
};

/* "queued", "node-lost" ... NULL for a value out of range; and back, with the
 * _NONE value for an unknown word.
 */
const char *job_state_name(enum job_state state);
enum job_state job_state_from(const char *name);
const char *task_state_name(enum task_state state);
enum task_state task_state_from(const char *name);
const char *failure_name(enum failure failure);
enum failure failure_from(const char *name);

/* Nothing follows: completed, failed, cancelled. */
bool job_state_final(enum job_state state);

/* Another attempt on other nodes may succeed: preflight, image, create,
 * node-lost.
 */
bool failure_infrastructure(enum failure failure);
