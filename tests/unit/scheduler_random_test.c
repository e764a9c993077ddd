/* scheduler_random_test.c - in any cluster and queue, what is placed suits.
 */
#include "controller/scheduler/scheduler.h"

#include "tests/tap.h"

#define ROOM 64 /* jobs of a world */

struct world {
	uint64_t seed;
	struct slot slots[16];
	struct slot_device parts[16][8];
	size_t slots_count;
	struct queue *queue;
	struct entry {
		struct shape shape;
		int64_t priority;
		bool waits, runs;
		struct placement placements[4];
		uint32_t pins[4];
	} jobs[ROOM]; /* by id */
	const char *wrong;
};

static uint64_t random_below(struct world *world, uint64_t n)
{
	/* Knuth's MMIX; the high bits are the good ones. */
	world->seed = world->seed * UINT64_C(6364136223846793005) +
		      UINT64_C(1442695040888963407);
	return (world->seed >> 33) % n;
}

static bool earlier(const struct world *world, uint64_t a, uint64_t b)
{
	int64_t pa = world->jobs[a].priority, pb = world->jobs[b].priority;

	return pa != pb ? pa > pb : a < b;
}

static bool of_chip(const struct slot *slot, uint32_t device,
		    const struct shape *shape)
{
	const char *chip = slot->parts ? slot->parts[device].chip : NULL;

	return !chip || !shape->chip || !strcmp(chip, shape->chip);
}

/* How many of its devices could do, how many are asked for, how many could be
 * had now. Counted in another way than the scheduler does.
 */
static void tell(const struct slot *slot, const struct shape *shape, int *could,
		 int *want, int *now)
{
	int all = 0;

	*could = *now = 0;
	for (uint32_t i = 0; i < slot->devices; i++) {
		if (!of_chip(slot, i, shape))
			continue;
		all++;
		if (slot->lost >> i & 1)
			continue;
		++*could;
		*now += !(slot->busy >> i & 1);
	}
	*want = shape->devices ? (int)shape->devices : all;
}

static bool suits(const struct slot *slot, const struct shape *shape)
{
	int could, want, now;

	tell(slot, shape, &could, &want, &now);
	return slot->usable && !strcmp(slot->vendor, shape->vendor) && want &&
	       could >= want;
}

/* May it have this slot at all? */
static bool allowed(const struct shape *shape, size_t slot)
{
	for (size_t i = 0; i < shape->pins_count; i++)
		if (shape->pins[i] == slot)
			return true;
	return !shape->pins;
}

static uint32_t count_suiting(const struct world *world,
			      const struct shape *shape)
{
	uint32_t n = 0;

	for (size_t i = 0; i < world->slots_count; i++)
		n += allowed(shape, i) && suits(&world->slots[i], shape);
	return n;
}

/* Could the job run now? */
static bool fits_now(const struct world *world, const struct shape *shape)
{
	uint32_t n = 0;

	for (size_t i = 0; i < world->slots_count; i++) {
		const struct slot *slot = &world->slots[i];
		int could, want, now;

		tell(slot, shape, &could, &want, &now);
		n += allowed(shape, i) && suits(slot, shape) &&
		     !slot->exclusive &&
		     (shape->shared ? now >= want : !slot->busy);
	}
	return n >= shape->nodes;
}

/* NUMA nodes among the devices; and the fewest that n of the free ones could
 * lie in, found by trying every set of NUMA nodes.
 */
static void numa_count(const struct slot *slot, uint64_t devices,
		       uint64_t available, int *got, int *fewest)
{
	int n = __builtin_popcountll(devices);
	unsigned int used = 0;

	*fewest = 99;
	for (uint32_t i = 0; i < slot->devices; i++)
		if (devices >> i & 1)
			used |= 1U << (slot->parts[i].numa + 1);
	*got = __builtin_popcount(used);
	for (unsigned int set = 1; set < 16; set++) {
		int there = 0;

		for (uint32_t i = 0; i < slot->devices; i++)
			there += (available >> i & 1) &&
				 (set >> (slot->parts[i].numa + 1) & 1);
		if (there >= n && __builtin_popcount(set) < *fewest)
			*fewest = __builtin_popcount(set);
	}
}

