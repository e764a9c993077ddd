/* scheduler_test.c - who gets which nodes, in which order, and who waits.
 */
#include "controller/cluster/scheduler.h"

#include "tests/tap.h"

#include <time.h>

#define ROOM 64 /* slots or jobs of a small test */

/* What a run placed, as text: "7@0,2 9@1" is job 7 on slots 0 and 2 ... */
struct placed {
	char text[2048];
	int stop_after; /* 0: never */
	int count;
	uint64_t devices; /* of the last placement */
};

static bool note(void *arg, uint64_t job, const struct shape *shape,
		 const struct placement *placements)
{
	struct placed *placed = arg;
	size_t n = strlen(placed->text);

	n += (size_t)snprintf(placed->text + n, sizeof(placed->text) - n,
			      "%s%llu@", n ? " " : "", (unsigned long long)job);
	for (uint32_t i = 0; i < shape->nodes; i++) {
		n += (size_t)snprintf(placed->text + n,
				      sizeof(placed->text) - n, "%s%zu",
				      i ? "," : "", placements[i].slot);
		placed->devices = placements[i].devices;
	}
	return ++placed->count != placed->stop_after;
}

static struct placed run(struct queue *queue, struct slot *slots, size_t count)
{
	struct placed placed = { .count = 0 };

	if (scheduler_run(queue, slots, count, NULL, note, &placed, NULL) < 0)
		snprintf(placed.text, sizeof(placed.text), "failed");
	return placed;
}

#define RUNS(queue, slots, want, ...)                                          \
	is(run((queue), (slots), sizeof(slots) / sizeof(*(slots))).text,       \
	   (want), __VA_ARGS__)

static struct slot node(const char *vendor, uint32_t devices)
{
	return (struct slot){ .vendor = vendor,
			      .devices = devices,
			      .usable = true };
}

static struct shape whole(const char *vendor, uint32_t nodes)
{
	return (struct shape){ .vendor = vendor, .nodes = nodes };
}

static struct shape some(uint32_t nodes, uint32_t devices)
{
	return (struct shape){ .vendor = "cpu",
			       .nodes = nodes,
			       .devices = devices,
			       .shared = true };
}

static void add(struct queue *queue, struct shape shape, uint64_t job,
		int64_t priority)
{
	if (queue_add(queue, &shape, job, priority, NULL) < 0)
		ok(false, "job %llu cannot be queued", (unsigned long long)job);
}

static void gangs(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 2), node("cpu", 2),
				node("cpu", 2) };
	struct placed placed;

	add(queue, whole("cpu", 2), 1, 0);
	add(queue, whole("cpu", 2), 2, 0);
	RUNS(queue, slots, "1@0,1", "a gang gets all its nodes, or none");
	is_int((long long)queue_length(queue), 1, "what is placed has left");
	ok(slots[0].exclusive && slots[1].exclusive && slots[0].busy == 3,
	   "and holds all devices for itself");
	RUNS(queue, slots, "", "nothing is placed twice");
	slot_release(&slots[0], 3);
	ok(!slots[0].exclusive && !slots[0].busy, "a node is given back");
	placed = run(queue, slots, 3);
	is(placed.text, "2@0,2", "then the other gang fits");
	is_int((long long)placed.devices, 3, "on all devices");
	is_int((long long)queue_length(queue), 0, "nobody waits");
}

static void what_suits(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("nvidia", 8), node("cpu", 1),
				node("nvidia", 4), node("nvidia", 8),
				node("nvidia", 8) };
	struct shape eight = { .vendor = "nvidia", .nodes = 2, .devices = 8 };

	slots[3].usable = false;
	add(queue, eight, 1, 0);
	add(queue, whole("metax", 1), 2, 0);
	add(queue, whole("cpu", 1), 3, 0);
	RUNS(queue, slots, "1@0,4 3@1",
	     "vendor, number of devices and health of the node count");
	is_int((long long)queue_length(queue), 1,
	       "what no node can run stays queued");
	slots[3].usable = true;
	slots[3].vendor = "metax";
	RUNS(queue, slots, "2@3", "until such a node comes");
}

