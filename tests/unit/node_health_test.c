/* node_health_test.c - when failures pause a node, and put it on probation.
 */
#include "controller/nodes/node_health.h"

#include "tests/tap.h"

#define NOW INT64_C(1700000000000)
#define MINUTE INT64_C(60000)
#define HOUR (60 * MINUTE)

static void pauses(void)
{
	struct node_health health = { 0 };

	ok(!node_health_pauses(&health, NOW), "without a failure: no pause");
	node_health_fail(&health, FAILURE_EXIT, "it is the job's", NOW, NULL);
	ok(!node_health_failures(&health), "a job's own end is no failure");
	node_health_fail(&health, FAILURE_CREATE, "no init", NOW, NULL);
	ok(node_health_pauses(&health, NOW + 2 * MINUTE - 1) &&
		   !node_health_pauses(&health, NOW + 2 * MINUTE),
	   "the first failure pauses it for two minutes");
	ok(!node_health_pauses(&health, NOW - 1),
	   "a clock that was set back ends a pause");
	node_health_fail(&health, FAILURE_CREATE, "no init", NOW + MINUTE,
			 NULL);
	ok(node_health_pauses(&health, NOW + 9 * MINUTE - 1) &&
		   !node_health_pauses(&health, NOW + 9 * MINUTE),
	   "the next one for four times as long");
	ok(!health.probation_ms, "that is no probation yet");
	node_health_fail(&health, FAILURE_PREFLIGHT, "no /data",
			 NOW + 2 * MINUTE, NULL);
	ok(health.probation_ms == NOW + 2 * MINUTE,
	   "the third, of whatever class, begins its probation");
	is(health.failure, "preflight", "the last class is known");
	is(health.text, "no /data", "and its text");
	for (int64_t i = 3; i < 20; i++)
		node_health_fail(&health, FAILURE_CREATE, "no init",
				 NOW + i * MINUTE, NULL);
	ok(node_health_pauses(&health, NOW + 19 * MINUTE + HOUR - 1) &&
		   !node_health_pauses(&health, NOW + 19 * MINUTE + HOUR),
	   "no pause is longer than an hour");
	ok(health.probation_ms == NOW + 2 * MINUTE,
	   "its probation began with the third");
	ok(node_health_succeed(&health, false) && !health.probation_ms &&
		   !node_health_failures(&health),
	   "a task that starts ends it");
	ok(!node_health_succeed(&health, true), "once");
	codec_clear(&node_health_schema, &health);
}

static void classes(void)
{
	struct node_health health = { 0 };

	node_health_fail(&health, FAILURE_NODE_LOST, "gone", NOW, NULL);
	node_health_fail(&health, FAILURE_NODE_LOST, "gone", NOW + 999, NULL);
	ok(node_health_failures(&health) == 1,
	   "jobs that one event ends are one failure");
	node_health_fail(&health, FAILURE_IMAGE, "no disk", NOW + 5000, NULL);
	ok(node_health_succeed(&health, false) && health.node_lost == 1 &&
		   !health.image,
	   "a start does not clear that a node was lost");
	ok(!node_health_succeed(&health, false), "nor does the next one");
	ok(node_health_succeed(&health, true) && !node_health_failures(&health),
	   "the end of a task does");
	codec_clear(&node_health_schema, &health);
}

static void decays(void)
{
	struct node_health health = { 0 };

	node_health_fail(&health, FAILURE_CREATE, "x", NOW, NULL);
	node_health_fail(&health, FAILURE_CREATE, "x", NOW + MINUTE, NULL);
	node_health_fail(&health, FAILURE_CREATE, "x", NOW + MINUTE + HOUR,
			 NULL);
	ok(node_health_failures(&health) == 2 && !health.probation_ms,
	   "an hour halves what is counted");
	node_health_fail(&health, FAILURE_CREATE, "x", NOW + 500 * HOUR, NULL);
	ok(node_health_failures(&health) == 1, "and days forget it");
	codec_clear(&node_health_schema, &health);
}

static void forgives(void)
{
	struct node_health health = { 0 };

	ok(!node_health_forgive(&health, FAILURE_CREATE), "nothing to forgive");
	for (int64_t i = 0; i < 3; i++)
		node_health_fail(&health, FAILURE_CREATE, "x", NOW + i * MINUTE,
				 NULL);
	ok(!node_health_forgive(&health, FAILURE_IMAGE) && health.probation_ms,
	   "another class is not forgiven");
	ok(node_health_forgive(&health, FAILURE_CREATE) &&
		   node_health_failures(&health) == 2 && !health.probation_ms,
	   "what was the job's own fault does not count, and ends probation");
	codec_clear(&node_health_schema, &health);
}

int main(void)
{
	tap_begin(0);
	pauses();
	classes();
	decays();
	forgives();
	return tap_done();
}
