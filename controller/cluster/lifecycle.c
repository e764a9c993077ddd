/* lifecycle.c - the state of a job after each event: a pure table.
 */
#include "controller/cluster/lifecycle.h"

#include <stddef.h>

/* clang-format off */
static const enum job_state next_state[JOB_STATES][JOB_EVENTS] = {
	[JOB_NONE] = {
		[JOB_EVENT_SUBMIT] = JOB_QUEUED,
		[JOB_EVENT_TAKE] = JOB_COMPLETED,
	},
	[JOB_QUEUED] = {
		[JOB_EVENT_ALLOC] = JOB_ALLOCATED,
		[JOB_EVENT_CANCEL] = JOB_CANCELLED,
		[JOB_EVENT_FAIL] = JOB_FAILED,
		[JOB_EVENT_PRUNE] = JOB_COMPLETED,
	},
	[JOB_ALLOCATED] = {
		[JOB_EVENT_DEVICE] = JOB_ALLOCATED,
		[JOB_EVENT_PREPARE] = JOB_PREPARING,
		[JOB_EVENT_EXCEPTION] = JOB_COLLECTING,
	},
	[JOB_PREPARING] = {
		[JOB_EVENT_DEVICE] = JOB_PREPARING,
		[JOB_EVENT_PIN] = JOB_PREPARING,
		[JOB_EVENT_IMAGE] = JOB_PREPARING,
		[JOB_EVENT_READY] = JOB_READY,
		[JOB_EVENT_EXCEPTION] = JOB_COLLECTING,
	},
	[JOB_READY] = {
		[JOB_EVENT_DEVICE] = JOB_READY,
		[JOB_EVENT_START] = JOB_RUNNING,
		[JOB_EVENT_EXCEPTION] = JOB_COLLECTING,
	},
	[JOB_RUNNING] = {
		[JOB_EVENT_DEVICE] = JOB_RUNNING,
		[JOB_EVENT_END] = JOB_COLLECTING,
		[JOB_EVENT_EXCEPTION] = JOB_COLLECTING,
	},
	[JOB_COLLECTING] = {
		[JOB_EVENT_DEVICE] = JOB_COLLECTING,
		[JOB_EVENT_FILES] = JOB_COLLECTING,
		[JOB_EVENT_EXCEPTION] = JOB_COLLECTING,
		[JOB_EVENT_COMPLETE] = JOB_COMPLETED,
		[JOB_EVENT_FAIL] = JOB_FAILED,
		[JOB_EVENT_CANCEL] = JOB_CANCELLED,
		[JOB_EVENT_RETRY] = JOB_QUEUED,
	},
	[JOB_COMPLETED] = {
		[JOB_EVENT_MORE] = JOB_COMPLETED,
		[JOB_EVENT_ENOUGH] = JOB_COMPLETED,
		[JOB_EVENT_REMOVED] = JOB_COMPLETED,
		[JOB_EVENT_RETRY] = JOB_QUEUED, /* it was pruned */
	},
	[JOB_FAILED] = {
		[JOB_EVENT_MORE] = JOB_FAILED,
		[JOB_EVENT_ENOUGH] = JOB_FAILED,
		[JOB_EVENT_REMOVED] = JOB_FAILED,
		[JOB_EVENT_RETRY] = JOB_QUEUED,
	},
	[JOB_CANCELLED] = {
		[JOB_EVENT_MORE] = JOB_CANCELLED,
		[JOB_EVENT_ENOUGH] = JOB_CANCELLED,
		[JOB_EVENT_REMOVED] = JOB_CANCELLED,
		[JOB_EVENT_RETRY] = JOB_QUEUED,
	},
};

static const char *const event_names[JOB_EVENTS] = {
	[JOB_EVENT_SUBMIT] = "submit",
	[JOB_EVENT_ALLOC] = "alloc",
	[JOB_EVENT_PREPARE] = "prepare",
	[JOB_EVENT_READY] = "ready",
	[JOB_EVENT_START] = "start",
	[JOB_EVENT_EXCEPTION] = "exception",
	[JOB_EVENT_END] = "end",
	[JOB_EVENT_COMPLETE] = "complete",
	[JOB_EVENT_FAIL] = "fail",
	[JOB_EVENT_CANCEL] = "cancel",
	[JOB_EVENT_RETRY] = "retry",
	[JOB_EVENT_DEVICE] = "device",
	[JOB_EVENT_PIN] = "pin",
	[JOB_EVENT_IMAGE] = "image",
	[JOB_EVENT_FILES] = "files",
	[JOB_EVENT_TAKE] = "take",
	[JOB_EVENT_MORE] = "more",
	[JOB_EVENT_ENOUGH] = "enough",
	[JOB_EVENT_PRUNE] = "prune",
	[JOB_EVENT_REMOVED] = "removed",
};
/* clang-format on */

enum job_state job_next(enum job_state state, enum job_event event)
{
	if ((unsigned int)state >= JOB_STATES ||
	    (unsigned int)event >= JOB_EVENTS)
		return JOB_NONE;
	return next_state[state][event];
}

const char *job_event_name(enum job_event event)
{
	return (unsigned int)event < JOB_EVENTS ? event_names[event] : NULL;
}
