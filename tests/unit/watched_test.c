/* watched_test.c - the order of a watched sweep's jobs, and its time left.
 */
#include "controller/cli/watched.h"
#include "tests/tap.h"

#include <stdlib.h>

#define JOBS 4
#define NOW 1000000

/* A sweep of queued jobs, all of one cell. */
struct bed {
	struct watched jobs[JOBS];
	struct job_info infos[JOBS];
	struct progress_info progress[JOBS];
	struct watched_sweep sweep;
};

static void bed_init(struct bed *bed)
{
	*bed = (struct bed){ .sweep = { .jobs = bed->jobs, .count = JOBS } };
	for (size_t i = 0; i < JOBS; i++) {
		bed->infos[i].cell = (char *)"a";
		bed->jobs[i] = (struct watched){ .id = i + 1,
						 .state = JOB_QUEUED,
						 .job = &bed->infos[i] };
	}
}

/* Started so long ago; at this step of 100, 0: unknown. */
static void runs(struct bed *bed, size_t i, int64_t ms, uint64_t step)
{
	bed->jobs[i].state = JOB_RUNNING;
	bed->infos[i].started_ms = NOW - ms;
	bed->progress[i] = (struct progress_info){ .step = step, .steps = 100 };
	bed->infos[i].progress = &bed->progress[i];
}

static void took(struct bed *bed, size_t i, int64_t ms)
{
	bed->jobs[i].state = JOB_COMPLETED;
	bed->infos[i].started_ms = NOW - 2 * ms;
	bed->infos[i].ended_ms = NOW - ms;
}

static int64_t left(const struct bed *bed)
{
	return watched_time_left(&bed->sweep, NOW);
}

static void test_watched_time_left(void)
{
	struct bed bed;

	bed_init(&bed);
	is_int(left(&bed), -1, "before a job has run nothing is known");
	runs(&bed, 0, 10000, 0);
	is_int(left(&bed), -1, "nor before it has taken a step");
	runs(&bed, 0, 10000, 25);
	is_int(left(&bed), 30000 + 3 * 40000,
	       "steps say how long a job takes, and those like it");
	runs(&bed, 1, 20000, 0);
	is_int(left(&bed), (30000 + 20000 + 2 * 40000) / 2,
	       "as many as now run at a time");
	runs(&bed, 1, 50000, 0);
	is_int(left(&bed), (30000 + 0 + 2 * 40000) / 2,
	       "one that takes longer than expected has no time left to tell");

	bed_init(&bed);
	took(&bed, 0, 1000);
	took(&bed, 1, 3000);
	bed.infos[1].cell = (char *)"b";
	is_int(left(&bed), 1000 + 1000, "a cell goes by jobs of its own");
	bed.infos[2].cell = (char *)"b";
	is_int(left(&bed), 1000 + 3000, "each of them");
	bed.infos[2].cell = (char *)"c";
	is_int(left(&bed), 1000 + 2000, "one that is new by all the others");
	bed.jobs[2].job = NULL;
	is_int(left(&bed), 1000 + 2000, "and so does one that is forgotten");

	bed_init(&bed);
	for (size_t i = 0; i < 3; i++)
		took(&bed, i, i == 2 ? 90000 : 1000 + (int64_t)i * 1000);
	is_int(left(&bed), 2000, "one that took far longer counts as one");

	bed_init(&bed);
	for (size_t i = 0; i < JOBS; i++)
		runs(&bed, i, 1000, i ? 100 : 1);
	is_int(left(&bed), 99000, "the longest job ends last");
	for (size_t i = 0; i < JOBS; i++)
		took(&bed, i, 1000);
	is_int(left(&bed), -1, "a sweep that has ended has no time left");
}

static void test_order(void)
{
	static const enum job_state states[] = {
		JOB_COMPLETED, JOB_QUEUED,    JOB_FAILED,  JOB_RUNNING,
		JOB_CANCELLED, JOB_PREPARING, JOB_RUNNING, JOB_FAILED,
	};
	static const uint64_t want[] = { 4, 6, 7, 3, 8, 2, 5, 1 };
	struct watched jobs[8];
	const struct watched *shown[8];
	bool good = true;

	for (size_t i = 0; i < 8; i++) {
		jobs[i] = (struct watched){ .id = i + 1, .state = states[i] };
		shown[7 - i] = &jobs[i];
	}
	qsort(shown, 8, sizeof(void *), watched_by_place);
	for (size_t i = 0; i < 8; i++)
		good = good && shown[i]->id == want[i];
	ok(good, "what runs is first, then failures; what completed is last");
}

int main(void)
{
	tap_begin(30);
	test_watched_time_left();
	test_order();
	return tap_done();
}
