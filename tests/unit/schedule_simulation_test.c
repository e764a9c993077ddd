/* schedule_simulation_test.c - what would run where, in which order, and for
 * how long.
 */
#include "controller/api/schedule_simulation.h"

#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>

static struct catalog *catalog;

static struct sweep *parse(const char *text)
{
	struct error err = { 0 };
	struct sweep *sweep =
		sweep_parse(text, strlen(text), "f", catalog, &err);

	if (!sweep)
		printf("# %s\n", err.text);
	return sweep;
}

/* A free node of 8 devices. */
#define FREE_NODE                                                              \
	{                                                                      \
		.vendor = "cpu", .devices = 8, .usable = true                  \
	}

/* With nobody else. */
static struct schedule_simulation *simulate(struct sweep *sweep,
					    struct slot *slots, size_t count,
					    const uint64_t *times,
					    struct error *err)
{
	return schedule_simulation_new(sweep, slots, count, NULL, 0, times,
				       err);
}

/* "wave-last@start slots" of a cell. */
static void cell_is(const struct schedule_simulation *simulation, size_t cell,
		    const char *want)
{
	const struct schedule_simulation_cell *of = &simulation->cells[cell];
	char got[400];
	int used = snprintf(got, sizeof(got), "%u-%u@%llu", of->first_wave,
			    of->last_wave, (unsigned long long)of->start_ms);

	for (uint32_t i = 0; i < of->slots_count; i++)
		used += snprintf(got + used, sizeof(got) - (size_t)used, " %u",
				 of->slots[i]);
	if (of->lacks)
		snprintf(got + used, sizeof(got) - (size_t)used, " %s",
			 of->lacks);
	is(got, want, "cell %zu", cell);
}

static void test_waves(void)
{
	struct error err = { 0 };
	const uint64_t times[4] = { 100, 300, 0, 200 };
	const uint64_t unknown[4] = { 0 };
	struct slot slots[] = { FREE_NODE, FREE_NODE };
	struct slot again[] = { FREE_NODE, FREE_NODE };
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\ncommand: [c, '${x}']\n"
		      "matrix: {x: [{x: 1}, {x: 2}, {x: 3, nodes: 2},\n"
		      "  {x: 4, repeat: 2}]}\n");
	owned(schedule_simulation_free) struct schedule_simulation *simulation =
		simulate(sweep, slots, 2, times, &err);
	owned(schedule_simulation_free) struct schedule_simulation *order =
		simulate(sweep, again, 2, unknown, &err);

	if (!ok(simulation && order, "a forecast is made (%s)", err.text) ||
	    !simulation || !order)
		return;
	cell_is(simulation, 0, "1-1@0 0");
	cell_is(simulation, 1, "1-1@0 1");
	cell_is(simulation, 2, "2-2@300 0 1");
	cell_is(simulation, 3, "3-3@500 0");
	ok(simulation->end_ms == 700 && simulation->waves == 3,
	   "a cell that never ran lasts as long as the median: until %llu in "
	   "%u waves",
	   (unsigned long long)simulation->end_ms, simulation->waves);
	ok(simulation->known == 3 && simulation->unknown == 1, "which is told");
	cell_is(order, 2, "2-2@0 0 1");
	cell_is(order, 3, "3-3@0 0");
	ok(!order->end_ms && order->waves == 3,
	   "without any times only the order is known");
}

/* Lines of cells that go after each other; the one that takes longest is first
 * in neither.
 */
static void test_order(void)
{
	struct error err = { 0 };
	const uint64_t times[8] = { 100, 10, 300, 10, 50, 10, 50, 10 };
	struct slot slots[] = { FREE_NODE, FREE_NODE };
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\ncommand: [c, '${x}', '${do}']\n"
		      "matrix:\n  x: [1, 2]\n"
		      "  do: [train, {do: tune, after: {do: train}}]\n"
		      "include:\n"
		      "  - {x: 2, do: far, after: {do: tune},\n"
		      "     same_nodes: false}\n"
		      "  - {x: 1, do: big, nodes: 3}\n"
		      "  - {x: 1, do: behind, after: {do: big}}\n");
	owned(schedule_simulation_free) struct schedule_simulation *simulation =
		simulate(sweep, slots, 2, times, &err);

	if (!ok(simulation != NULL, "a forecast in order (%s)", err.text) ||
	    !simulation)
		return;
	cell_is(simulation, 0, "1-1@0 0");
	cell_is(simulation, 1, "2-2@100 0");
	cell_is(simulation, 2, "1-1@0 1");
	cell_is(simulation, 3, "3-3@300 1");
	cell_is(simulation, 4, "4-4@310 0");
	cell_is(simulation, 6,
		"0-0@0 the cell on which it depends cannot run, or runs on "
		"unsuitable nodes");
	ok(!simulation->cut && simulation->end_ms == 360 &&
		   simulation->lacking == 2,
	   "what is held and what never comes is told apart");
}