static void fewer_devices_than_the_node_has(void)
{
	struct slot slot = node("cpu", 8);
	struct shape two = { .vendor = "cpu", .nodes = 1, .devices = 2 };
	struct shape nine = { .vendor = "cpu", .nodes = 1, .devices = 9 };
	uint64_t devices = 0;

	ok(slot_fits(&slot, &two, &devices), "a job may use fewer devices");
	is_int((long long)devices, 3, "it gets the first ones");
	slot_take(&slot, &two, devices);
	two.shared = true;
	ok(!slot_fits(&slot, &two, &devices),
	   "and yet it shares its node with nobody");
	ok(!slot_suits(&slot, &nine), "more than the node has does not suit");
	slot_release(&slot, 3);
	ok(slot_fits(&slot, &two, &devices), "when it has left, others fit");
}

static void all_of_64_devices(void)
{
	struct slot slot = node("cpu", 64);
	struct shape shape = whole("cpu", 1);
	uint64_t devices = 0;

	ok(slot_fits(&slot, &shape, &devices), "a node of 64 devices fits");
	ok(devices == UINT64_MAX, "and all 64 are given");
	slot_take(&slot, &shape, devices);
	slot_release(&slot, devices);
	ok(!slot.busy && !slot.exclusive, "and given back");
	slot = node("cpu", 63);
	ok(slot_fits(&slot, &shape, &devices) && devices == UINT64_MAX >> 1,
	   "of 63 devices, 63 are given");
}

static void single_devices(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 4), node("cpu", 4) };

	for (uint64_t job = 1; job <= 5; job++)
		add(queue, some(1, 2), job, 0);
	RUNS(queue, slots, "1@0 2@0 3@1 4@1",
	     "shared jobs fill the devices of a node");
	ok(slots[0].busy == 15 && !slots[0].exclusive, "each device once");
	slot_release(&slots[0], 6);
	is_int(run(queue, slots, 2).devices == 6, 1,
	       "any two free ones are given again");
	add(queue, whole("cpu", 1), 6, 0);
	slot_release(&slots[1], 3);
	RUNS(queue, slots, "", "an exclusive job waits for a whole node");
	slot_release(&slots[1], 12);
	RUNS(queue, slots, "6@1", "and gets it");
	add(queue, some(1, 1), 7, 0);
	RUNS(queue, slots, "", "no shared job goes where it is");
}

/* A shared gang takes one slot per node, never two parts of the same. */
/* The devices that two free NUMA nodes of four would give, by mask. */
static uint64_t given(struct slot slot, uint64_t busy, uint32_t devices)
{
	struct shape shape = some(1, devices);
	uint64_t got = 0;

	slot.busy = busy;
	return slot_fits(&slot, &shape, &got) ? got : 0;
}

static void numa_nodes(void)
{
	static const struct slot_device parts[8] = {
		{ .numa = 1 }, { .numa = 0 }, { .numa = 1 }, { .numa = 0 },
		{ .numa = 0 }, { .numa = 1 }, { .numa = 0 }, { .numa = 1 },
	};
	static const struct slot_device unknown[8] = {
		{ .numa = -1 }, { .numa = -1 }, { .numa = -1 }, { .numa = -1 },
		{ .numa = -1 }, { .numa = -1 }, { .numa = -1 }, { .numa = -1 },
	};
	struct slot slot = node("cpu", 8);

	is_int((int)given(slot, 0, 3), 7, "without NUMA the first are taken");
	slot.parts = unknown;
	is_int((int)given(slot, 0, 3), 7, "as where it is unknown");
	slot.parts = parts;
	is_int((int)given(slot, 0, 4), 0xa5, "four of one NUMA node");
	is_int((int)given(slot, 0x01, 1), 0x04,
	       "the NUMA node with least left is filled first");
	is_int((int)given(slot, 0x01, 4), 0x5a,
	       "what one NUMA node can hold is not torn apart");
	is_int((int)given(slot, 0, 6), 0xaf, "as few NUMA nodes as can be");
	is_int((int)given(slot, 0x85, 5), 0x7a, "whatever is left");
	is_int((int)given(slot, 0x85, 6), 0, "or nothing");
}

