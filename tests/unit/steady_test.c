/* steady_test.c - warm-up and slow steps, against figures worked out by hand.
 */
#include "controller/results/steady.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>
#include <math.h>

#define MAX 64

static struct steady find(const double *times, size_t count, size_t first,
			  bool *is_slow)
{
	struct steady steady = { 0 };

	steady_find(times, count, first, is_slow, &steady, NULL);
	return steady;
}

/* Times at which the warm-up ends; after them the list is filled with 100. */
static void test_warmup(void)
{
	/* clang-format off */
	static const struct {
		const char *what;
		double times[16];
		size_t given, count, first;
		bool settled;
	} cases[] = {
		{ "a slow first step", { 900 }, 1, 20, 1, true },
		{ "a first step that is as fast as all others",
		  { 100 }, 1, 20, 1, true },
		{ "three slow steps", { 900, 400, 200 }, 3, 20, 3, true },
		{ "steps that come down bit by bit",
		  { 300, 200, 150, 120, 106, 105 }, 6, 20, 5, true },
		{ "a pause in the middle of the warm-up",
		  { 900, 100, 300, 300, 300, 100 }, 6, 20, 5, true },
		{ "a pause behind the warm-up",
		  { 900, 100, 100, 700, 100 }, 5, 20, 1, true },
		{ "a warm-up faster than the rest, before a cache was full",
		  { 50, 50, 50 }, 3, 20, 3, true },
		{ "a warm-up of half of the steps",
		  { 500, 500, 500, 500, 500, 500 }, 6, 12, 6, true },
		{ "two steps", { 900 }, 1, 2, 1, true },
		{ "a single step", { 900 }, 1, 1, 0, true },
		{ "no step", { 0 }, 0, 0, 0, true },
		/* 90 and 110 lie off the median 100 by 10, so d is 14.826 and
		 * the band 59.304; 159 lies in it and 160 does not. */
		{ "as wide a band as the steps are uneven",
		  { 900, 160, 159, 90, 110, 90, 110, 90, 110, 90, 110, 90,
		    110, 90, 110, 90 }, 16, 16, 2, true },
		{ "a warm-up of more than half of the steps",
		  { 50, 50, 50, 50, 50, 50 }, 6, 10, 5, false },
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double times[MAX];
		bool is_slow[MAX];
		struct steady steady;

		for (size_t k = 0; k < cases[i].count; k++)
			times[k] = k < cases[i].given ? cases[i].times[k] : 100;
		steady = find(times, cases[i].count, STEADY_FIND, is_slow);
		if (!ok(steady.first == cases[i].first, "%s", cases[i].what))
			printf("#  got: %zu\n# want: %zu\n", steady.first,
			       cases[i].first);
		ok(steady.settled == cases[i].settled, "settled: %s",
		   cases[i].settled ? "yes" : "no");
	}
}

static void test_slow(void)
{
	/* Warm-up, a checkpoint at 7 and a longer evaluation at 13. */
	double times[20] = { 900, 500 };
	bool is_slow[20];
	struct steady steady;

	for (size_t i = 2; i < 20; i++)
		times[i] = 100;
	times[7] = 121;
	times[13] = 1600;
	steady = find(times, 20, STEADY_FIND, is_slow);
	ok(steady.first == 2 && steady.slow == 2 && is_slow[7] && is_slow[13],
	   "a checkpoint and an evaluation are slow steps");
	ok(!is_slow[0] && !is_slow[1], "those of the warm-up are not");
	ok(fabs(steady.lost - 1521) < 1e-9,
	   "what they took longer than the median: 21 and 1500");
	times[7] = 120;
	steady = find(times, 20, STEADY_FIND, is_slow);
	ok(steady.slow == 1 && !is_slow[7], "up to a fifth more is not slow");
	steady = find(times, 20, 14, is_slow);
	ok(steady.first == 14 && !steady.slow && !is_slow[13],
	   "a warm-up that was given is taken");
	steady = find(times, 20, 20, is_slow);
	ok(steady.first == 20 && !steady.slow, "also when it leaves nothing");
	times[13] = 20;
	steady = find(times, 20, STEADY_FIND, is_slow);
	ok(!steady.slow, "a fast step is not slow");
}

static void test_uneven(void)
{
	/* 90 and 110 in turn: m 100, d 14.826, so slow is above 188.956. */
	double times[20];
	bool is_slow[20];
	struct steady steady;

	for (size_t i = 0; i < 20; i++)
		times[i] = i % 2 ? 110 : 90;
	times[5] = 188;
	times[9] = 189;
	times[2] = 80; /* so that the median stays between 90 and 110 */
	times[4] = 80;
	steady = find(times, 20, 0, is_slow);
	ok(steady.slow == 1 && is_slow[9],
	   "how slow is slow follows from how uneven the steps are");
}

static void test_quantiles(void)
{
	double values[] = { 4, 1, 3, 2 };

	sort_values(values, 4);
	ok(values[0] == 1 && values[3] == 4, "values are sorted");
	ok(quantile(values, 4, 0.5) == 2.5 && quantile(values, 4, 0.25) == 1.75,
	   "quantiles lie between two values");
	ok(quantile(values, 4, 1) == 4 && quantile(values, 1, 0.5) == 1,
	   "or are one of them");
}

static void test_faults(void)
{
	double times[] = { 1, 1, 1 };
	bool is_slow[3];
	struct steady steady = { .first = 77 };
	struct error err = { 0 };
	int rc;

	fault_arm(1);
	rc = steady_find(times, 3, STEADY_FIND, is_slow, &steady, &err);
	fault_disarm();
	ok(rc < 0 && err.code == ENOMEM && steady.first == 77,
	   "without memory nothing is said");
}

int main(void)
{
	tap_begin(10);
	test_warmup();
	test_slow();
	test_uneven();
	test_quantiles();
	test_faults();
	return tap_done();
}
