/* schedule_simulation_test.c - what would run where, in which order, and for
 * how long.
 */
#include "controller/cli/plan/node_snapshot.h"
#include "controller/cli/plan/schedule_simulation.h"

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

/* Nodes n1 ...: text is a list of them as a controller describes them. */
static struct node_snapshot nodes_of(const char *text)
{
	cJSON *list = cJSON_Parse(text);
	struct node_snapshot snapshot = { 0 };
	struct error err;
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		struct node_info node;

		codec_from_other(&node_info_schema, item, &node, NULL);
		node_snapshot_add(&snapshot, &node, &err);
		codec_clear(&node_info_schema, &node);
	}
	cJSON_Delete(list);
	return snapshot;
}

#define NODE(name, more)                                                       \
	"{\"name\":\"" name "\",\"state\":\"up\",\"vendor\":\"cpu\","          \
	"\"devices\":8,\"lost\":0,\"chips\":{}" more "}"

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
	owned(node_snapshot_clear) struct node_snapshot snapshot =
		nodes_of("[" NODE("n1", "") "," NODE("n2", "") "]");
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\ncommand: [c, '${x}']\n"
		      "matrix: {x: [{x: 1}, {x: 2}, {x: 3, nodes: 2},\n"
		      "  {x: 4, repeat: 2}]}\n");
	owned(schedule_simulation_free) struct schedule_simulation *simulation =
		schedule_simulation_new(sweep, snapshot.slots, snapshot.count,
					times, &err);
	owned(schedule_simulation_free) struct schedule_simulation *order =
		schedule_simulation_new(sweep, snapshot.slots, snapshot.count,
					unknown, &err);

	if (!ok(simulation && order, "a forecast is made (%s)", err.text) ||
	    !simulation || !order)
		return;
	cell_is(simulation, 0, "1-1@0 0");
	cell_is(simulation, 1, "1-1@0 1");
	cell_is(simulation, 2, "3-3@300 0 1");
	cell_is(simulation, 3, "4-4@500 0");
	ok(simulation->end_ms == 700 && simulation->waves == 4,
	   "a cell that never ran lasts as long as the median: until %llu in "
	   "%u waves",
	   (unsigned long long)simulation->end_ms, simulation->waves);
	ok(simulation->known == 3 && simulation->unknown == 1, "which is told");
	cell_is(order, 2, "2-2@0 0 1");
	cell_is(order, 3, "3-3@0 0");
	ok(!order->end_ms && order->waves == 3,
	   "without any times only the order is known");
	ok(snapshot.slots && !snapshot.slots[0].busy &&
		   !snapshot.slots[1].exclusive,
	   "all nodes are free again");
}

/* Lines of cells that go after each other; the one that takes longest is first
 * in neither.
 */