/* Its devices are free, of the chip, and near to each other. */
static void check_devices(struct world *world, const struct shape *shape,
			  const struct slot *slot, uint64_t devices)
{
	uint64_t available = 0;
	int got, fewest;

	for (uint32_t i = 0; i < slot->devices; i++)
		if (of_chip(slot, i, shape) && !(slot->lost >> i & 1) &&
		    (!(slot->busy >> i & 1) || devices >> i & 1))
			available |= UINT64_C(1) << i;
	if (devices & ~available)
		world->wrong = "a device was given that is lost, not of the "
			       "chip, or not there";
	if (!slot->parts)
		return;
	numa_count(slot, devices, available, &got, &fewest);
	if (got != fewest)
		world->wrong = "devices lie in more NUMA nodes than they must";
}

/* The job takes what is its own, and delays no earlier one that waits. */
static void check_place(struct world *world, uint64_t id)
{
	struct entry *job = &world->jobs[id];

	for (uint32_t i = 0; i < job->shape.nodes; i++) {
		const struct placement *at = &job->placements[i];
		const struct slot *slot = &world->slots[at->slot];
		int could, want, now;

		tell(slot, &job->shape, &could, &want, &now);
		if (!allowed(&job->shape, at->slot))
			world->wrong = "placed where it is not pinned to";
		if (!suits(slot, &job->shape))
			world->wrong = "placed where it does not suit";
		if (__builtin_popcountll(at->devices) != want)
			world->wrong = "placed on a wrong number of devices";
		check_devices(world, &job->shape, slot, at->devices);
		for (uint64_t other = 1; other < ROOM; other++) {
			const struct entry *before = &world->jobs[other];

			if (before->waits && earlier(world, other, id) &&
			    allowed(&before->shape, at->slot) &&
			    suits(slot, &before->shape) &&
			    count_suiting(world, &before->shape) >=
				    before->shape.nodes)
				world->wrong = "placed where it delays another";
		}
		for (uint32_t j = 0; j < i; j++)
			if (job->placements[j].slot == at->slot)
				world->wrong = "placed twice on one node";
	}
}

/* No two jobs hold the same device; an exclusive one is alone on its nodes. */
static void check_held(struct world *world)
{
	uint64_t busy[16] = { 0 };
	int jobs[16] = { 0 };
	bool exclusive[16] = { false };

	for (uint64_t id = 1; id < ROOM; id++) {
		const struct entry *job = &world->jobs[id];

		for (uint32_t i = 0; job->runs && i < job->shape.nodes; i++) {
			size_t slot = job->placements[i].slot;

			if (busy[slot] & job->placements[i].devices)
				world->wrong = "a device was given twice";
			busy[slot] |= job->placements[i].devices;
			jobs[slot]++;
			exclusive[slot] |= !job->shape.shared;
		}
	}
	for (size_t i = 0; i < world->slots_count; i++) {
		if (busy[i] != world->slots[i].busy)
			world->wrong = "the books on devices are wrong";
		if (exclusive[i] != world->slots[i].exclusive)
			world->wrong = "the books on nodes are wrong";
		if (exclusive[i] && jobs[i] > 1)
			world->wrong = "an exclusive job is not alone";
	}
}

static bool world_place(void *arg, uint64_t id, const struct shape *shape,
			const struct placement *placements)
{
	struct world *world = arg;
	struct entry *job = &world->jobs[id];

	if (!job->waits || job->shape.nodes != shape->nodes) {
		world->wrong = "a job was placed that does not wait";
		return false;
	}
	job->waits = false;
	job->runs = true;
	memcpy(job->placements, placements, shape->nodes * sizeof(*placements));
	check_place(world, id);
	check_held(world);
	return true;
}

/* After a run, the first one that waits for what exists cannot run. */
static void check_head(struct world *world)
{
	uint64_t head = 0;
	size_t waiting = 0;

	for (uint64_t id = 1; id < ROOM; id++) {
		struct entry *job = &world->jobs[id];

		waiting += job->waits;
		if (job->waits &&
		    count_suiting(world, &job->shape) >= job->shape.nodes &&
		    (!head || earlier(world, id, head)))
			head = id;
	}
	if (head && fits_now(world, &world->jobs[head].shape))
		world->wrong = "the head could run and was left waiting";
	if (waiting != queue_length(world->queue))
		world->wrong = "the queue has another length";
}

