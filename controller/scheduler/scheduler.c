/* scheduler.c - chooses the nodes of queued jobs: state in, placements out.
 */
#include "controller/scheduler/scheduler.h"
#include "controller/scheduler/scheduler_internal.h"
#include "protocol/base/list.h"
#include "protocol/message/result.h"

#include <stdlib.h>
#include <string.h>

#define PASSED_MAX 4096 /* jobs that are passed over in a run */

/* A job that waits for more time or for other slots, out of its lane's heap for
 * the run.
 */
struct passed {
	size_t lane;
	struct queued queued;
};

/* One run's working memory. */
struct run {
	struct queue *queue;
	struct slot *slots;
	size_t count;
	bool *reserved; /* by slot: reserved, or not usable */
	size_t open;    /* slots that are not reserved */
	bool paused;    /* some slots are paused */
	avoid_fn *avoid;
	ends_fn *ends; /* NULL also if no node leaves */
	void *arg;
	int64_t ends_ms; /* of the job that is looked at */
	struct passed *passed;
	size_t passed_count;
	struct placement placements[SCHEDULER_GANG_MAX];
};

static uint64_t all_devices(const struct slot *slot)
{
	return slot->devices >= 64 ? UINT64_MAX
				   : (UINT64_C(1) << slot->devices) - 1;
}

static uint32_t device_set_count(uint64_t devices)
{
	return (uint32_t)__builtin_popcountll(devices);
}

/* The devices of the chip that the shape asks for, also lost ones. */
static uint64_t devices_of_chip(const struct slot *slot,
				const struct shape *shape)
{
	uint64_t devices = all_devices(slot);

	for (uint32_t i = 0; shape->chip && slot->parts && i < slot->devices;
	     i++)
		if (slot->parts[i].chip &&
		    strcmp(slot->parts[i].chip, shape->chip) != 0)
			devices &= ~(UINT64_C(1) << i);
	return devices;
}

static uint32_t shape_count_devices(const struct shape *shape, uint64_t devices)
{
	return shape->devices ? shape->devices : device_set_count(devices);
}

#define NODE_LABEL "node="
#define ACCEPTED ACCEPTED_LABEL "="

/* Is its name among those of a label "node=n1+n2"? */
static bool has_name(const struct slot *slot, const char *label)
{
	size_t length = slot->name ? strlen(slot->name) : 0;

	label += strlen(NODE_LABEL) - 1;
	do {
		label++;
		if (length && !strncmp(label, slot->name, length) &&
		    (!label[length] || strchr("+,", label[length])))
			return true;
		label += strcspn(label, "+,");
	} while (*label == '+');
	return false;
}

/* "accepted=5": its own is 5 or more; below 0: before the submission, when it
 * does not matter.
 */
static bool has_acceptance(const struct slot *slot, const char *label)
{
	long long least = strtoll(label + strlen(ACCEPTED), NULL, 10);
	const char *at =
		slot->labels ? strstr(slot->labels, "," ACCEPTED) : NULL;

	return least < 0 ||
	       (at && strtoll(at + sizeof(ACCEPTED), NULL, 10) >= least);
}

static bool has_label(const struct slot *slot, const char *label, size_t length)
{
	const char *at = slot->labels;

	if (!strncmp(label, NODE_LABEL, strlen(NODE_LABEL)))
		return has_name(slot, label);
	if (!strncmp(label, ACCEPTED, strlen(ACCEPTED)))
		return has_acceptance(slot, label);
	while (at &&
	       (strncmp(at + 1, label, length) != 0 || at[1 + length] != ','))
		at = at[1] ? strchr(at + 1, ',') : NULL;
	return at;
}

/* Is each label of the shape in the slot's labels, between two commas? */
static bool has_labels(const struct slot *slot, const char *labels)
{
	while (labels && *labels) {
		size_t length = strcspn(labels, ",");

		if (!has_label(slot, labels, length))
			return false;
		labels += length;
		labels += *labels == ',';
	}
	return true;
}

