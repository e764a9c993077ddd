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

/* The jobs of one shape: a binary heap, the next one first, and a hash table
 * that says where in it a job is, so that any can be taken out.
 */
struct lane {
	struct shape shape;
	struct queued *heap;
	uint32_t *places;   /* 2 * room; place in the heap + 1, or 0 */
	size_t count, room; /* room is 0 or a power of two */
	/* Of a run: */
	bool blocked; /* its head does not fit */
	size_t first; /* no slot (or pin, by number) before this one fits */
};

struct queue {
	struct lane *lanes; /* few: jobs of a sweep are alike */
	size_t count, room;
	size_t length;
};

/* Put the first `max` jobs of the queue into another one. */
int queue_copy(const struct queue *queue, size_t max, struct queue *to,
	       struct error *err);

/* Does a run before b? */
bool queued_before(const struct queued *a, const struct queued *b);
void lane_pop(struct lane *lane);
/* Pins come and go with jobs: give up their lanes in which nobody waits. */
void queue_trim(struct queue *queue);

#endif