static void test_lacking(void)
{
	struct error err = { 0 };
	const uint64_t times[4] = { 5, 5, 5, 5 };
	struct slot slots[] = {
		FREE_NODE,
		{ .vendor = "cpu", .devices = 8 },
		{ .vendor = "" },
		{ .vendor = "cpu", .devices = 4, .lost = 0xc, .usable = true },
	};
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\n"
		      "matrix: {devices: [8, 3, 9], nodes: [1, 2]}\n"
		      "exclude: [{devices: 3, nodes: 2},\n"
		      "  {devices: 9, nodes: 2}]\n");
	owned(schedule_simulation_free) struct schedule_simulation *simulation =
		simulate(sweep, slots, 4, times, &err);

	if (!ok(simulation != NULL, "cells that lack nodes (%s)", err.text) ||
	    !simulation)
		return;
	cell_is(simulation, 0, "1-1@0 0");
	cell_is(simulation, 1,
		"0-0@0 needs 2 nodes of cpu with 8 devices; 2 are known; "
		"down, drained or without a device: 1");
	cell_is(simulation, 2, "2-2@5 0");
	cell_is(simulation, 3,
		"0-0@0 needs 1 node of cpu with 9 devices; 0 are known; "
		"down, and without a report of devices yet: 1");
	ok(simulation->lacking == 2 && simulation->end_ms == 10,
	   "the others run without them");
}

static void test_chips(void)
{
	const struct slot_device parts[] = {
		{ .chip = "X" }, { .chip = "X" }, { .chip = "X" },
		{ .chip = "X" }, { .chip = "X" }, { .chip = "X" },
		{ .chip = "Y" }, { .chip = "Y" },
	};
	struct slot slot = {
		.vendor = "v", .parts = parts, .devices = 8, .usable = true
	};
	struct shape shape = {
		.vendor = "v", .chip = "X", .nodes = 1, .devices = 6
	};
	char text[300];

	ok(unschedulable_of(&slot, 1, &shape, text, sizeof(text)) ==
		   UNSCHEDULABLE_NONE,
	   "a node has devices of its chips");
	shape.devices = 7;
	ok(unschedulable_of(&slot, 1, &shape, text, sizeof(text)) ==
		   UNSCHEDULABLE_EVER,
	   "and no more of them");
	is(text, "needs 1 node of v X with 7 devices; 0 are known",
	   "which is said (%s)", text);
	shape.devices = 6;
	slot.usable = false;
	ok(unschedulable_of(&slot, 1, &shape, text, sizeof(text)) ==
		   UNSCHEDULABLE_DOWN,
	   "a node that is down has none");
	slot.cleaning = true;
	ok(unschedulable_of(&slot, 1, &shape, text, sizeof(text)) ==
		   UNSCHEDULABLE_NONE,
	   "one that removes what is left of a job has them soon");
}

/* A job holds the first node, and one of a higher priority and one of the same
 * are queued.
 */
static void test_others(void)
{
	struct error err = { 0 };
	const uint64_t times[2] = { 100, 0 };
	struct slot slots[] = { FREE_NODE, FREE_NODE };
	const struct shape wide = { .vendor = "cpu", .nodes = 2 };
	const struct shape far = { .vendor = "none", .nodes = 1 };
	const struct schedule_other others[] = {
		{ .held = { .slot = 0, .devices = 0xff }, .time_ms = 30 },
		{ .shape = &wide, .priority = -1, .time_ms = 7 },
		{ .shape = &wide, .time_ms = 50 },
		{ .shape = &far },
	};
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\nmatrix: {nodes: [1, 2]}\n");
	owned(schedule_simulation_free) struct schedule_simulation *simulation =
		NULL;

	slots[0].busy = 0xff;
	slots[0].exclusive = true;
	simulation = schedule_simulation_new(sweep, slots, 2, others, 4, times,
					     &err);
	if (!ok(simulation != NULL, "a forecast besides other jobs (%s)",
		err.text) ||
	    !simulation)
		return;
	/* The queued job waits until 30 for both nodes and holds them until 80.
	 */
	cell_is(simulation, 0, "1-1@80 0");
	cell_is(simulation, 1, "2-2@180 0 1");
	ok(simulation->end_ms == 280 && simulation->waves == 2,
	   "it ends with the sweep: what comes later is not waited for");
}