bool slot_suits(const struct slot *slot, const struct shape *shape)
{
	uint64_t devices;
	uint32_t want;

	if (!slot->usable || shape->devices > slot->devices ||
	    strcmp(slot->vendor, shape->vendor) != 0 ||
	    !has_labels(slot, shape->labels))
		return false;
	devices = devices_of_chip(slot, shape);
	want = shape_count_devices(shape, devices);
	return want && want <= device_set_count(devices & ~slot->lost);
}

/* The first n of these. */
static uint64_t take_first(uint64_t devices, uint32_t n)
{
	uint64_t got = 0;

	for (; n && devices; n--) {
		uint64_t lowest = devices & -devices;

		got |= lowest;
		devices &= ~lowest;
	}
	return got;
}

static uint64_t same_numa(const struct slot *slot, uint64_t devices)
{
	int first = __builtin_ctzll(devices);
	uint64_t same = 0;

	for (uint32_t i = 0; i < slot->devices; i++)
		if (devices & (UINT64_C(1) << i) &&
		    slot->parts[i].numa == slot->parts[first].numa)
			same |= UINT64_C(1) << i;
	return same;
}

/* The devices of one NUMA node: the node with the fewest devices that has n,
 * else the node with the most.
 */
static uint64_t best_numa(const struct slot *slot, uint64_t devices, uint32_t n)
{
	uint64_t least = 0, most = 0;

	while (devices) {
		uint64_t same = same_numa(slot, devices);

		if (device_set_count(same) >= n &&
		    (!least ||
		     device_set_count(same) < device_set_count(least)))
			least = same;
		if (device_set_count(same) > device_set_count(most))
			most = same;
		devices &= ~same;
	}
	return least ? least : most;
}

/* n of these devices (there are as many), near to each other. */
static uint64_t device_set_choose(const struct slot *slot, uint64_t devices,
				  uint32_t n)
{
	uint64_t got = 0;

	if (!slot->parts)
		return take_first(devices, n);
	while (n) {
		uint64_t near = take_first(best_numa(slot, devices, n), n);

		got |= near;
		devices &= ~near;
		n -= device_set_count(near);
	}
	return got;
}

