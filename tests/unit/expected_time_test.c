/* expected_time_test.c - no job starts on a node that leaves before the job is
 * expected to end, and the page that tells why it waits reads the time of now.
 *
 * A real store, queue and nodes; the clock is the test's.
 */
#include "controller/jobs/expected_time.h"
#include "controller/jobs/gang.h"
#include "controller/jobs/job.h"
#include "controller/nodes/node.h"

#include "tests/tap.h"
#include "tests/unit/jobs_bed.h"

#define MINUTE_MS INT64_C(60000)
#define RUN_MS (30 * MINUTE_MS) /* of the jobs before */

static int64_t now_ms = 1000 * MINUTE_MS;

static int64_t wall_ms(void *arg)
{
	return now_ms;
}

static int send_nothing(void *arg, const struct node *node,
			enum message_type type, const void *body,
			struct error *err)
{
	return 0;
}

/* Its clock is the test's, and commands go nowhere. */
static void open_bed(struct jobs_bed *bed)
{
	jobs_bed_open(bed);
	bed->world.effects.wall_ms = wall_ms;
	bed->world.effects.send = send_nothing;
}

static void submit(struct jobs_bed *bed)
{
	struct job_spec spec = {
		.sweep = (char *)"s",
		.cell = (char *)"x=1",
		.key = (char *)"k",
		.vendor = (char *)"cpu",
		.nodes = 1,
		.container.image = (char *)"i",
		.container.network = (char *)"host",
	};
	struct error err = { 0 };

	if (job_submit(bed->jobs, 1, 0, &spec, &err) < 0)
		ok(false, "a job is submitted: %s", err.text);
	store_commit(bed->store, NULL);
}

/* The job runs for RUN_MS on the node, and completes. */
static void finish(struct jobs_bed *bed, uint64_t id, struct node *node)
{
	static const enum job_event life[] = {
		JOB_EVENT_ALLOC, JOB_EVENT_PREPARE, JOB_EVENT_READY,
		JOB_EVENT_START, JOB_EVENT_END,     JOB_EVENT_COMPLETE,
	};
	struct job *job = job_find(bed->jobs->table, id);
	struct error err = { 0 };

	queue_remove(bed->jobs->queue, &job->shape, id);
	if (job_make_gang(job, &err) < 0)
		abort();
	node_assign(bed->jobs->nodes, &job->gang->tasks[0], node, 1);
	for (size_t i = 0; i < sizeof(life) / sizeof(life[0]); i++) {
		now_ms += life[i] == JOB_EVENT_END ? RUN_MS : 0;
		job_event(job, life[i], NULL, &err);
	}
	job_forget(job);
	store_commit(bed->store, NULL);
}

/* The node is up, has one device, and leaves then. */
static void report(struct jobs_bed *bed, struct node *node, int64_t until_ms)
{
	struct message_report report = { .until_ms = (uint64_t)until_ms };
	struct slot *slot;

	node_reported(bed->jobs->nodes, node, &report);
	slot = node_slot(bed->jobs->nodes, node);
	slot->vendor = "cpu";
	slot->devices = 1;
	slot->usable = true;
}

static bool late(struct jobs_bed *bed, uint64_t id, char *text, size_t size)
{
	return expected_late(job_find(bed->jobs->table, id),
			     node_slots(bed->jobs->nodes),
			     node_count(bed->jobs->nodes), text, size);
}

static void leaving(void)
{
	struct jobs_bed bed;
	struct node *node;
	char text[300] = "";

	open_bed(&bed);
	node = node_get(bed.jobs->nodes, "n1", NULL);
	submit(&bed);
	finish(&bed, 1, node);
	submit(&bed);
	report(&bed, node, now_ms + RUN_MS - 1);
	gang_schedule(bed.jobs);
	is_int((long long)queue_length(bed.jobs->queue), 1,
	       "a job of 30 minutes waits, if its node leaves sooner");
	ok(late(&bed, 2, text, sizeof(text)), "it is late");
	is(text,
	   "runs for about 30 min like others of its cell or sweep; its nodes "
	   "leave in 29 min",
	   "in words");
	now_ms += 10 * MINUTE_MS;
	late(&bed, 2, text, sizeof(text));
	ok(strstr(text, "leave in 19 min"), "which read the time of now");
	report(&bed, node, now_ms + RUN_MS);
	ok(!late(&bed, 2, text, sizeof(text)),
	   "it is not late where it ends in time");
	gang_schedule(bed.jobs);
	is_int((long long)queue_length(bed.jobs->queue), 0, "and starts");
	jobs_bed_close(&bed);
}

int main(void)
{
	tap_begin(100);
	leaving();
	return tap_done();
}
