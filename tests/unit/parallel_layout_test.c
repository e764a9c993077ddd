/* parallel_layout_test.c - the arithmetic of cells: completed, or refused with
 * figures.
 */
#include "controller/cell/parallel_layout.h"

#include "controller/catalog/catalog.h"
#include "tests/tap.h"

static const struct model llama = { .name = "llama",
				    .layers = 80,
				    .hidden = 8192,
				    .heads = 64,
				    .kv_heads = 8 };

static void test_solved(void)
{
	/* clang-format off */
	static const struct {
		const char *what;
		struct parallel_layout shape;
		uint64_t world, data, global;
		uint32_t micro, accumulate, dp;
	} cases[] = {
		{ "nodes and devices make the world",
		  { .nodes = 2, .devices = 8 }, 16, 16, 0, 0, 0, 16 },
		{ "all devices count as one",
		  { .nodes = 2 }, 2, 2, 0, 0, 0, 2 },
		{ "processes go before devices",
		  { .nodes = 2, .devices = 8, .processes = 3 }, 6, 6, 0, 0, 0, 6 },
		{ "the global batch is computed",
		  { .nodes = 2, .devices = 8, .micro = 1, .accumulate = 64 },
		  16, 16, 1024, 1, 64, 16 },
		{ "accumulation is 1 when nothing is said",
		  { .nodes = 4, .micro = 3 }, 4, 4, 12, 3, 1, 4 },
		{ "or follows from the global batch",
		  { .nodes = 1, .devices = 8, .micro = 4, .global = 1024 },
		  8, 8, 1024, 4, 32, 8 },
		{ "so does the micro batch",
		  { .nodes = 1, .devices = 8, .accumulate = 32, .global = 1024 },
		  8, 8, 1024, 4, 32, 8 },
		{ "TP and PP take ranks from the batch",
		  { .nodes = 4, .devices = 8, .tp = 8, .pp = 4, .micro = 1,
		    .accumulate = 1024 }, 32, 1, 1024, 1, 1024, 1 },
		{ "sharding is data parallel",
		  { .nodes = 1, .devices = 8, .tp = 1, .pp = 1, .sharding = 8,
		    .micro = 4, .accumulate = 32 }, 8, 8, 1024, 4, 32, 1 },
		{ "also when DP already fills the world",
		  { .nodes = 1, .devices = 8, .dp = 8, .sharding = 4,
		    .micro = 1 }, 8, 8, 8, 1, 1, 8 },
		{ "CP takes ranks, too",
		  { .nodes = 1, .devices = 8, .cp = 2, .micro = 1 },
		  8, 4, 4, 1, 1, 4 },
		{ "a large world does not overflow",
		  { .nodes = 4096, .devices = 1024, .micro = 1000000,
		    .accumulate = 1000000 }, 4194304, 4194304,
		  4194304000000000000u, 1000000, 1000000, 4194304 },
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct parallel_layout shape = cases[i].shape;
		char reason[240] = "";

		if (!ok(!parallel_layout_solve(&shape, NULL, reason,
					       sizeof(reason)),
			"%s%s", cases[i].what, reason))
			continue;
		ok(shape.world == cases[i].world &&
			   shape.data == cases[i].data &&
			   shape.global == cases[i].global &&
			   shape.micro == cases[i].micro &&
			   shape.accumulate == cases[i].accumulate &&
			   shape.dp == cases[i].dp,
		   "with world %llu, data %llu, %u x %u -> %llu, DP %u",
		   (unsigned long long)shape.world,
		   (unsigned long long)shape.data, shape.micro,
		   shape.accumulate, (unsigned long long)shape.global,
		   shape.dp);
	}
}

