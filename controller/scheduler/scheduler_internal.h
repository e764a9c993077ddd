/* scheduler_internal.h - the fields of the queue: queue.c adds and removes
 * jobs, scheduler.c places them.
 */
#pragma once

#include "controller/scheduler/scheduler.h"

struct queued {
	int64_t priority;
	uint64_t job;
};

/* The jobs of one shape: a binary heap with the next one first, and a hash
 * table with their positions in it, so that any job can be removed.
 */
struct lane {
	struct shape shape;
	struct queued *heap;
	uint32_t *places;   /* 2 * room; position in the heap + 1, or 0 */
	size_t count, room; /* room is 0 or a power of two */
	/* In a run: */
	size_t first;    /* no slot (or pin) with a lower number fits */
	bool paused_too; /* paused slots as well: too few others suit */
};

struct queue {
	struct lane *lanes; /* few: most jobs of a sweep have equal shapes */
	size_t count, room;
	size_t length;
};

/* A heap of lanes that have jobs; first the lane with the next job of all. The
 * caller provides room for all lanes.
 */
struct lanes {
	struct lane **heap;
	size_t count;
};

/* A lane without jobs is ignored. */
void lanes_push(struct lanes *lanes, struct lane *lane);
/* count must not be 0. */
struct lane *lanes_pop(struct lanes *lanes);

void lane_pop(struct lane *lane);
/* Free the empty lanes of pinned shapes, which come and go with their jobs. */
void queue_trim(struct queue *queue);
