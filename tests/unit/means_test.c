/* means_test.c - means of repeats, and what can be said of them.
 */
#include "controller/report/means.h"
#include "tests/tap.h"

#include <math.h>

static struct mean mean_of(const double *numbers, size_t count)
{
	struct mean mean = { 0 };

	for (size_t i = 0; i < count; i++)
		mean_add(&mean, numbers[i]);
	return mean;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-3 * fabs(b);
}

int main(void)
{
	static const double slow[] = { 99, 100, 101 },
			    fast[] = { 127, 126, 128 };
	struct mean a = mean_of(slow, 3), b = mean_of(fast, 3), none = { 0 };
	struct mean one = mean_of(fast, 1);
	struct ratio ratio = mean_ratio(&b, &a);

	tap_begin(30);
	ok(a.value == 100 && a.min == 99 && a.max == 101, "mean and range");
	ok(mean_deviation(&a) == 1 && mean_cv_percent(&a) == 1,
	   "the standard deviation, and in percent of the mean");
	/* 4.3027 / sqrt(3) */
	ok(near(mean_margin(&a), 2.4842), "half the interval of the mean");
	ok(isnan(mean_margin(&one)) && isnan(mean_margin(&none)),
	   "one value has no interval");
	/* sqrt(1 / 3 / 1e4 + 1 / 3 / 127^2) * 2.7764 or less freedom */
	ok(ratio.value == 1.27 && ratio.low < 1.25 && ratio.low > 1.23 &&
		   near(ratio.low * ratio.high, 1.27 * 1.27),
	   "a ratio has an interval: %g to %g", ratio.low, ratio.high);
	ok(isnan(mean_ratio(&one, &a).low) &&
		   mean_ratio(&one, &a).value == 1.27,
	   "but not with a single value");
	ok(mean_differs(&a, &b) && !mean_differs(&a, &a), "what differs, does");
	/* 2.306 * 0.01 * sqrt(2 / 5) */
	ok(near(mean_resolution(0.01, 5), 0.014584),
	   "five runs with 1 %% can tell 1.5 %% apart");
	ok(isinf(mean_resolution(0.01, 1)), "one cannot tell anything");
	is_int((long long)mean_runs(0.01, 0.014585), 5,
	       "so many runs does a difference need");
	is_int((long long)mean_runs(0.5, 0.0001), 0, "or too many");
	return tap_done();
}
