/* scheduler.c - which queued job runs on which nodes: state in, placements out.
 */
#include "controller/cluster/scheduler.h"
#include "controller/cluster/queue.h"

#include <stdlib.h>
#include <string.h>

/* One run's working memory. */
struct run {
	struct queue *queue;
	struct slot *slots;
	size_t count;
	bool *reserved;
	avoid_fn *avoid;
	void *arg;
	struct placement placements[SCHEDULER_GANG_MAX];
};

bool slot_suits(const struct slot *slot, const struct shape *shape)
{
	return slot->usable && shape->devices <= slot->devices &&
	       !strcmp(slot->vendor, shape->vendor);
}

static uint64_t all_devices(const struct slot *slot)
{
	return slot->devices >= 64 ? UINT64_MAX
				   : (UINT64_C(1) << slot->devices) - 1;
}

bool slot_fits(const struct slot *slot, const struct shape *shape,
	       uint64_t *devices)
{
	uint64_t free_devices = all_devices(slot) & ~slot->busy;
	uint32_t want = shape->devices ? shape->devices : slot->devices;
	uint64_t got = 0;

	if (!slot_suits(slot, shape) || slot->exclusive ||
	    (!shape->shared && slot->busy))
		return false;
	for (uint32_t i = 0; i < slot->devices && want; i++) {
		if (free_devices & (UINT64_C(1) << i)) {
			got |= UINT64_C(1) << i;
			want--;
		}
	}
	*devices = got;
	return !want;
}

void slot_take(struct slot *slot, const struct shape *shape, uint64_t devices)
{
	slot->busy |= devices;
	if (!shape->shared)
		slot->exclusive = true;
}

void slot_release(struct slot *slot, uint64_t devices)
{
	slot->busy &= ~devices;
	if (!slot->busy)
		slot->exclusive = false;
}

/* Collect placements for the job; with `strict`, none that it would rather
 * avoid. Returns how many are found, at most shape->nodes.
 */
static uint32_t find_slots(struct run *run, struct lane *lane, uint64_t job,
			   bool strict)
{
	uint32_t found = 0;

	for (size_t i = lane->first;
	     i < run->count && found < lane->shape.nodes; i++) {
		uint64_t devices;

		if (run->reserved[i] ||
		    !slot_fits(&run->slots[i], &lane->shape, &devices)) {
			/* During a run slots only fill up. */
			lane->first += i == lane->first;
			continue;
		}
		if (strict && run->avoid && run->avoid(run->arg, job, i))
			continue;
		run->placements[found++] =
			(struct placement){ .slot = i, .devices = devices };
	}
	return found;
}

/* The head of the lane fits: take its slots. */
static bool try_head(struct run *run, struct lane *lane)
{
	uint64_t job = lane->heap[0].job;

	if (lane->shape.nodes > SCHEDULER_GANG_MAX)
		return false;
	if (find_slots(run, lane, job, true) < lane->shape.nodes &&
	    (!run->avoid ||
	     find_slots(run, lane, job, false) < lane->shape.nodes))
		return false;
	for (uint32_t i = 0; i < lane->shape.nodes; i++)
		slot_take(&run->slots[run->placements[i].slot], &lane->shape,
			  run->placements[i].devices);
	lane_pop(lane);
	run->queue->length--;
	return true;
}

/* Nothing behind the lane's head may use what the head could use; unless the
 * head could not run even if all its nodes were free.
 */
static void block(struct run *run, struct lane *lane)
{
	uint32_t suiting = 0;

	lane->blocked = true;
	for (size_t i = 0; i < run->count; i++)
		suiting += slot_suits(&run->slots[i], &lane->shape);
	if (suiting < lane->shape.nodes)
		return;
	for (size_t i = 0; i < run->count; i++)
		if (slot_suits(&run->slots[i], &lane->shape))
			run->reserved[i] = true;
}

/* The lane whose head runs before all others that are not blocked. */
static struct lane *next_lane(struct queue *queue)
{
	struct lane *first = NULL;

	for (size_t i = 0; i < queue->count; i++) {
		struct lane *lane = &queue->lanes[i];

		if (!lane->blocked && lane->count &&
		    (!first || queued_before(&lane->heap[0], &first->heap[0])))
			first = lane;
	}
	return first;
}

int scheduler_run(struct queue *queue, struct slot *slots, size_t count,
		  avoid_fn *avoid, place_fn *place, void *arg,
		  struct error *err)
{
	owned_free struct run *run = malloc(sizeof(*run));
	owned_free bool *reserved = calloc(count + 1, sizeof(*reserved));
	struct lane *lane;

	if (!run || !reserved)
		return error_nomem(err, "scheduler");
	run->queue = queue;
	run->slots = slots;
	run->count = count;
	run->reserved = reserved;
	run->avoid = avoid;
	run->arg = arg;
	for (size_t i = 0; i < queue->count; i++) {
		queue->lanes[i].blocked = false;
		queue->lanes[i].first = 0;
	}
	while ((lane = next_lane(queue))) {
		uint64_t job = lane->heap[0].job;

		if (!try_head(run, lane))
			block(run, lane);
		else if (!place(arg, job, &lane->shape, run->placements))
			break;
	}
	return 0;
}
