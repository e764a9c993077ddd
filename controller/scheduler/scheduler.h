/* scheduler.h - chooses the nodes of queued jobs: state in, placements out.
 *
 * Nothing here knows of sockets, disks or clocks. A job asks for a number of
 * nodes of a vendor, with a number of devices on each; it gets all of them at
 * once or none. By default it has its nodes for itself; a shared one takes
 * single devices of nodes that no exclusive job holds. Which of a node's
 * devices a job gets is chosen by how near they are to each other: those of the
 * fullest NUMA node that has enough free ones, else of as few NUMA nodes as can
 * be.
 *
 * The order is by priority, then by id. A job that does not fit reserves every
 * free node that it could use, so that nothing behind it can delay it; jobs
 * behind it run on what is left (backfill). A job that asks for more nodes than
 * there are at present reserves nothing.
 *
 * Where a slot is left after a while, a job that would last longer does not get
 * it. One that waits for more time than any slots have reserves nothing, and
 * those behind it go on.
 *
 * A job may be pinned to certain nodes, since what it builds on lies there. It
 * gets the first of them that fit, in their order, and waits for them alone:
 * nothing else counts for it, and nothing else is reserved.
 */
#ifndef CONTROLLER_SCHEDULER_SCHEDULER_H
#define CONTROLLER_SCHEDULER_SCHEDULER_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULER_DEVICES_MAX 64 /* per node */
#define SCHEDULER_GANG_MAX 4096  /* nodes of a job */

/* What a job asks for. Two jobs of equal shape are alike to the scheduler. */
struct shape {
	const char *vendor;
	const char *chip; /* devices of this one, or of no known one; NULL: any
			   */
	const char *labels; /* that a slot must have, each "key=value", between
			       commas; NULL: any */
	uint32_t nodes;
	uint32_t devices; /* per node; 0: all that the node has (of the chip),
			     none of them lost */
	bool shared;
	const uint32_t *pins; /* slots that it may have, each once; NULL: all */
	size_t pins_count;
};

/* What is known of one device. */
struct slot_device {
	int64_t numa;     /* -1: unknown */
	const char *chip; /* borrowed; NULL: unknown */
};

/* A node as the scheduler sees it; kept by the caller in an array. */
struct slot {
	const char *vendor;
	const struct slot_device *parts; /* of each device; NULL: unknown */
	const char *labels; /* ",key=value,key=value,"; NULL: none */
	uint64_t lost;    /* bit per device that is there no more, or broken */
	uint64_t busy;    /* bit per device that is held */
	uint32_t devices; /* at most SCHEDULER_DEVICES_MAX */
	bool usable;      /* up, not drained, nothing left to clean */
	bool exclusive;   /* held by a job that shares nothing */
	int64_t left_ms;  /* until its node leaves; 0: it stays */
};

struct placement {
	size_t slot;
	uint64_t devices; /* bits */
};

/* Can the slot take a task of this shape now? *devices: which it would get. */
bool slot_fits(const struct slot *slot, const struct shape *shape,
	       uint64_t *devices);

/* Could it, if it were empty? */
bool slot_suits(const struct slot *slot, const struct shape *shape);

/* Of the slots that the shape may have, how many it could run on if they were
 * empty; counted up to `enough`.
 */
size_t shape_suiting(const struct shape *shape, const struct slot *slots,
		     size_t count, size_t enough);

/* Of the slots that it could run on, too few stay for so long. */
bool shape_late(const struct shape *shape, const struct slot *slots,
		size_t count, int64_t lasts_ms);

void slot_take(struct slot *slot, const struct shape *shape, uint64_t devices);
void slot_release(struct slot *slot, uint64_t devices);

/* Queued jobs. */
struct queue;
struct queue *queue_new(struct error *err);
void queue_free(struct queue *queue);
OWNED_POINTER(struct queue, queue_free)

/* The shape's texts and pins are copied. EEXIST: the job is there already. */
int queue_add(struct queue *queue, const struct shape *shape, uint64_t job,
	      int64_t priority, struct error *err);
/* Not there is success. Costs the same wherever in the queue the job is. */
void queue_remove(struct queue *queue, const struct shape *shape, uint64_t job);
size_t queue_length(const struct queue *queue);

/* A job is placed: shape->nodes placements, which the slots already hold. It
 * is no longer queued. false: stop the run after this one; only then may jobs
 * have been queued meanwhile.
 */
typedef bool place_fn(void *arg, uint64_t job, const struct shape *shape,
		      const struct placement *placements);

/* Place what fits. avoid, when not NULL: slots that this job had better not
 * get; it gets them only where nothing else is left. lasts, when not NULL: how
 * long the job is expected to run, in ms; 0: nobody knows.
 */
typedef bool avoid_fn(void *arg, uint64_t job, size_t slot);
typedef int64_t lasts_fn(void *arg, uint64_t job);
int scheduler_run(struct queue *queue, struct slot *slots, size_t count,
		  avoid_fn *avoid, lasts_fn *lasts, place_fn *place, void *arg,
		  struct error *err);

#endif