static uint64_t start_of(const struct schedule_other *others, size_t count,
			 size_t index)
{
	struct slot slots[] = { FREE_NODE, FREE_NODE };
	uint64_t start_ms = 1;
	struct error err = { 0 };

	slots[0].busy = 0xff;
	slots[0].exclusive = true;
	ok(schedule_start(slots, 2, others, count, index, &start_ms, &err) == 0,
	   "a start is looked for (%s)", err.text);
	return start_ms;
}

static void test_start(void)
{
	const struct shape wide = { .vendor = "cpu", .nodes = 2 };
	const struct shape far = { .vendor = "none", .nodes = 1 };
	struct schedule_other others[] = {
		{ .held = { .slot = 0, .devices = 0xff }, .time_ms = 30 },
		{ .shape = &wide, .priority = -1, .time_ms = 7 },
		{ .shape = &wide, .time_ms = 50 },
		{ .shape = &far },
	};

	is_int((long long)start_of(others, 4, 2), 30,
	       "a queued job starts when its nodes are free");
	is_int((long long)start_of(others, 4, 1), 80,
	       "after those of a higher priority");
	is_int((long long)start_of(others, 4, 3), 0, "or never");
	others[2].time_ms = 0;
	is_int((long long)start_of(others, 4, 1), 60,
	       "an unknown time is the median of the known ones");
	others[0].time_ms = others[1].time_ms = 0;
	is_int((long long)start_of(others, 4, 1), 0,
	       "without any, nothing is known");
}

/* A hundred thousand jobs of all kinds on a hundred nodes. */
static void test_many(void)
{
	struct error err = { 0 };
	struct slot slots[100];
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\ncommand: ['${a}', '${b}', '${c}']\n"
		      "matrix:\n"
		      "  a: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
		      "  b: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
		      "  c: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
		      "  nodes: [1, 2, 5, 10]\nrepeat: 25\n");
	size_t kept = sweep ? sweep_totals(sweep)->kept : 0;
	owned_free uint64_t *times = calloc(kept + 1, sizeof(*times));
	owned(schedule_simulation_free) struct schedule_simulation *simulation =
		NULL;
	uint64_t work = 0;

	for (int i = 0; i < 100; i++)
		slots[i] = (struct slot)FREE_NODE;
	for (size_t i = 0; i < kept; i++) {
		times[i] = 1000 + i * 7919 % 5000;
		work += times[i] * 25 * (uint64_t[]){ 1, 2, 5, 10 }[i % 4];
	}
	simulation = simulate(sweep, slots, 100, times, &err);
	if (!ok(simulation && !simulation->cut, "100,000 jobs are placed (%s)",
		err.text))
		return;
	ok(simulation->end_ms >= work / 100 &&
		   simulation->end_ms < work / 100 * 11 / 10,
	   "and leave few nodes idle: %llu ms for %llu",
	   (unsigned long long)simulation->end_ms,
	   (unsigned long long)(work / 100));
}

static void test_faults(void)
{
	const uint64_t times[2] = { 3, 0 };
	const struct shape shape = { .vendor = "cpu", .nodes = 1 };
	const struct schedule_other others[] = { { .time_ms = 4 },
						 { .shape = &shape } };
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\nmatrix: {nodes: [1, 2]}\n"
		      "repeat: 2\n");
	bool good = true;
	long n;

	for (n = 1; sweep; n++) {
		struct error err = { 0 };
		struct slot slots[] = { FREE_NODE, FREE_NODE };
		struct schedule_simulation *simulation;
		bool failed;

		fault_arm(n);
		simulation = schedule_simulation_new(sweep, slots, 2, others, 2,
						     times, &err);
		failed = fault_disarm();
		if (failed == (simulation != NULL) ||
		    (failed && err.code != ENOMEM))
			good = ok(false, "allocation %ld: %s", n, err.text);
		schedule_simulation_free(simulation);
		if (!failed)
			break;
	}
	ok(good && n > 20, "each of %ld allocations may fail", n - 1);
}

int main(void)
{
	struct error err = { 0 };

	tap_begin(70);
	fault_hook_cjson();
	catalog = catalog_load("images", &err);
	if (!ok(catalog != NULL, "the catalog is loaded (%s)", err.text))
		return tap_done();
	test_waves();
	test_order();
	test_lacking();
	test_chips();
	test_others();
	test_start();
	test_many();
	test_faults();
	catalog_free(catalog);
	return tap_done();
}