static void world_make(struct world *world, uint64_t seed)
{
	static const char *const vendors[] = { "cpu", "nvidia" };
	static const char *const chips[] = { "A", "B", NULL };

	*world = (struct world){ .seed = seed };
	world->slots_count = 1 + random_below(world, 8);
	for (size_t i = 0; i < world->slots_count; i++) {
		world->slots[i] = (struct slot){
			.vendor = vendors[random_below(world, 4) == 0],
			.devices = 1 + (uint32_t)random_below(world, 8),
			.usable = random_below(world, 8),
		};
		for (size_t j = 0; j < 8; j++)
			world->parts[i][j] = (struct slot_device){
				.numa = (int64_t)random_below(world, 4) - 1,
				.chip = chips[random_below(world, 3)],
			};
		if (random_below(world, 4))
			world->slots[i].parts = world->parts[i];
	}
	world->queue = queue_new(NULL);
}

static void world_submit(struct world *world, uint64_t id)
{
	struct entry *job = &world->jobs[id];

	job->shape = (struct shape){
		.vendor = random_below(world, 4) ? "cpu" : "nvidia",
		.nodes = 1 + (uint32_t)random_below(world, 4),
		.chip = random_below(world, 3) ? NULL : "A",
		.devices = (uint32_t)random_below(world, 5),
		.shared = random_below(world, 2),
	};
	for (uint32_t i = 0; i < 4 && !random_below(world, 2); i++) {
		uint32_t pin =
			(uint32_t)random_below(world, world->slots_count + 1);

		job->shape.pins = job->pins;
		if (!job->shape.pins_count || !allowed(&job->shape, pin))
			job->pins[job->shape.pins_count++] = pin;
	}
	job->priority = (int64_t)random_below(world, 3) - 1;
	job->waits = true;
	if (queue_add(world->queue, &job->shape, id, job->priority, NULL) < 0)
		world->wrong = "a job cannot be queued";
}

/* Something happens: jobs come, end, are cancelled; nodes go and come. */
static void world_step(struct world *world, uint64_t *next)
{
	struct entry *job = &world->jobs[1 + random_below(world, ROOM - 1)];
	struct slot *slot =
		&world->slots[random_below(world, world->slots_count)];

	switch (random_below(world, 9)) {
	case 0:
		slot->usable = !slot->usable;
		break;
	case 8:
		slot->lost ^= UINT64_C(1) << random_below(world, slot->devices);
		break;
	case 1:
		if (job->waits)
			queue_remove(world->queue, &job->shape,
				     (uint64_t)(job - world->jobs));
		job->waits = false;
		break;
	case 2:
	case 3:
	case 4:
		for (uint32_t i = 0; job->runs && i < job->shape.nodes; i++)
			slot_release(&world->slots[job->placements[i].slot],
				     job->placements[i].devices);
		job->runs = false;
		break;
	default:
		if (*next < ROOM)
			world_submit(world, (*next)++);
		break;
	}
}

static void random_worlds(void)
{
	const char *wrong = NULL;
	uint64_t seed, placed = 0, waiting = 0;

	for (seed = 1; seed <= 1500 && !wrong; seed++) {
		struct world world;
		uint64_t next = 1;

		world_make(&world, seed);
		for (int step = 0; step < 120 && !world.wrong; step++) {
			world_step(&world, &next);
			if (scheduler_run(world.queue, world.slots,
					  world.slots_count, NULL, NULL,
					  world_place, &world, NULL) < 0)
				world.wrong = "the run failed";
			check_held(&world);
			check_head(&world);
		}
		for (uint64_t id = 1; id < ROOM; id++) {
			placed += world.jobs[id].runs;
			waiting += world.jobs[id].waits;
		}
		wrong = world.wrong;
		queue_free(world.queue);
	}
	is(wrong, NULL, "1,500 random clusters and queues (seed %llu)",
	   (unsigned long long)seed - 1);
	ok(placed > 2000 && waiting > 2000,
	   "in which jobs run and jobs wait (%llu, %llu)",
	   (unsigned long long)placed, (unsigned long long)waiting);
}

int main(void)
{
	tap_begin(120);
	random_worlds();
	return tap_done();
}