static void lost_devices(void)
{
	struct slot slot = node("cpu", 8);
	struct shape all = whole("cpu", 1), seven = some(1, 7);
	uint64_t got = 0;

	slot.lost = 0x08;
	ok(!slot_suits(&slot, &all),
	   "who needs all devices needs the lost one");
	ok(slot_fits(&slot, &seven, &got) && got == 0xf7,
	   "seven of eight are the others");
	seven.shared = false;
	ok(slot_fits(&slot, &seven, &got) && got == 0xf7,
	   "for an exclusive job, too");
}

static void chips(void)
{
	static const struct slot_device mixed[4] = { { .chip = "A100" },
						     { .chip = "H800" },
						     { .chip = "A100" },
						     { 0 } };
	struct slot slot = node("cpu", 4);
	struct shape shape = some(1, 2);
	uint64_t got = 0;

	shape.chip = "H800";
	ok(slot_fits(&slot, &shape, &got) && got == 3,
	   "a node that does not know its chips suits any");
	slot.parts = mixed;
	ok(slot_fits(&slot, &shape, &got) && got == 0xa,
	   "of mixed chips the right ones are taken");
	shape.devices = 0;
	shape.chip = "A100";
	ok(slot_fits(&slot, &shape, &got) && got == 0xd,
	   "all of a node are all of the chip");
	shape.chip = "B200";
	shape.devices = 2;
	ok(!slot_suits(&slot, &shape), "no such chip, no such node");
}

static void chips_in_the_queue(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	static const struct slot_device a[1] = { { .chip = "A" } };
	static const struct slot_device b[1] = { { .chip = "B" } };
	struct slot slots[] = { node("cpu", 1), node("cpu", 1) };
	struct shape shape = some(1, 1);

	slots[0].parts = a;
	slots[1].parts = b;
	shape.chip = "B";
	add(queue, shape, 1, 0);
	add(queue, shape, 2, 0);
	shape.chip = "A";
	add(queue, shape, 3, 0);
	RUNS(queue, slots, "1@1 3@0", "jobs of several chips wait apart");
}

static void shared_gangs(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 4), node("cpu", 4) };

	add(queue, some(2, 1), 1, 0);
	add(queue, some(2, 3), 2, 0);
	add(queue, some(1, 1), 3, 0);
	RUNS(queue, slots, "1@0,1 2@0,1",
	     "the nodes of a shared gang are different ones");
	ok(slots[0].busy == 15 && slots[1].busy == 15, "and are full now");
}

static void order(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 1) };
	static const struct {
		uint64_t job;
		int64_t priority;
	} jobs[] = { { 5, 0 },         { 3, 0 }, { 9, 7 }, { 4, -2 },
		     { 8, INT64_MIN }, { 2, 7 }, { 7, 0 }, { 1, INT64_MAX },
		     { 6, -2 },        { 10, 0 } };
	char text[256] = "";

	for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++)
		add(queue, jobs[i].job & 1 ? whole("cpu", 1) : some(1, 1),
		    jobs[i].job, jobs[i].priority);
	while (queue_length(queue)) {
		struct placed placed = run(queue, slots, 1);
		size_t n = strlen(text);

		if (placed.count != 1)
			break;
		snprintf(text + n, sizeof(text) - n, "%.20s ", placed.text);
		slot_release(&slots[0], 1);
	}
	is(text, "1@0 2@0 9@0 3@0 5@0 7@0 10@0 4@0 6@0 8@0 ",
	   "by priority, then by id, over all shapes");
}

