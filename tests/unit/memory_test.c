/* memory_test.c - what a device must hold, against figures made by hand.
 */
#include "controller/cell/memory.h"

#include "tests/tap.h"

#include <math.h>
#include <string.h>

/* A billion parameters, so that bytes of a parameter are billions of bytes. */
static const struct model dense = { .name = "dense",
				    .parameters = 1e9,
				    .active_parameters = 1e9,
				    .layers = 10,
				    .hidden = 1000 };
/* 8 experts of 100 millions each, 2 of them active, and 200 millions beside. */
static const struct model moe = { .name = "moe",
				  .parameters = 1e9,
				  .active_parameters = 4e8,
				  .experts = 8,
				  .experts_per_token = 2 };

static struct parallel_layout eight(void)
{
	return (struct parallel_layout){ .nodes = 1,
					 .devices = 8,
					 .tp = 1,
					 .pp = 1,
					 .cp = 1,
					 .world = 8,
					 .data = 8 };
}

static void states_are(const char *what, struct memory_input input, double want)
{
	struct memory_estimate estimate = { 0 };
	bool known = memory_estimate(&input, &estimate);

	ok(known && fabs(estimate.states - want) < 1, "%s: %.0f bytes, %.0f",
	   what, want, estimate.states);
}

static void test_states(void)
{
	struct parallel_layout shape = eight();
	struct memory_input input = { .shape = &shape,
				      .model = &dense,
				      .laid_out = true };

	states_are("16 bytes of a parameter", input, 16e9);
	input.precision = "FP32";
	states_are("in fp32 as well", input, 16e9);
	input.precision = "bf16";
	input.optimizer = "sgd";
	states_are("less without moments", input, 8e9);
	input.optimizer = "none";
	states_are("the weights alone where nothing is trained", input, 2e9);
	input.optimizer = NULL;
	shape.sharding = 4;
	states_are("a degree without a stage is stage 1", input, 7e9);
	shape.has_stage = true;
	states_are("stage 0 shards nothing", input, 16e9);
	shape.stage = 2;
	states_are("stage 2 also shards gradients", input, 5.5e9);
	shape.stage = 3;
	states_are("stage 3 weights, too", input, 4e9);
	shape.sharding = 0;
	states_are("without a degree over all data ranks", input, 2e9);
	input.laid_out = shape.has_stage = false;
	shape.stage = 0;
	states_are("without a layout over the world", input, 2e9);
	input.laid_out = true;
	shape.tp = 2;
	shape.pp = 4;
	states_are("TP and PP divide", input, 2e9);
}

static void test_experts(void)
{
	struct parallel_layout shape = eight();
	struct memory_input input = { .shape = &shape,
				      .model = &moe,
				      .laid_out = true };

	states_are("experts count in full", input, 16e9);
	shape.ep = 4;
	states_are("EP divides the experts alone", input, 16 * (2e8 + 8e8 / 4));
	shape.sharding = 8;
	states_are("which are not sharded by more than all ranks", input,
		   2e8 * (4 + 12.0 / 8) + 8e8 * (4 / 4.0 + 12.0 / 8));
}

static void test_activations(void)
{
	struct parallel_layout shape = eight();
	struct memory_input input = { .shape = &shape,
				      .model = &dense,
				      .laid_out = true };
	struct memory_estimate estimate = { 0 };

	shape.micro = 2;
	shape.sequence = 100;
	shape.accumulate = 3;
	memory_estimate(&input, &estimate);
	ok(fabs(estimate.activations - 2.0 * 200 * 1000 * 10) < 1,
	   "the input of each layer is kept");
	shape.pp = 5;
	memory_estimate(&input, &estimate);
	ok(fabs(estimate.activations - 2.0 * 200 * 1000 * 2 * 3) < 1,
	   "of a stage's layers, for the micro batches under way");
	shape.cp = 2;
	shape.sp = 5;
	memory_estimate(&input, &estimate);
	ok(fabs(estimate.activations - 2.0 * 20 * 1000 * 2 * 3) < 1,
	   "of a part of the sequence");
}

static void test_no_recomputation(void)
{
	struct parallel_layout shape = eight();
	struct memory_input input = { .shape = &shape,
				      .model = &dense,
				      .recompute = "none",
				      .laid_out = true };
	struct memory_estimate estimate = { 0 };
	struct model experts = dense;
	struct chip chip = { .name = "c", .memory_gib = 1 };
	char reason[400] = "";

	shape.micro = 2;
	shape.sequence = 100;
	shape.accumulate = 3;
	memory_estimate(&input, &estimate);
	ok(fabs(estimate.activations - 20.0 * 200 * 1000 * 10) < 1,
	   "without recomputation a layer keeps more");
	shape.tp = 4;
	shape.sp = 2;
	memory_estimate(&input, &estimate);
	ok(fabs(estimate.activations - (2.0 + 4) * 200 * 1000 * 10) < 1,
	   "which TP and SP divide");
	input.chip = &chip;
	memory_check(&input, reason, sizeof(reason));
	ok(strstr(reason, "activations without recomputation (6 bytes x 200 "
			  "tokens x 1000 hidden x 10 layers / PP 1 x 1)"),
	   "as the reason says (%s)", reason);
	input.recompute = "selective";
	memory_estimate(&input, &estimate);
	ok(fabs(estimate.activations - 1.0 * 200 * 1000 * 10) < 1,
	   "selective recomputation is not counted so");
	input.recompute = "none";
	input.optimizer = "none";
	memory_estimate(&input, &estimate);
	ok(fabs(estimate.activations - 1.0 * 200 * 1000 * 10) < 1,
	   "nor a stage that trains little");
	input.optimizer = NULL;
	experts.experts = 8;
	input.model = &experts;
	memory_estimate(&input, &estimate);
	ok(fabs(estimate.activations - 1.0 * 200 * 1000 * 10) < 1,
	   "nor a model of experts");
}

static void test_unknown(void)
{
	struct parallel_layout shape = eight();
	struct model nothing = { .name = "x" };
	struct chip chip = { .name = "c", .memory_gib = 1 };
	struct memory_input input = { .shape = &shape, .model = &dense };
	struct memory_estimate estimate;
	char reason[400] = "";

	ok(!memory_check(&input, reason, sizeof(reason)),
	   "without a chip nothing is said");
	input.chip = &chip;
	ok(memory_check(&input, reason, sizeof(reason)) < 0 && *reason,
	   "a chip that is too small is (%s)", reason);
	chip.memory_gib = 0;
	ok(!memory_check(&input, reason, sizeof(reason)),
	   "one of unknown memory is not");
	input.precision = "int8";
	ok(!memory_estimate(&input, &estimate),
	   "nor is an unknown precision estimated");
	input.precision = NULL;
	input.optimizer = "own";
	ok(!memory_estimate(&input, &estimate), "or an unknown optimizer");
	input.optimizer = NULL;
	shape.devices = 0;
	ok(!memory_estimate(&input, &estimate), "or an unknown world");
	shape.devices = 8;
	input.model = &nothing;
	ok(!memory_estimate(&input, &estimate), "or a model of unknown size");
	input.model = NULL;
	ok(!memory_estimate(&input, &estimate), "or no model");
}

int main(void)
{
	tap_begin(20);
	test_states();
	test_experts();
	test_activations();
	test_no_recomputation();
	test_unknown();
	return tap_done();
}
