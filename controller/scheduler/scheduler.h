/* scheduler.h - chooses the nodes of queued jobs: state in, placements out.
 *
 * It uses no socket, disk or clock. A job asks for a number of nodes of a
 * vendor, with a number of devices on each; it gets all of them at once or
 * none. By default it holds its nodes exclusively; a shared job takes single
 * devices of nodes that no exclusive job holds. The devices of a node are
 * chosen to be near each other: from the fullest NUMA node that has enough free
 * ones, else from as few NUMA nodes as possible.
 *
 * Jobs are ordered by priority, then by id. A job that does not fit reserves
 * every free node that it could use, so that no later job delays it; later jobs
 * run on the rest (backfill). A job that asks for more nodes than there are at
 * present reserves nothing.
 *
 * A job does not get a slot whose node leaves before the job is expected to
 * end. A job that needs more time than any slot has reserves nothing.
 *
 * A paused slot is used only by jobs that too few other slots suit, if they
 * were all free. A job may avoid slots of its own: it waits for others to
 * become free, as long as enough others suit, and reserves these; or it takes
 * its own last.
 *
 * A job may be pinned to certain nodes, where the job before it left its data.
 * It gets the first of them that fit, in their order. It waits for these nodes
 * only, and reserves no others.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULER_DEVICES_MAX 64 /* per node */
#define SCHEDULER_GANG_MAX 4096  /* nodes of a job */

/* The request of a job. Two jobs with equal shapes are interchangeable. */
struct shape {
	const char *vendor;
	const char *chip;   /* devices of this chip or of an unknown one; NULL:
			       any */
	const char *labels; /* that a slot must have, each "key=value", between
			       commas; NULL: any. "node=n1+n2": one of these
			       names */
	uint32_t nodes;
	uint32_t devices; /* per node; 0: all that the node has (of the chip),
			     none of them lost */
	bool shared;
	const uint32_t *pins; /* slots that it may have, each once; NULL: all */
	size_t pins_count;
};

/* One device. */
struct slot_device {
	int64_t numa;     /* -1: unknown */
	const char *chip; /* borrowed; NULL: unknown */
};

/* A node as the scheduler sees it; kept by the caller in an array. */
struct slot {
	const char *name;
	const char *vendor;
	const struct slot_device *parts; /* of each device; NULL: unknown */
	const char *labels; /* ",key=value,key=value,"; NULL: none */
	uint64_t lost;      /* bit per device that has vanished or is broken */
	uint64_t busy;      /* bit per device that is held */
	uint32_t devices;   /* at most SCHEDULER_DEVICES_MAX */
	bool usable;        /* up, not drained, nothing left to clean */
	bool cleaning;      /* usable, but for what is left to clean */
	bool exclusive;     /* held by a job that shares nothing */
	bool single;        /* it takes one job at a time */
	bool paused;        /* it is used only where too few others suit */
	int64_t until_ms;   /* wall clock, when its node leaves; 0: it stays */
};

struct placement {
	size_t slot;
	uint64_t devices; /* bits */
};

/* Can the slot take a task of this shape now? *devices: those it would get. */
bool slot_fits(const struct slot *slot, const struct shape *shape,
	       uint64_t *devices);

/* Could it, if no job held it? */
bool slot_suits(const struct slot *slot, const struct shape *shape);

/* The number of slots that suit, among those that the shape may have; counted
 * up to `enough`.
 */
size_t shape_suiting(const struct shape *shape, const struct slot *slots,
		     size_t count, size_t enough);

/* Do too few of the suitable slots stay until then (wall clock; 0: unknown)? */
bool shape_late(const struct shape *shape, const struct slot *slots,
		size_t count, int64_t ends_ms);

void slot_take(struct slot *slot, const struct shape *shape, uint64_t devices);
void slot_release(struct slot *slot, uint64_t devices);

/* Queued jobs. */
struct queue;
struct queue *queue_new(struct error *err);
void queue_free(struct queue *queue);
OWNED_POINTER(struct queue, queue_free)

/* The shape's texts and pins are copied. EEXIST: the job is queued already. */
int queue_add(struct queue *queue, const struct shape *shape, uint64_t job,
	      int64_t priority, struct error *err);
/* A job that is not queued is success. The cost does not depend on the job's
 * position.
 */
void queue_remove(struct queue *queue, const struct shape *shape, uint64_t job);
size_t queue_length(const struct queue *queue);

/* A job is placed, with shape->nodes placements, which are marked in the slots
 * already. It is not queued any more. Return false to end the run; only then
 * may the function have queued jobs.
 */
typedef bool place_fn(void *arg, uint64_t job, const struct shape *shape,
		      const struct placement *placements);

/* Does the job avoid the slot? */
enum avoided {
	AVOIDED_NOT,
	AVOIDED_LAST, /* it takes others first, if they are free */
	AVOIDED_WAIT, /* it waits for others, if enough of them suit */
};

/* Place the jobs that fit. avoid, unless NULL: which slots this job avoids.
 * ends, unless NULL: when the job is expected to end if it starts now (wall
 * clock in ms); 0: unknown.
 */
typedef enum avoided avoid_fn(void *arg, uint64_t job, size_t slot);
typedef int64_t ends_fn(void *arg, uint64_t job);
int scheduler_run(struct queue *queue, struct slot *slots, size_t count,
		  avoid_fn *avoid, ends_fn *ends, place_fn *place, void *arg,
		  struct error *err);
