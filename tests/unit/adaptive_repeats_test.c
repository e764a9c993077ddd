/* adaptive_repeats_test.c - when is a cell known well enough, and when is it
 * given up?
 */
#include "controller/jobs/adaptive_repeats.h"

#include "tests/tap.h"

static bool more(struct repeats repeats, const char *want, const char *name)
{
	char text[240];
	bool needed = repeats_more(&repeats, text, sizeof(text));

	ok(strstr(text, want) != NULL, "%s: %s", name, text);
	return needed;
}

static const struct until_spec until = { .width = 0.05,
					 .confidence = 0.95,
					 .max = 6 };

static struct repeats given(double *rates, uint32_t count)
{
	return (struct repeats){ .until = until,
				 .count = count,
				 .completed = count,
				 .rates = rates,
				 .rates_count = count };
}

static void verdicts(void)
{
	double wide[] = { 90, 110, 100, 95, 105, 100 };
	double close[] = { 99, 100, 101 };
	struct repeats repeats;

	ok(more(given(wide, 1), "one rate is not enough", "one repeat"),
	   "a second one is needed");
	ok(more(given(wide, 3), "mean 100 +- 24.84 % (95 % confidence, n 3)",
		"three that differ"),
	   "one more is needed");
	ok(!more(given(close, 3), "known within 5 %: mean 100 +- 2.48 %",
		 "three that are close"),
	   "no more is needed");
	ok(!more(given(wide, 6), "after 6 repeats, the most that are allowed",
		 "as many as may be"),
	   "there are no more");
	repeats = given(wide, 3);
	repeats.count = 6;
	ok(!more(repeats, "after 6 repeats", "with three that failed"),
	   "those count");
	repeats = given(wide, 2);
	repeats.given_up = true;
	ok(!more(repeats, "cancelled", "one was cancelled"), "no more is run");
	repeats = given(wide, 0);
	repeats.count = 1;
	ok(!more(repeats, "no repeat completed", "one that failed"),
	   "what fails is not run again and again");
	repeats.completed = 1;
	ok(!more(repeats, "runs have no rate", "nothing measured"),
	   "what has no rate is not repeated for it");
}

int main(void)
{
	tap_begin(30);
	verdicts();
	return tap_done();
}