static void backfill(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 1), node("cpu", 1), node("gpu", 1),
				node("cpu", 1) };

	add(queue, whole("cpu", 1), 1, 0);
	add(queue, whole("cpu", 3), 2, 0);
	add(queue, whole("cpu", 1), 3, 0);
	add(queue, whole("gpu", 1), 4, 0);
	RUNS(queue, slots, "1@0 4@2",
	     "who could delay the head waits, who cannot runs");
	slot_release(&slots[0], 1);
	RUNS(queue, slots, "2@0,1,3", "the head runs as soon as it can");
	slot_release(&slots[1], 1);
	RUNS(queue, slots, "3@1", "then those behind it");

	add(queue, whole("cpu", 4), 5, 9);
	add(queue, whole("cpu", 1), 6, 0);
	slot_release(&slots[3], 1);
	RUNS(queue, slots, "6@3",
	     "who asks for more nodes than there are holds up nobody");
}

/* A head that waits for devices of a shared node keeps them from others. */
static void backfill_of_devices(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 4) };

	slots[0].busy = 1;
	add(queue, some(1, 4), 1, 0);
	add(queue, some(1, 1), 2, 0);
	RUNS(queue, slots, "", "free devices of a reserved node are kept");
	slot_release(&slots[0], 1);
	RUNS(queue, slots, "1@0", "for the head");
}

static bool avoid_first(void *arg, uint64_t job, size_t slot)
{
	return job == 1 && slot == 0;
}

static void avoiding(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 1), node("cpu", 1) };
	struct placed placed = { .count = 0 };

	add(queue, whole("cpu", 1), 1, 0);
	add(queue, whole("cpu", 1), 2, 0);
	scheduler_run(queue, slots, 2, avoid_first, note, &placed, NULL);
	is(placed.text, "1@1 2@0", "a job gets the node that it avoids last");
	slot_release(&slots[0], 1);
	slot_release(&slots[1], 1);
	placed = (struct placed){ .count = 0 };
	add(queue, whole("cpu", 2), 1, 0);
	scheduler_run(queue, slots, 2, avoid_first, note, &placed, NULL);
	is(placed.text, "1@0,1", "and gets it where nothing else is left");
	slot_release(&slots[0], 1);
	placed = (struct placed){ .count = 0 };
	add(queue, whole("cpu", 1), 1, 0);
	scheduler_run(queue, slots, 2, avoid_first, note, &placed, NULL);
	is(placed.text, "1@0", "rather than wait");
}

static void removing(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 1) };
	struct shape shape = whole("cpu", 1), other = whole("gpu", 1);
	char text[512] = "";

	for (uint64_t i = 1; i <= 40; i++)
		add(queue, shape, i * 7 % 41, (int64_t)(i * 7 % 41 % 2));
	for (uint64_t job = 1; job <= 40; job++)
		if (job % 5)
			queue_remove(queue, &shape, job);
	queue_remove(queue, &shape, 99);
	queue_remove(queue, &other, 5);
	queue_remove(queue, &shape, 1);
	is_int((long long)queue_length(queue), 8,
	       "who is not there can be removed, and is not counted");
	for (int i = 0; i < 9; i++) {
		size_t n = strlen(text);

		snprintf(text + n, sizeof(text) - n, "%.20s ",
			 run(queue, slots, 1).text);
		slot_release(&slots[0], 1);
	}
	is(text, "5@0 15@0 25@0 35@0 10@0 20@0 30@0 40@0  ",
	   "the others keep their order");
	add(queue, shape, 5, 0);
	queue_remove(queue, &shape, 5);
	add(queue, shape, 5, 0);
	is_int(queue_add(queue, &shape, 5, 1, NULL), -1,
	       "but nobody is queued twice");
	RUNS(queue, slots, "5@0", "who was removed may come again");
	is_int((long long)queue_length(queue), 0, "and is there once");
}

static struct shape pinned(uint32_t nodes, const uint32_t *pins, size_t count)
{
	struct shape shape = whole("cpu", nodes);

	shape.pins = pins;
	shape.pins_count = count;
	return shape;
}

