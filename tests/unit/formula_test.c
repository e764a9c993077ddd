/* formula_test.c - rates against figures worked out by hand.
 */
#include "controller/results/formula.h"
#include "tests/tap.h"

#include <math.h>

static bool near(double got, double want)
{
	if (fabs(got - want) <= 1e-9 * fabs(want))
		return true;
	printf("#  got: %.12g\n# want: %.12g\n", got, want);
	return false;
}

static void test_rates(void)
{
	/* 4 * 1024 tokens in 1.6 s */
	ok(near(formula_tokens_per_second(4, 1024, 1600), 2560),
	   "tokens/s is batch times sequence over the time of a step");
	ok(near(formula_samples_per_second(4, 1600), 2.5), "so are samples/s");
	ok(isnan(formula_tokens_per_second(0, 1024, 1600)) &&
		   isnan(formula_tokens_per_second(4, 0, 1600)) &&
		   isnan(formula_tokens_per_second(4, 1024, 0)) &&
		   isnan(formula_tokens_per_second(4, 1024, NAN)) &&
		   isnan(formula_tokens_per_second(4, 1024, -1)) &&
		   isnan(formula_samples_per_second(0, 1600)) &&
		   isnan(formula_samples_per_second(4, -1)),
	   "with a figure missing or impossible it is unknown");
	/* Eight devices at 17.23 samples/s of 2048 tokens. */
	ok(near(formula_per_device(formula_tokens_from_samples(17.23, 2048), 8),
		4410.88),
	   "token/p/s from samples/s");
	ok(isnan(formula_tokens_from_samples(17, 0)) &&
		   isnan(formula_tokens_from_samples(0, 2048)) &&
		   isnan(formula_per_device(100, 0)),
	   "nothing is divided by nothing");
	ok(near(formula_over_devices(551.36, 8), 4410.88) &&
		   isnan(formula_over_devices(551.36, 0)),
	   "and back");
	ok(near(formula_tokens_per_second(UINT64_MAX, UINT32_MAX, 1),
		(double)UINT64_MAX * UINT32_MAX * 1000),
	   "large figures do not wrap");
	/* 8 devices at 400 W for 10 s, 160000 tokens */
	ok(near(formula_joules_per_token(32000, 160000), 0.2),
	   "the energy of a token is that of all devices over all tokens");
	ok(isnan(formula_joules_per_token(0, 160000)) &&
		   isnan(formula_joules_per_token(32000, 0)),
	   "without power or tokens it is unknown");
}

static void test_stages(void)
{
	ok(formula_stage("pretrain") == 6 && formula_stage("finetune") == 6,
	   "where all weights learn a parameter costs 6 FLOPs");
	ok(formula_stage("projector") == 2 && formula_stage("frozen") == 2 &&
		   formula_stage("lora") == 2,
	   "next to nothing learns: 2, as published tables count");
	ok(formula_stage("frozen-4n") == 4 && formula_stage("lora-4n") == 4,
	   "with the gradient on its way through frozen weights: 4");
	ok(formula_stage("") == 0 && formula_stage("Pretrain") == 0,
	   "no other word is a stage");
}

static void test_flops(void)
{
	/* llama2_7b by its nominal size: 12 * 32 * 4096 * 4096 is 6.44e9. */
	struct flops flops = { 6, 7e9, 32, 4096, 4096 };

	ok(near(formula_flops(FORMULA_6N, &flops), 42e9),
	   "6n: six FLOPs a parameter");
	ok(near(formula_flops(FORMULA_PALM, &flops), 48442450944),
	   "palm: and 12 L h s for the attention");
	ok(near(formula_flops_recomputed(FORMULA_6N, &flops), 56e9),
	   "recomputed, 6 N become 8 N");
	ok(near(formula_flops_recomputed(FORMULA_PALM, &flops), 64589934592),
	   "and the attention is computed once more, too");
	flops.factor = 2;
	ok(near(formula_flops(FORMULA_PALM, &flops), 16147483648),
	   "where little learns, the attention costs a third, too");
	flops.layers = 0;
	ok(isnan(formula_flops(FORMULA_PALM, &flops)) &&
		   near(formula_flops(FORMULA_6N, &flops), 14e9),
	   "only palm needs the shape");
	flops.factor = 0;
	ok(isnan(formula_flops(FORMULA_6N, &flops)) &&
		   isnan(formula_flops_recomputed(FORMULA_6N, &flops)),
	   "without a stage there are no FLOPs");
	flops = (struct flops){ .factor = 6 };
	ok(isnan(formula_flops(FORMULA_6N, &flops)), "nor without a model");
}

static void test_utilisation(void)
{
	/* 2068 token/p/s, 13e9 parameters, 989e12 FLOP/s: 16.31 % */
	ok(fabs(formula_utilisation(2068, 6 * 13e9, 989e12) - 0.1631) < 5e-5,
	   "the MFU is the share of the peak");
	ok(isnan(formula_utilisation(2068, NAN, 989e12)) &&
		   isnan(formula_utilisation(2068, 0, 989e12)) &&
		   isnan(formula_utilisation(2068, 78e9, 0)) &&
		   isnan(formula_utilisation(NAN, 78e9, 989e12)),
	   "without a model, a peak or a rate there is none");
}

int main(void)
{
	tap_begin(10);
	test_rates();
	test_stages();
	test_flops();
	test_utilisation();
	return tap_done();
}