bool slot_fits(const struct slot *slot, const struct shape *shape,
	       uint64_t *devices)
{
	uint64_t of_chip, available;
	uint32_t want;

	if (slot->exclusive ||
	    ((!shape->shared || slot->single) && slot->busy) ||
	    !slot_suits(slot, shape))
		return false;
	of_chip = devices_of_chip(slot, shape);
	want = shape_count_devices(shape, of_chip);
	available = of_chip & ~slot->lost & ~slot->busy;
	if (want > device_set_count(available))
		return false;
	*devices = device_set_choose(slot, available, want);
	return true;
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

/* How many slots the shape may have, and the number of the n-th; count: it is
 * a pin without a slot.
 */
static size_t candidates(const struct shape *shape, size_t count)
{
	return shape->pins ? shape->pins_count : count;
}

static size_t candidate(const struct shape *shape, size_t n, size_t count)
{
	if (!shape->pins)
		return n;
	return shape->pins[n] < count ? shape->pins[n] : count;
}

size_t shape_suiting(const struct shape *shape, const struct slot *slots,
		     size_t count, size_t enough)
{
	size_t of = candidates(shape, count), suiting = 0;

	for (size_t n = 0; n < of && suiting < enough; n++) {
		size_t i = candidate(shape, n, count);

		suiting += i < count && slot_suits(&slots[i], shape);
	}
	return suiting;
}

static bool stays(const struct slot *slot, int64_t ends_ms)
{
	return !slot->until_ms || ends_ms <= slot->until_ms;
}

bool shape_late(const struct shape *shape, const struct slot *slots,
		size_t count, int64_t ends_ms)
{
	size_t of = candidates(shape, count), suiting = 0, staying = 0;

	for (size_t n = 0; n < of && staying < shape->nodes; n++) {
		size_t i = candidate(shape, n, count);

		if (i == count || !slot_suits(&slots[i], shape))
			continue;
		suiting++;
		staying += stays(&slots[i], ends_ms);
	}
	return suiting >= shape->nodes && staying < shape->nodes;
}

/* May the lane's jobs have the slot, now or when it becomes free? */
static bool slot_open_to(const struct run *run, const struct lane *lane,
			 size_t slot)
{
	return slot < run->count &&
	       (!run->slots[slot].paused || lane->paused_too) &&
	       slot_suits(&run->slots[slot], &lane->shape);
}

/* How many of these slots the job (0: any) does not avoid, counted up to what
 * the shape needs.
 */
static uint32_t slots_open_to(const struct run *run, const struct lane *lane,
			      uint64_t job)
{
	size_t of = candidates(&lane->shape, run->count);
	uint32_t found = 0;

	for (size_t n = 0; n < of && found < lane->shape.nodes; n++) {
		size_t i = candidate(&lane->shape, n, run->count);

		found += slot_open_to(run, lane, i) &&
			 (!job || !run->avoid(run->arg, job, i));
	}
	return found;
}

/* Collect placements for the job in slots that it avoids at most so much.
 * Returns how many were found, at most shape->nodes. *waits: some of those that
 * were left out are worth waiting for others.
 */
static uint32_t find_slots(struct run *run, struct lane *lane, uint64_t job,
			   enum avoided most, bool *waits)
{
	size_t of = candidates(&lane->shape, run->count);
	uint32_t found = 0;

	for (size_t n = lane->first; n < of && found < lane->shape.nodes; n++) {
		size_t i = candidate(&lane->shape, n, run->count);
		enum avoided avoided = AVOIDED_NOT;
		uint64_t devices;

		if (i == run->count || run->reserved[i] ||
		    (run->slots[i].paused && !lane->paused_too) ||
		    !slot_fits(&run->slots[i], &lane->shape, &devices)) {
			/* During a run slots only fill up. */
			lane->first += n == lane->first;
			continue;
		}
		if (!stays(&run->slots[i], run->ends_ms))
			continue;
		if (run->avoid && most < AVOIDED_WAIT)
			avoided = run->avoid(run->arg, job, i);
		*waits |= avoided == AVOIDED_WAIT;
		if (avoided > most)
			continue;
		run->placements[found++] =
			(struct placement){ .slot = i, .devices = devices };
	}
	return found;
}

enum head_fits { HEAD_FITS, HEAD_FITS_NOT, HEAD_WAITS };

/* Take the slots for the head of the lane, if it fits. */
static enum head_fits try_head(struct run *run, struct lane *lane)
{
	uint64_t job = lane->heap[0].job;
	uint32_t nodes = lane->shape.nodes;
	bool waits = false;

	if (nodes > SCHEDULER_GANG_MAX)
		return HEAD_FITS_NOT;
	if (find_slots(run, lane, job, AVOIDED_NOT, &waits) < nodes) {
		if (!run->avoid)
			return HEAD_FITS_NOT;
		if (waits && slots_open_to(run, lane, job) >= nodes)
			return HEAD_WAITS;
		if (find_slots(run, lane, job, AVOIDED_WAIT, &waits) < nodes)
			return HEAD_FITS_NOT;
	}
	for (uint32_t i = 0; i < nodes; i++)
		slot_take(&run->slots[run->placements[i].slot], &lane->shape,
			  run->placements[i].devices);
	lane_pop(lane);
	run->queue->length--;
	return HEAD_FITS;
}

/* Reserve all slots that the lane's head could use, but for those that the job
 * (0: none) avoids, unless it could not run even if they were all free.
 */
static void reserve(struct run *run, const struct lane *lane, uint64_t job)
{
	const struct shape *shape = &lane->shape;
	size_t of = candidates(shape, run->count);

	if (slots_open_to(run, lane, 0) < shape->nodes)
		return;
	for (size_t n = 0; n < of; n++) {
		size_t i = candidate(shape, n, run->count);

		if (slot_open_to(run, lane, i) && !run->reserved[i] &&
		    (!job || !run->avoid(run->arg, job, i))) {
			run->reserved[i] = true;
			run->open--;
		}
	}
}

static void look_at_slots(struct run *run, ends_fn *ends)
{
	run->open = 0;
	run->ends = NULL;
	run->paused = false;
	for (size_t i = 0; i < run->count; i++) {
		run->reserved[i] = !run->slots[i].usable;
		run->open += run->slots[i].usable;
		run->paused |= run->slots[i].usable && run->slots[i].paused;
		if (run->slots[i].until_ms)
			run->ends = ends;
	}
}

static void lane_begin(struct run *run, struct lane *lane)
{
	lane->first = 0;
	lane->paused_too = false;
	lane->paused_too =
		!run->paused || slots_open_to(run, lane, 0) < lane->shape.nodes;
}

/* Take the head of the lane out for this run; false: it stays. */
static bool set_aside(struct run *run, struct lane *lane)
{
	struct passed *passed;

	if (run->passed_count == PASSED_MAX)
		return false;
	passed = LIST_ADD(run->passed, run->passed_count, NULL);
	if (!passed)
		return false;
	*passed = (struct passed){
		.lane = (size_t)(lane - run->queue->lanes),
		.queued = lane->heap[0],
	};
	lane_pop(lane);
	return true;
}

/* Take the head out for this run if it would not end in time. */
static bool pass_over(struct run *run, struct lane *lane)
{
	run->ends_ms = run->ends ? run->ends(run->arg, lane->heap[0].job) : 0;
	return shape_late(&lane->shape, run->slots, run->count, run->ends_ms) &&
	       set_aside(run, lane);
}

static int take_back(struct run *run, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < run->passed_count; i++) {
		const struct passed *passed = &run->passed[i];

		run->queue->length--; /* queue_add() counts it again */
		if (queue_add(run->queue,
			      &run->queue->lanes[passed->lane].shape,
			      passed->queued.job, passed->queued.priority,
			      err) < 0)
			rc = -1;
	}
	free(run->passed);
	return rc;
}