static void pins(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	static const uint32_t two_zero[] = { 2, 0 }, one[] = { 1 };
	static const uint32_t nowhere[] = { 9 };
	struct slot slots[] = { node("cpu", 1), node("cpu", 1),
				node("cpu", 1) };
	uint32_t own[] = { 2, 0 };

	add(queue, pinned(2, own, 2), 1, 0);
	memset(own, 0, sizeof(own));
	RUNS(queue, slots, "1@2,0", "a gang gets its pins in their order");
	add(queue, pinned(1, two_zero, 2), 2, 0);
	add(queue, whole("cpu", 1), 3, 0);
	RUNS(queue, slots, "3@1", "who waits for pins takes nothing else");
	add(queue, pinned(1, one, 1), 4, 0);
	add(queue, whole("cpu", 1), 5, 0);
	slot_release(&slots[1], 1);
	slot_release(&slots[0], 1);
	RUNS(queue, slots, "2@0 4@1", "each gets its own");
	slot_release(&slots[0], 1);
	slot_release(&slots[1], 1);
	slot_release(&slots[2], 1);
	slots[1].usable = false;
	add(queue, pinned(1, one, 1), 6, 9);
	add(queue, pinned(1, nowhere, 1), 7, 9);
	add(queue, pinned(2, one, 1), 8, 9);
	RUNS(queue, slots, "5@0",
	     "who is pinned to what is not there holds up nobody");
	queue_remove(queue, &(struct shape){ .vendor = "cpu", .nodes = 1 }, 6);
	is_int((long long)queue_length(queue), 3,
	       "a job is found by its pins alone");
	slots[1].usable = true;
	slots[1].exclusive = true;
	add(queue, whole("cpu", 1), 9, 0);
	RUNS(queue, slots, "9@2", "only what it is pinned to is kept for it");
	slots[1].exclusive = false;
	RUNS(queue, slots, "6@1", "which it then gets");
}

static void labels(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 1), node("cpu", 1), node("cpu", 1),
				node("cpu", 1) };
	struct shape shape = whole("cpu", 1);

	slots[1].labels = ",disk=nvme,";
	slots[2].labels = ",rack=ab,disk=nvme,";
	slots[3].labels = ",disk=nvme,rack=a,";
	shape.labels = "disk=nvme,rack=a";
	add(queue, shape, 1, 0);
	add(queue, shape, 2, 0);
	RUNS(queue, slots, "1@3", "a job runs where all its labels are");
	shape.labels = "disk=nvme";
	add(queue, shape, 3, 0);
	shape.labels = NULL;
	add(queue, shape, 4, 0);
	RUNS(queue, slots, "3@1 4@0", "another one where its own are, or any");
	slots[2].labels = ",rack=a,disk=nvme,";
	RUNS(queue, slots, "2@2", "and the first when a node gets them");
}

static void stopping(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 1), node("cpu", 1) };
	struct placed placed = { .stop_after = 1 };

	add(queue, whole("cpu", 1), 1, 0);
	add(queue, whole("cpu", 1), 2, 0);
	scheduler_run(queue, slots, 2, NULL, note, &placed, NULL);
	is(placed.text, "1@0", "a run ends when it is told to");
	RUNS(queue, slots, "2@1", "and the next goes on");
	is(run(queue, slots, 0).text, "", "no slots, no placements");
	add(queue, whole("cpu", SCHEDULER_GANG_MAX + 1), 3, 0);
	RUNS(queue, slots, "", "a gang past the limit never runs");
}

/* Property test: random clusters and queues. */

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
		world->slots[i] = node(vendors[random_below(world, 4) == 0],
				       1 + (uint32_t)random_below(world, 8));
		world->slots[i].usable = random_below(world, 8);
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
	add(world->queue, job->shape, id, job->priority);
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
					  world.slots_count, NULL, world_place,
					  &world, NULL) < 0)
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

/* Speed, in processor time: other work on the machine does not count. */

struct tally {
	uint64_t count, last;
	bool ordered;
};

