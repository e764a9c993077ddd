/* scheduler_test.c - who gets which nodes, in which order, and who waits.
 */
#include "controller/scheduler/scheduler.h"

#include "tests/tap.h"

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

	if (scheduler_run(queue, slots, count, NULL, NULL, note, &placed,
			  NULL) < 0)
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

/* Nodes that two waiting jobs want are kept once, and the rest goes on. */
static void backfill_beside_two(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 1), node("cpu", 1), node("gpu", 1),
				node("gpu", 1) };

	slots[0].busy = 1;
	slots[0].exclusive = true;
	add(queue, whole("cpu", 2), 1, 0);
	add(queue, some(2, 1), 2, 0);
	add(queue, whole("gpu", 1), 3, 0);
	add(queue, whole("gpu", 1), 4, 0);
	RUNS(queue, slots, "3@2 4@3",
	     "the nodes that two waiting jobs share are reserved once");
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

static enum avoided avoid_first(void *arg, uint64_t job, size_t slot)
{
	return job == 1 && slot == 0 ? AVOIDED_LAST : AVOIDED_NOT;
}

static enum avoided leave_first(void *arg, uint64_t job, size_t slot)
{
	return job == 1 && slot == 0 ? AVOIDED_WAIT : AVOIDED_NOT;
}

static void avoiding(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 1), node("cpu", 1) };
	struct placed placed = { .count = 0 };

	add(queue, whole("cpu", 1), 1, 0);
	add(queue, whole("cpu", 1), 2, 0);
	scheduler_run(queue, slots, 2, avoid_first, NULL, note, &placed, NULL);
	is(placed.text, "1@1 2@0", "a job gets the node that it avoids last");
	slot_release(&slots[0], 1);
	slot_release(&slots[1], 1);
	placed = (struct placed){ .count = 0 };
	add(queue, whole("cpu", 2), 1, 0);
	scheduler_run(queue, slots, 2, avoid_first, NULL, note, &placed, NULL);
	is(placed.text, "1@0,1", "and gets it where nothing else is left");
	slot_release(&slots[0], 1);
	placed = (struct placed){ .count = 0 };
	add(queue, whole("cpu", 1), 1, 0);
	scheduler_run(queue, slots, 2, avoid_first, NULL, note, &placed, NULL);
	is(placed.text, "1@0", "rather than wait");
}

static void waiting_for_others(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 1), node("cpu", 1) };
	struct placed placed = { .count = 0 };

	slot_take(&slots[1], &(struct shape){ .shared = false }, 1);
	add(queue, whole("cpu", 1), 1, 0);
	add(queue, whole("cpu", 1), 2, 0);
	add(queue, whole("cpu", 1), 3, 0);
	scheduler_run(queue, slots, 2, leave_first, NULL, note, &placed, NULL);
	is(placed.text, "2@0",
	   "a job waits for another node, and the next one runs meanwhile");
	slot_release(&slots[1], 1);
	placed = (struct placed){ .count = 0 };
	scheduler_run(queue, slots, 2, leave_first, NULL, note, &placed, NULL);
	is(placed.text, "1@1", "it gets that first");
	queue_remove(queue, &(struct shape){ .vendor = "cpu", .nodes = 1 }, 3);
	slot_release(&slots[0], 1);
	placed = (struct placed){ .count = 0 };
	slots[1].usable = false;
	add(queue, whole("cpu", 1), 1, 0);
	scheduler_run(queue, slots, 2, leave_first, NULL, note, &placed, NULL);
	is(placed.text, "1@0", "it does not wait for a node that is away");
}

