/* scheduler_internal.h - the fields of the queue, for the two files that make
 * it up: queue.c keeps it, scheduler.c empties it.
 */
#ifndef CONTROLLER_SCHEDULER_SCHEDULER_INTERNAL_H
#define CONTROLLER_SCHEDULER_SCHEDULER_INTERNAL_H

#include "controller/scheduler/scheduler.h"

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
	size_t first; /* no slot (or pin, by number) before it fits, in a run */
};

struct queue {
	struct lane *lanes; /* few: jobs of a sweep are alike, but for pins */
	size_t count, room;
	size_t length;
};

/* A heap of places in lanes' heaps, each of which may be where the next job of
 * all is. The caller has room for as many as it pushes.
 */
struct ahead {
	struct lane *lane;
	size_t at;
};

struct aheads {
	struct ahead *heap;
	size_t count;
};

/* A place behind the lane's last job is left out. */
void aheads_push(struct aheads *aheads, struct lane *lane, size_t at);
/* Of those that there are (count is not 0) the one whose job runs first. */
struct ahead aheads_pop(struct aheads *aheads);

/* Does a run before b? */
bool queued_before(const struct queued *a, const struct queued *b);
void lane_pop(struct lane *lane);
/* Pins come and go with jobs: give up their lanes in which nobody waits. */
void queue_trim(struct queue *queue);

#endif