/* Place the head of the lane, or what follows if it does not fit. False: the
 * run ends.
 */
static bool run_head(struct run *run, struct lanes *lanes, struct lane *lane,
		     place_fn *place)
{
	uint64_t job = lane->heap[0].job;

	if (pass_over(run, lane)) {
		lanes_push(lanes, lane);
		return true;
	}
	switch (try_head(run, lane)) {
	case HEAD_WAITS:
		reserve(run, lane, job);
		if (set_aside(run, lane))
			lanes_push(lanes, lane);
		return true;
	case HEAD_FITS_NOT:
		reserve(run, lane, 0);
		return true;
	default:
		break;
	}
	if (!place(run->arg, job, &lane->shape, run->placements))
		return false;
	lanes_push(lanes, lane);
	return true;
}

int scheduler_run(struct queue *queue, struct slot *slots, size_t count,
		  avoid_fn *avoid, ends_fn *ends, place_fn *place, void *arg,
		  struct error *err)
{
	owned_free struct run *run = malloc(sizeof(*run));
	owned_free bool *reserved = calloc(count + 1, sizeof(*reserved));
	owned_free struct lane **heap =
		calloc(queue->count + 1, sizeof(struct lane *));
	struct lanes lanes = { heap, 0 };

	if (!run || !reserved || !heap)
		return error_nomem(err, "scheduler");
	run->queue = queue;
	run->slots = slots;
	run->count = count;
	run->reserved = reserved;
	run->avoid = avoid;
	run->arg = arg;
	run->passed = NULL;
	run->passed_count = 0;
	look_at_slots(run, ends);
	queue_trim(queue);
	for (size_t i = 0; i < queue->count; i++) {
		lane_begin(run, &queue->lanes[i]);
		lanes_push(&lanes, &queue->lanes[i]);
	}
	while (lanes.count && run->open &&
	       run_head(run, &lanes, lanes_pop(&lanes), place))
		;
	return take_back(run, err);
}
