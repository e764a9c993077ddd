/* unschedulable.h - explains why a queued job cannot run on the known nodes.
 */
#pragma once

#include "controller/scheduler/scheduler.h"

enum unschedulable {
	UNSCHEDULABLE_NONE, /* it can run, now or when other jobs have ended
			       and what they left is removed */
	UNSCHEDULABLE_DOWN, /* it can run when nodes or devices come back */
	UNSCHEDULABLE_EVER, /* the known nodes are too few or do not suit */
};

/* For a job of this shape. text: the reason, unless UNSCHEDULABLE_NONE. */
enum unschedulable unschedulable_of(const struct slot *slots, size_t count,
				    const struct shape *shape, char *text,
				    size_t size);
