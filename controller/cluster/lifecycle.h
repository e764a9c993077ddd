/* lifecycle.h - the state of a job after each event: a pure table.
 */
#pragma once

#include "protocol/message/state.h"

enum job_event {
	JOB_EVENT_SUBMIT,    /* accepted */
	JOB_EVENT_ALLOC,     /* nodes are chosen */
	JOB_EVENT_PREPARE,   /* every node is told to prepare */
	JOB_EVENT_READY,     /* every task is ready, and told to start */
	JOB_EVENT_START,     /* every task runs, or has run */
	JOB_EVENT_EXCEPTION, /* the job ends early; tasks are told to stop */
	JOB_EVENT_END,       /* every task ended by itself */
	JOB_EVENT_COMPLETE,  /* everything is collected and measured */
	JOB_EVENT_FAIL,      /* everything is collected; the job failed */
	JOB_EVENT_CANCEL,    /* everything is collected; it was cancelled */
	JOB_EVENT_RETRY,     /* queued again, as a new attempt */
	JOB_EVENT_DEVICE,    /* a device of the job is lost; the job goes on */
	JOB_EVENT_PIN,       /* its image name is resolved to a digest or id */
	JOB_EVENT_IMAGE,     /* a node has received its image */
	JOB_EVENT_FILES,     /* lists the collected files */
	JOB_EVENT_TAKE,      /* completed by an earlier job of the same cell */
	JOB_EVENT_MORE,      /* its cell is repeated once more */
	JOB_EVENT_ENOUGH,    /* its cell is not repeated any more */
	JOB_EVENT_PRUNE,     /* its race needs no run of it */
	JOB_EVENT_REMOVED,   /* no container or spool of it is left */
	JOB_EVENTS
};

/* The state after the event; JOB_NONE: the event is not allowed. */
enum job_state job_next(enum job_state state, enum job_event event);

/* "alloc" ...; NULL when out of range. */
const char *job_event_name(enum job_event event);