static void test_order(void)
{
	struct error err = { 0 };
	const uint64_t times[8] = { 100, 10, 300, 10, 50, 10, 50, 10 };
	owned(node_snapshot_clear) struct node_snapshot snapshot =
		nodes_of("[" NODE("n1", "") "," NODE("n2", "") "]");
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
		schedule_simulation_new(sweep, snapshot.slots, snapshot.count,
					times, &err);

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
	owned(node_snapshot_clear) struct node_snapshot snapshot =
		nodes_of("[" NODE("n1", "") ","
					    "{\"name\":\"n2\",\"state\":\"up\","
					    "\"drained\":true,"
					    "\"vendor\":\"cpu\",\"devices\":8},"
					    "{\"name\":\"n3\",\"state\":"
					    "\"down\",\"vendor\":\"\"},"
					    "{\"name\":\"n4\",\"state\":\"up\","
					    "\"vendor\":\"cpu\","
					    "\"devices\":4,\"lost\":2}]");
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\n"
		      "matrix: {devices: [8, 3, 9], nodes: [1, 2]}\n"
		      "exclude: [{devices: 3, nodes: 2},\n"
		      "  {devices: 9, nodes: 2}]\n");
	owned(schedule_simulation_free) struct schedule_simulation *simulation =
		schedule_simulation_new(sweep, snapshot.slots, snapshot.count,
					times, &err);

	if (!ok(simulation != NULL, "cells that lack nodes (%s)", err.text) ||
	    !simulation)
		return;
	is_int((long long)snapshot.usable, 2, "two nodes can be used");
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
	owned(node_snapshot_clear) struct node_snapshot snapshot =
		nodes_of("[{\"name\":\"a\",\"state\":\"up\",\"vendor\":\"v\","
			 "\"devices\":8,\"chips\":{\"X\":6,\"Y\":2}}]");
	struct shape shape = {
		.vendor = "v", .chip = "X", .nodes = 1, .devices = 6
	};
	char text[300];

	ok(snapshot.slots, "a snapshot of one node");
	if (!snapshot.slots)
		return;
	ok(unschedulable_of(snapshot.slots, 1, &shape, text, sizeof(text)) ==
		   UNSCHEDULABLE_NONE,
	   "a node has devices of its chips");
	shape.devices = 7;
	ok(unschedulable_of(snapshot.slots, 1, &shape, text, sizeof(text)) ==
		   UNSCHEDULABLE_EVER,
	   "and no more of them");
	is(text, "needs 1 node of v X with 7 devices; 0 are known",
	   "which is said (%s)", text);
	shape.devices = 6;
	snapshot.slots[0].usable = false;
	ok(unschedulable_of(snapshot.slots, 1, &shape, text, sizeof(text)) ==
		   UNSCHEDULABLE_DOWN,
	   "a node that is down has none");
	snapshot.slots[0].cleaning = true;
	ok(unschedulable_of(snapshot.slots, 1, &shape, text, sizeof(text)) ==
		   UNSCHEDULABLE_NONE,
	   "one that removes what is left of a job has them soon");
}

/* A hundred thousand jobs of all kinds on a hundred nodes. */
static void test_many(void)
{
	struct error err = { 0 };
	owned(node_snapshot_clear) struct node_snapshot snapshot = { 0 };
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
	struct node_info node = { .name = (char *)"n",
				  .state = (char *)"up",
				  .vendor = (char *)"cpu",
				  .devices = 8 };

	for (int i = 0; i < 100; i++)
		node_snapshot_add(&snapshot, &node, &err);
	for (size_t i = 0; i < kept; i++) {
		times[i] = 1000 + i * 7919 % 5000;
		work += times[i] * 25 * (uint64_t[]){ 1, 2, 5, 10 }[i % 4];
	}
	simulation = schedule_simulation_new(sweep, snapshot.slots,
					     snapshot.count, times, &err);
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
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\nmatrix: {nodes: [1, 2]}\n"
		      "repeat: 2\n");
	bool good = true;
	long n;

	for (n = 1; sweep; n++) {
		struct error err = { 0 };
		struct node_snapshot snapshot = { 0 };
		struct schedule_simulation *simulation = NULL;
		cJSON *chips = cJSON_Parse("{\"X\":2}");
		const struct node_info node = { .name = (char *)"n",
						.state = (char *)"up",
						.vendor = (char *)"cpu",
						.devices = 8,
						.chips = chips };
		bool failed;

		fault_arm(n);
		if (!node_snapshot_add(&snapshot, &node, &err) &&
		    !node_snapshot_add(&snapshot, &node, &err))
			simulation =
				schedule_simulation_new(sweep, snapshot.slots,
							snapshot.count, times,
							&err);
		failed = fault_disarm();
		cJSON_Delete(chips);
		if (failed == (simulation != NULL) ||
		    (failed && err.code != ENOMEM))
			good = ok(false, "allocation %ld: %s", n, err.text);
		schedule_simulation_free(simulation);
		node_snapshot_clear(&snapshot);
		if (!failed)
			break;
	}
	ok(good && n > 20, "each of %ld allocations may fail", n - 1);
}

int main(void)
{
	struct error err = { 0 };

	tap_begin(60);
	fault_hook_cjson();
	catalog = catalog_load("images", &err);
	if (!ok(catalog != NULL, "the catalog is loaded (%s)", err.text))
		return tap_done();
	test_waves();
	test_order();
	test_lacking();
	test_chips();
	test_many();
	test_faults();
	catalog_free(catalog);
	return tap_done();
}