static void pausing(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 4), node("cpu", 4) };

	slots[0].paused = true;
	add(queue, whole("cpu", 1), 1, 0);
	add(queue, whole("cpu", 1), 2, 0);
	RUNS(queue, slots, "1@1", "a paused node is left alone");
	add(queue, whole("cpu", 2), 3, 1);
	slot_release(&slots[1], 15);
	RUNS(queue, slots, "3@0,1",
	     "but for a job that has too few others, which is next");
	slot_release(&slots[0], 15);
	slot_release(&slots[1], 15);
	slots[1].usable = false;
	RUNS(queue, slots, "2@0", "and where no other is left");
	slot_release(&slots[0], 15);
	slots[0].single = true;
	add(queue, some(1, 1), 4, 0);
	add(queue, some(1, 1), 5, 0);
	RUNS(queue, slots, "4@0", "a node on probation has one job at a time");
	slot_release(&slots[0], 1);
	RUNS(queue, slots, "5@0", "then the next");
}

/* Odd jobs last for a minute, others for an hour; 9 is of unknown length. */
static int64_t by_number(void *arg, uint64_t job)
{
	return job == 9 ? 0 : job % 2 ? 60000 : 3600000;
}

static struct placed run_in_time(struct queue *queue, struct slot *slots,
				 size_t count)
{
	struct placed placed = { .count = 0 };

	scheduler_run(queue, slots, count, NULL, by_number, note, &placed,
		      NULL);
	return placed;
}

static void slots_that_leave(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 1), node("cpu", 1) };
	struct shape one = whole("cpu", 1), two = whole("cpu", 2);

	slots[0].until_ms = 600000;
	add(queue, one, 2, 0);
	add(queue, one, 3, 0);
	is(run_in_time(queue, slots, 2).text, "2@1 3@0",
	   "a long job gets the slot that stays, a short one the other");
	slots[0] = slots[1] = node("cpu", 1);
	slots[0].until_ms = slots[1].until_ms = 600000;
	add(queue, one, 4, 1);
	add(queue, two, 6, 1);
	add(queue, one, 5, 0);
	add(queue, one, 9, 0);
	is(run_in_time(queue, slots, 2).text, "5@0 9@1",
	   "where it is late for all it is passed over, also in its lane");
	is_int((int64_t)queue_length(queue), 2, "and stays in the queue");
	ok(shape_late(&two, slots, 2, 3600000) &&
		   !shape_late(&two, slots, 2, 60000) &&
		   !shape_late(&two, slots, 1, 3600000),
	   "late is what only lacks time");
	slots[0] = slots[1] = node("cpu", 1);
	is(run_in_time(queue, slots, 2).text, "4@0",
	   "it runs, in its order, on slots that stay");
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

static void acceptances(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 1), node("cpu", 1),
				node("cpu", 1) };
	struct shape shape = whole("cpu", 1);

	slots[1].labels = ",accepted=999,rack=a,";
	slots[2].labels = ",rack=a,accepted=1000,";
	shape.labels = "accepted=1000";
	add(queue, shape, 1, 0);
	add(queue, shape, 2, 0);
	RUNS(queue, slots, "1@2", "a job runs where nodes were accepted since");
	slots[1].labels = ",accepted=10000,";
	RUNS(queue, slots, "2@1", "and waits for others until they are");
	shape.labels = "accepted=-86400";
	add(queue, shape, 3, 0);
	RUNS(queue, slots, "3@0", "before its submission that is open");
}

static void names(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 1), node("cpu", 1), node("cpu", 1),
				node("cpu", 1) };
	struct shape shape = whole("cpu", 2);

	slots[0].name = "n1";
	slots[1].name = "n10";
	slots[2].name = "n2";
	slots[3].labels = ",node=n10,";
	shape.labels = "node=n10+n2";
	add(queue, shape, 1, 0);
	shape.labels = "node=n";
	shape.nodes = 1;
	add(queue, shape, 2, 0);
	RUNS(queue, slots, "1@1,2", "a job runs on the nodes that it names");
	shape.labels = "disk=nvme,node=n1";
	add(queue, shape, 3, 0);
	RUNS(queue, slots, "", "which have its labels, too");
	slots[0].labels = ",disk=nvme,";
	RUNS(queue, slots, "3@0", "when they have");
}

