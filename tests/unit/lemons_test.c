/* lemons_test.c - which node fails more often than the others, by the events of
 * jobs.
 */
#include "controller/nodes/lemons.h"

#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>

#define NOW INT64_C(1700000000000)

static uint64_t next_job = 1;

static void event(struct lemons *lemons, uint64_t job, const char *kind,
		  int64_t time_ms, const char *data)
{
	static uint64_t seq = 1;
	const struct event_row row = {
		.seq = seq,
		.job = job,
		.attempt = 1,
		.time_ms = time_ms,
		.kind = kind,
		.data = data,
	};

	seq++;
	lemons_take(lemons, &row, NULL);
}

static void begin(struct lemons *lemons, uint64_t job, int64_t time_ms,
		  const char *nodes)
{
	char data[200];

	snprintf(data, sizeof(data), "{\"nodes\":[%s]}", nodes);
	event(lemons, job, "alloc", time_ms, data);
}

static void fail(struct lemons *lemons, uint64_t job, int64_t time_ms,
		 const char *failure, const char *text)
{
	char data[200];

	snprintf(data, sizeof(data), "{\"failure\":\"%s\",\"text\":\"%s\"}",
		 failure, text);
	event(lemons, job, "exception", time_ms, data);
	event(lemons, job, "retry", time_ms, data);
}

/* Jobs on these nodes, of which the first ones fail so. */
static void jobs(struct lemons *lemons, const char *nodes, int count,
		 int failed, const char *failure, const char *text)
{
	for (int i = 0; i < count; i++) {
		uint64_t job = next_job++;

		begin(lemons, job, NOW, nodes);
		if (i < failed)
			fail(lemons, job, NOW, failure, text);
		event(lemons, job, i < failed ? "fail" : "complete", NOW, NULL);
	}
}

static struct node_lemon of(const struct lemons *lemons, const char *node,
			    bool slow, int64_t now_ms)
{
	struct node_lemon lemon = { .score = -1 };

	lemons_of(lemons, node, 4, slow, now_ms, &lemon, NULL);
	free(lemon.failure);
	return lemon;
}

static void counts(void)
{
	owned(lemons_free) struct lemons *lemons = lemons_new(NULL);
	struct node_lemon n3;

	ok(of(lemons, "n3", false, NOW).score < 0,
	   "of a node without jobs nothing is known");
	jobs(lemons, "\"n1\"", 30, 0, NULL, NULL);
	jobs(lemons, "\"n2\"", 30, 1, "create", "no space");
	jobs(lemons, "\"n3\"", 12, 5, "node-lost", "n3 is gone");
	n3 = of(lemons, "n3", false, NOW);
	ok(n3.attempts == 12 && n3.failures == 5, "attempts and failures");
	ok(fabs(n3.others_percent - 100 * 2 / 62.0) < 1e-9,
	   "and how the others fail, prudently");
	ok(n3.lemon && n3.score >= 99, "five of twelve is a lemon");
	ok(!of(lemons, "n2", false, NOW).lemon, "one of thirty is none");
	ok(!of(lemons, "n1", false, NOW).lemon &&
		   of(lemons, "n1", false, NOW).failures == 0,
	   "nor is one that never fails");
	n3 = of(lemons, "n3", false, NOW + LEMON_HALF_MS);
	ok(fabs(n3.attempts - 6) < 1e-9 && fabs(n3.failures - 2.5) < 1e-9,
	   "half of it is forgotten after two weeks");
	ok(!of(lemons, "n3", false, NOW + 2 * LEMON_HALF_MS).lemon,
	   "and after four it is no lemon any more");
}

static void rates(void)
{
	owned(lemons_free) struct lemons *lemons = lemons_new(NULL);

	jobs(lemons, "\"n1\"", 100, 2, "create", "no space");
	jobs(lemons, "\"n3\"", 25, 4, "create", "no space");
	ok(!of(lemons, "n3", false, NOW).lemon &&
		   of(lemons, "n3", true, NOW).lemon,
	   "a node that is slow, too, is one sooner");
}

static void faults(void)
{
	owned(lemons_free) struct lemons *lemons = lemons_new(NULL);

	jobs(lemons, "\"n1\",\"n10\"", 3, 3, "hang", "no step: n1: rank 1");
	ok(of(lemons, "n1", false, NOW).failures == 3 &&
		   of(lemons, "n10", false, NOW).failures == 0,
	   "of a gang, that node counts which the text names");
	jobs(lemons, "\"n4\",\"n5\"", 3, 3, "create", "no space");
	ok(of(lemons, "n4", false, NOW).failures == 0 &&
		   of(lemons, "n4", false, NOW).attempts == 3,
	   "without a name, none");
	jobs(lemons, "\"n6\"", 3, 3, "exit", "code 1");
	ok(of(lemons, "n6", false, NOW).failures == 0,
	   "an exit is the program's own");
	begin(lemons, 999, NOW, "\"n7\"");
	fail(lemons, 999, NOW, "create", "no space");
	ok(of(lemons, "n7", false, NOW).failures == 1,
	   "a first failure counts");
	begin(lemons, 999, NOW, "\"n8\"");
	fail(lemons, 999, NOW, "create", "no space");
	begin(lemons, 999, NOW, "\"n9\"");
	fail(lemons, 999, NOW, "create", "no space");
	ok(of(lemons, "n7", false, NOW).failures == 0 &&
		   of(lemons, "n8", false, NOW).failures == 0 &&
		   of(lemons, "n9", false, NOW).failures == 0,
	   "but not if the job fails like that everywhere");
}

int main(void)
{
	tap_begin(15);
	counts();
	rates();
	faults();
	return tap_done();
}
