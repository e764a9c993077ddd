/* queue.h - the fields of the queue, for the two files that make it up:
 * queue.c keeps it, scheduler.c empties it.
 */
#ifndef CONTROLLER_CLUSTER_QUEUE_H
#define CONTROLLER_CLUSTER_QUEUE_H

#include "controller/cluster/scheduler.h"

struct queued {
	int64_t priority;
	uint64_t job;
};

/* The jobs of one shape: a binary heap, the next one first. */
struct lane {
	struct shape shape;
	struct queued *heap;
	size_t count, room;
	bool blocked; /* during a run: its head does not fit */
};

struct queue {
	struct lane *lanes; /* few: jobs of a sweep are alike */
	size_t count, room;
	size_t length;
};

/* Does a run before b? */
bool queued_before(const struct queued *a, const struct queued *b);
void lane_pop(struct lane *lane);

#endif