static void stopping(void)
{
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct slot slots[] = { node("cpu", 1), node("cpu", 1) };
	struct placed placed = { .stop_after = 1 };

	add(queue, whole("cpu", 1), 1, 0);
	add(queue, whole("cpu", 1), 2, 0);
	scheduler_run(queue, slots, 2, NULL, NULL, note, &placed, NULL);
	is(placed.text, "1@0", "a run ends when it is told to");
	RUNS(queue, slots, "2@1", "and the next goes on");
	is(run(queue, slots, 0).text, "", "no slots, no placements");
	add(queue, whole("cpu", SCHEDULER_GANG_MAX + 1), 3, 0);
	RUNS(queue, slots, "", "a gang past the limit never runs");
}

/* As large as it gets. */

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

	for (size_t i = 0; i < ROOM; i++)
		slots[i] = node("cpu", 1);
	for (uint64_t job = 1; job <= 100000; job++)
		add(queue, whole("cpu", 1 + job % 4), job, 0);
	while (queue_length(queue)) {
		uint64_t before = tally.count;

		scheduler_run(queue, slots, ROOM, NULL, NULL, tally_place,
			      &tally, NULL);
		if (tally.count == before)
			break;
		for (size_t i = 0; i < ROOM; i++)
			slot_release(&slots[i], 1);
	}
	is_int((long long)tally.count, 100000, "100,000 jobs are placed");
	ok(tally.ordered, "one after the other");
}

static void many_nodes(void)
{
	const uint64_t nodes = 10000;
	owned(queue_free) struct queue *queue = queue_new(NULL);
	owned_free struct slot *slots = calloc(nodes, sizeof(*slots));
	struct tally tally = { .ordered = true };

	for (size_t i = 0; i < nodes; i++)
		slots[i] = node("cpu", 1);
	for (uint64_t job = 1; job <= 2 * nodes; job++)
		add(queue, whole("cpu", 1), job, 0);
	scheduler_run(queue, slots, nodes, NULL, NULL, tally_place, &tally,
		      NULL);
	is_int((long long)tally.count, (long long)nodes,
	       "10,000 jobs on 10,000 nodes in one run");
}

/* As jobs of chains are: each has one node that it waits for. */
static void many_pinned(void)
{
	const uint32_t nodes = 4000;
	owned(queue_free) struct queue *queue = queue_new(NULL);
	owned_free struct slot *slots = calloc(nodes, sizeof(*slots));
	struct tally tally = { .ordered = true };

	for (uint32_t i = 0; i < nodes; i++) {
		slots[i] = node("cpu", 1);
		add(queue, pinned(1, &i, 1), 1 + i, 0);
		add(queue, pinned(1, &i, 1), 1 + nodes + i, 0);
	}
	scheduler_run(queue, slots, nodes, NULL, NULL, tally_place, &tally,
		      NULL);
	scheduler_run(queue, slots, nodes, NULL, NULL, tally_place, &tally,
		      NULL);
	is_int((long long)tally.count, nodes, "4,000 jobs pinned to a node");
	ok(tally.ordered, "each, one after the other");
}

static void many_cancelled(void)
{
	const uint64_t jobs = 100000;
	owned(queue_free) struct queue *queue = queue_new(NULL);
	struct shape shape = whole("cpu", 1);

	for (uint64_t job = 1; job <= 2 * jobs; job++)
		add(queue, shape, job, 0);
	for (uint64_t job = jobs + 1; job <= 2 * jobs; job++)
		queue_remove(queue, &shape, job);
	is_int((long long)queue_length(queue), (long long)jobs,
	       "100,000 jobs behind as many others are cancelled");
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
	backfill_beside_two();
	backfill_of_devices();
	avoiding();
	waiting_for_others();
	pausing();
	slots_that_leave();
	removing();
	pins();
	labels();
	acceptances();
	names();
	stopping();
	many_jobs();
	many_nodes();
	many_pinned();
	many_cancelled();
	return tap_done();
}
