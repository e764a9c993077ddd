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

int main(void)
{
	tap_begin(10);
	/* 4 * 1024 tokens in 1.6 s */
	ok(near(formula_tokens_per_second(4, 1024, 1600), 2560),
	   "tokens/s is batch times sequence over the time of a step");
	ok(isnan(formula_tokens_per_second(0, 1024, 1600)) &&
		   isnan(formula_tokens_per_second(4, 0, 1600)) &&
		   isnan(formula_tokens_per_second(4, 1024, 0)) &&
		   isnan(formula_tokens_per_second(4, 1024, NAN)) &&
		   isnan(formula_tokens_per_second(4, 1024, -1)),
	   "with a figure missing or impossible it is unknown");
	/* Eight devices at 17.23 samples/s of 2048 tokens. */
	ok(near(formula_per_device(formula_tokens_from_samples(17.23, 2048), 8),
		4410.88),
	   "token/p/s from samples/s");
	ok(isnan(formula_tokens_from_samples(17, 0)) &&
		   isnan(formula_tokens_from_samples(0, 2048)) &&
		   isnan(formula_per_device(100, 0)),
	   "nothing is divided by nothing");
	ok(near(formula_tokens_per_second(UINT64_MAX, UINT32_MAX, 1),
		(double)UINT64_MAX * UINT32_MAX * 1000),
	   "large figures do not wrap");
	/* 2068 token/p/s, 13e9 parameters, 989e12 FLOP/s: 16.31 % */
	ok(fabs(formula_mfu_6n(2068, 13e9, 989e12) - 0.1631) < 5e-5,
	   "the MFU counts six FLOPs per parameter and token");
	ok(isnan(formula_mfu_6n(2068, 0, 989e12)) &&
		   isnan(formula_mfu_6n(2068, 13e9, 0)),
	   "without a model or a peak there is no MFU");
	return tap_done();
}
