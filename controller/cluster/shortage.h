/* shortage.h - why a queued job cannot run on the nodes there are: in words.
 */
#ifndef CONTROLLER_CLUSTER_SHORTAGE_H
#define CONTROLLER_CLUSTER_SHORTAGE_H

#include "controller/cluster/scheduler.h"

enum shortage {
	SHORTAGE_NONE, /* it could run, now or when other jobs have ended */
	SHORTAGE_DOWN, /* when nodes or devices come back */
	SHORTAGE_EVER, /* not on any nodes that are known */
};

/* Of a job of this shape. text is set unless the answer is SHORTAGE_NONE. */
enum shortage shortage_of(const struct slot *slots, size_t count,
			  const struct shape *shape, char *text, size_t size);

#endif
