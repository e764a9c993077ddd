/* run_times_test.c - how long a job is expected to take.
 */
#include "controller/scheduler/run_times.h"
#include "tests/tap.h"

static struct run_times of(int count, const int64_t *ms)
{
	struct run_times times = { 0 };

	for (int i = 0; i < count; i++)
		run_times_add(&times, ms[i]);
	return times;
}

int main(void)
{
	struct run_times none = { 0 };
	struct run_times one = of(1, (int64_t[]){ 7 });
	struct run_times odd = of(3, (int64_t[]){ 90, 1, 5 });
	struct run_times even = of(4, (int64_t[]){ 90, 1, 5, 7 });
	struct run_times many =
		of(10, (int64_t[]){ 3, 3, 3, 3, 3, 3, 3, 3, 1000, 1000 });
	struct run_times broken = of(3, (int64_t[]){ 0, -5, 4 });

	tap_begin(10);
	is_int(run_times_median(&none), 0, "without runs nothing is known");
	is_int(run_times_median(&one), 7, "one run");
	is_int(run_times_median(&odd), 5, "the middle of three");
	is_int(run_times_median(&even), 6, "between the middle two of four");
	is_int(run_times_median(&many), 3, "the first ones count");
	is_int(many.count, RUN_TIMES_MAX, "and no more");
	is_int(run_times_median(&broken), 4, "runs without a length do not");
	is_int(run_times_expected(&one, &odd), 7, "a cell goes by its own");
	is_int(run_times_expected(&none, &odd), 5, "a new one by its sweep");
	is_int(run_times_by_steps(1000, 25, 100), 4000, "steps tell the whole");
	is_int(run_times_by_steps(1000, 0, 100), 0, "the first one must be");
	is_int(run_times_by_steps(1000, 101, 100), 0,
	       "more of them than there are say nothing");
	return tap_done();
}
