/* unschedulable.h - explains why a queued job cannot run on the known nodes.
 */
#ifndef CONTROLLER_JOBS_UNSCHEDULABLE_H
#define CONTROLLER_JOBS_UNSCHEDULABLE_H

#include "controller/scheduler/scheduler.h"

enum unschedulable {
	UNSCHEDULABLE_NONE, /* it could run, now or when other jobs have ended
			     */
	UNSCHEDULABLE_DOWN, /* when nodes or devices come back */
	UNSCHEDULABLE_EVER, /* not on any nodes that are known */
};

/* Of a job of this shape. text is set unless the answer is UNSCHEDULABLE_NONE.
 */
enum unschedulable unschedulable_of(const struct slot *slots, size_t count,
				    const struct shape *shape, char *text,
				    size_t size);

#endif