/* clang-format off */
static const struct {
	struct parallel_layout shape;
	const char *reason;
} impossible[] = {
	{ { .nodes = 1, .devices = 8, .tp = 3 },
	  "TP 3 x PP 1 x CP 1 = 3 does not divide the world: nodes 1 x "
	  "devices 8 = 8" },
	{ { .nodes = 2, .tp = 4 },
	  "TP 4 x PP 1 x CP 1 = 4 does not divide the world: nodes 2 x devices 1 = 2 (devices 0 counts as 1; set the number)" },
	{ { .nodes = 1, .processes = 2, .pp = 5 },
	  "TP 1 x PP 5 x CP 1 = 5 does not divide the world: nodes 1 x "
	  "processes 2 = 2" },
	{ { .nodes = 1, .devices = 8, .tp = 2, .dp = 8 },
	  "TP 2 x PP 1 x CP 1 x DP 8 x sharding 1 = 16 is not the "
	  "world: nodes 1 x devices 8 = 8" },
	{ { .nodes = 1, .devices = 8, .sharding = 3 },
	  "the sharding degree 3 does not divide the 8 data ranks: "
	  "nodes 1 x devices 8 = 8 / (TP 1 x PP 1 x CP 1)" },
	{ { .nodes = 1, .devices = 8, .ep = 3 },
	  "EP 3 does not divide the ranks of a pipeline stage: nodes 1 x "
	  "devices 8 = 8 / PP 1 = 8" },
	{ { .nodes = 2, .devices = 8, .pp = 2, .ep = 16 },
	  "EP 16 does not divide the ranks of a pipeline stage: nodes 2 "
	  "x devices 8 = 16 / PP 2 = 8" },
	{ { .nodes = 1, .devices = 8, .ep = 4 },
	  "EP 4, but llama has no experts" },
	{ { .nodes = 1, .devices = 8, .cp = 8, .sequence = 4100 },
	  "the sequence of 4100 tokens does not divide by CP 8" },
	{ { .nodes = 1, .devices = 8, .sp = 8, .sequence = 4100 },
	  "the sequence of 4100 tokens does not divide by SP 8" },
	{ { .nodes = 1, .devices = 8, .vpp = 2 },
	  "VPP 2 interleaves pipeline stages, but PP is 1" },
	{ { .nodes = 1, .devices = 8, .pp = 8, .vpp = 4 },
	  "80 layers of llama do not divide by PP 8 x VPP 4 = 32" },
	{ { .nodes = 1, .devices = 8, .pp = 8, .vpp = 5, .micro = 1,
	    .accumulate = 12 },
	  "accumulate 12 does not divide by PP 8, as interleaved "
	  "stages (VPP 5) need it" },
	{ { .nodes = 1, .devices = 8, .pp = 8, .vpp = 5, .micro = 1,
	    .global = 16 }, "" },
	{ { .nodes = 3, .devices = 1, .pp = 3, .split_stages = 3,
	    .split_layers = 80 }, "" },
	{ { .nodes = 3, .devices = 1, .pp = 3, .split_stages = 3,
	    .split_layers = 79 },
	  "the split has 79 layers, llama has 80" },
	{ { .nodes = 2, .devices = 2, .pp = 4, .split_stages = 3,
	    .split_layers = 80 },
	  "the split has 3 stages, PP 4 x VPP 1 = 4" },
	{ { .nodes = 2, .devices = 8, .pp = 16 },
	  "" },
	{ { .nodes = 3, .devices = 1, .pp = 3 },
	  "80 layers of llama do not divide by PP 3; set parallel.split for an uneven split" },
	{ { .nodes = 3, .devices = 1, .tp = 3 },
	  "64 heads of llama do not divide by TP 3" },
	{ { .nodes = 1, .devices = 16, .tp = 16 },
	  "" },
	{ { .nodes = 2, .devices = 8, .micro = 2, .accumulate = 4,
	    .global = 100 },
	  "micro batch 2 x accumulate 4 x 16 data ranks = 128 is not "
	  "the global batch 100" },
	{ { .nodes = 2, .devices = 8, .micro = 3, .global = 100 },
	  "the global batch 100 does not divide by micro batch 3 x 16 "
	  "data ranks = 48" },
	{ { .nodes = 2, .devices = 8, .accumulate = 3, .global = 100 },
	  "the global batch 100 does not divide by accumulate 3 x 16 "
	  "data ranks = 48" },
};
/* clang-format on */

static void test_impossible(void)
{
	char reason[240] = "";

	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]);
	     i++) {
		struct parallel_layout given = impossible[i].shape;
		int rc;

		*reason = 0;
		rc = parallel_layout_solve(&given, &llama, reason,
					   sizeof(reason));
		is(reason, impossible[i].reason, "%s",
		   rc < 0 ? "an impossible cell says why" : "a possible one");
		ok((rc < 0) == (*impossible[i].reason != 0),
		   "and is known as such");
	}
}

/* What the numbers of a model exclude. */
static void test_odd_models(void)
{
	static const struct {
		uint32_t ep, experts, kv_heads, hidden; /* 0: as llama */
		const char *reason;
	} cases[] = {
		{ 4, 6, 0, 0, "6 experts of llama do not divide by EP 4" },
		{ 0, 6, 6, 0,
		  "6 KV heads of llama and TP 64 do not divide each other" },
		{ 0, 6, 8, 100,
		  "the hidden size 100 of llama does not divide by TP 64" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct parallel_layout shape = {
			.nodes = 1, .devices = 64, .tp = 64, .ep = cases[i].ep
		};
		struct model odd = llama;
		char reason[240] = "";

		odd.experts = cases[i].experts;
		if (cases[i].kv_heads)
			odd.kv_heads = cases[i].kv_heads;
		if (cases[i].hidden)
			odd.hidden = cases[i].hidden;
		ok(parallel_layout_solve(&shape, &odd, reason, sizeof(reason)) <
			   0,
		   "a model of other numbers does not fit");
		is(reason, cases[i].reason, "in words");
	}
}

int main(void)
{
	tap_begin(30);
	test_solved();
	test_impossible();
	test_odd_models();
	return tap_done();
}
