/* t_quantile_test.c - quantiles of Student's t against published tables.
 */
#include "controller/results/t_quantile.h"

#include "tests/tap.h"

#include <math.h>

/* NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, critical values
 * of Student's t distribution: one-sided there, so p is 2 x theirs - 1.
 */
static const struct {
	double probability;
	uint32_t freedom;
	double t;
} published[] = {
	{ 0.80, 1, 3.078 },   { 0.90, 1, 6.314 },    { 0.95, 1, 12.706 },
	{ 0.98, 1, 31.821 },  { 0.99, 1, 63.657 },   { 0.80, 2, 1.886 },
	{ 0.95, 2, 4.303 },   { 0.99, 2, 9.925 },    { 0.95, 3, 3.182 },
	{ 0.95, 4, 2.776 },   { 0.99, 4, 4.604 },    { 0.998, 4, 7.173 },
	{ 0.95, 5, 2.571 },   { 0.95, 9, 2.262 },    { 0.90, 10, 1.812 },
	{ 0.99, 10, 3.169 },  { 0.95, 20, 2.086 },   { 0.95, 29, 2.045 },
	{ 0.95, 30, 2.042 },  { 0.99, 30, 2.750 },   { 0.95, 60, 2.000 },
	{ 0.95, 100, 1.984 }, { 0.998, 100, 3.174 },
};

static void tables(void)
{
	for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
		double t = t_quantile(published[i].probability,
				      published[i].freedom);

		ok(fabs(t - published[i].t) <= 0.00051,
		   "p %g, %u degrees of freedom: %.3f (%.6f)",
		   published[i].probability, published[i].freedom,
		   published[i].t, t);
	}
}

static void limits(void)
{
	/* For one degree it is Cauchy's distribution, tan(pi p / 2); for two,
	 * p sqrt(2 / (1 - p^2)).
	 */
	ok(fabs(t_quantile(0.5, 1) - 1) < 1e-9, "one degree, exactly");
	ok(fabs(t_quantile(0.999, 2) - 0.999 * sqrt(2 / (1 - 0.999 * 0.999))) <
		   1e-9,
	   "two degrees, exactly");
	ok(fabs(t_quantile(0.95, 10000) - 1.960) < 0.001,
	   "many degrees: the normal distribution");
	ok(t_quantile(0.95, UINT32_MAX) == t_quantile(0.95, 10000),
	   "more are as many");
}

static void means(void)
{
	static const double values[] = { 10, 12, 14 };
	struct mean_known known = mean_known(values, 3, 0.95);

	ok(known.n == 3 && fabs(known.mean - 12) < 1e-12 &&
		   fabs(known.stdev - 2) < 1e-12,
	   "mean and standard deviation");
	/* 4.302653 x 2 / sqrt(3) / 12 */
	ok(fabs(known.half - 0.414023) < 1e-6, "half the interval, as a share");
	known = mean_known(values, 1, 0.95);
	ok(isinf(known.half) && isnan(known.stdev) && known.mean == 10,
	   "one value says nothing of the spread");
	ok(isinf(mean_known(values, 0, 0.95).half), "nor do none");
	known = mean_known((const double[]){ 5, 5 }, 2, 0.95);
	ok(known.half == 0, "two that are the same say all");
}

int main(void)
{
	tap_begin(30);
	tables();
	limits();
	means();
	return tap_done();
}