static bool tally_place(void *arg, uint64_t job, const struct shape *shape,
			const struct placement *placements)
{
	struct tally *tally = arg;

	tally->ordered &= job > tally->last;
	tally->last = job;
	tally->count++;
	return true;
}

static void many_jobs(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct tally tally = { .ordered = true };
	struct slot slots[ROOM];
	clock_t begin = clock();
	double seconds;

	for (size_t i = 0; i < ROOM; i++)
		slots[i] = node("cpu", 1);
	for (uint64_t job = 1; job <= 100000; job++)
		add(queue, whole("cpu", 1 + job % 4), job, 0);
	while (queue_length(queue)) {
		uint64_t before = tally.count;

		scheduler_run(queue, slots, ROOM, NULL, tally_place, &tally,
			      NULL);
		if (tally.count == before)
			break;
		for (size_t i = 0; i < ROOM; i++)
			slot_release(&slots[i], 1);
	}
	seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
	is_int((long long)tally.count, 100000, "100,000 jobs are placed");
	ok(tally.ordered, "one after the other");
	ok(seconds < 5, "in %.2f s", seconds);
}

static void many_nodes(void)
{
	const uint64_t nodes = 10000;
	owned(queue_free) struct queue *queue = queue_new(NULL);
	owned_free struct slot *slots = calloc(nodes, sizeof(*slots));
	struct tally tally = { .ordered = true };
	clock_t begin = clock();
	double seconds;

	for (size_t i = 0; i < nodes; i++)
		slots[i] = node("cpu", 1);
	for (uint64_t job = 1; job <= 2 * nodes; job++)
		add(queue, whole("cpu", 1), job, 0);
	scheduler_run(queue, slots, nodes, NULL, tally_place, &tally, NULL);
	seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
	is_int((long long)tally.count, (long long)nodes,
	       "10,000 jobs on 10,000 nodes in one run");
	ok(seconds < 0.5, "in %.2f s", seconds);
}

/* As jobs of chains are: each has one node that it waits for. */
static void many_pinned(void)
{
	const uint32_t nodes = 4000;
	owned(queue_free) struct queue *queue = queue_new(NULL);
	owned_free struct slot *slots = calloc(nodes, sizeof(*slots));
	struct tally tally = { .ordered = true };
	clock_t begin = clock();
	double seconds;

	for (uint32_t i = 0; i < nodes; i++) {
		slots[i] = node("cpu", 1);
		add(queue, pinned(1, &i, 1), 1 + i, 0);
		add(queue, pinned(1, &i, 1), 1 + nodes + i, 0);
	}
	scheduler_run(queue, slots, nodes, NULL, tally_place, &tally, NULL);
	scheduler_run(queue, slots, nodes, NULL, tally_place, &tally, NULL);
	seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
	is_int((long long)tally.count, nodes, "4,000 jobs pinned to a node");
	ok(tally.ordered, "each, one after the other");
	ok(seconds < 0.5, "in %.2f s", seconds);
}

static void many_cancelled(void)
{
	const uint64_t jobs = 100000;
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct shape shape = whole("cpu", 1);
	clock_t begin = clock();
	double seconds;

	for (uint64_t job = 1; job <= 2 * jobs; job++)
		add(queue, shape, job, 0);
	for (uint64_t job = jobs + 1; job <= 2 * jobs; job++)
		queue_remove(queue, &shape, job);
	seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
	is_int((long long)queue_length(queue), (long long)jobs,
	       "100,000 jobs behind as many others are cancelled");
	ok(seconds < 5, "in %.2f s", seconds);
}

int main(void)
{
	tap_begin(240);
	gangs();
	what_suits();
	fewer_devices_than_the_node_has();
	all_of_64_devices();
	single_devices();
	numa_nodes();
	lost_devices();
	chips();
	chips_in_the_queue();
	shared_gangs();
	order();
	backfill();
	backfill_of_devices();
	avoiding();
	removing();
	pins();
	labels();
	stopping();
	random_worlds();
	many_jobs();
	many_nodes();
	many_pinned();
	many_cancelled();
	return tap_done();
}
