/* dependencies_test.c - jobs behind others: held, queued, skipped; and what it
 * costs.
 *
 * A real store and a real queue; the life of a job's containers is told as the
 * events of it.
 */
#include "controller/jobs/adaptive_repeats.h"
#include "controller/jobs/dependencies.h"
#include "controller/jobs/job.h"
#include "controller/nodes/node.h"
#include "protocol/base/log.h"

#include "tests/tap.h"
#include "tests/unit/jobs_bed.h"

/* A turn of the loop, as the controller has it. Turns that it took. */
static int turn(struct jobs_bed *bed)
{
	int turns = 0;

	do {
		store_commit(bed->store, NULL);
		jobs_decide(bed->jobs);
	} while (++turns < 1000 &&
		 (!TAILQ_EMPTY(&bed->jobs->due) || store_pending(bed->store)));
	return turns;
}

/* A job of one node that goes after these, 0 being none. */
static void submit(struct jobs_bed *bed, uint64_t a, uint64_t b)
{
	struct after_spec after[] = { { a ? a : b }, { b } };
	struct job_spec spec = {
		.sweep = (char *)"s",
		.cell = (char *)"x=1",
		.key = (char *)"k",
		.vendor = (char *)"cpu",
		.nodes = 1,
		.after = after,
		.after_count = (a != 0) + (b != 0),
		.same_nodes = true,
		.container.image = (char *)"i",
		.container.network = (char *)"host",
	};
	struct error err = { 0 };

	if (job_submit(bed->jobs, 1, 0, &spec, &err) < 0)
		ok(false, "a job is submitted: %s", err.text);
}

/* The job leaves the queue, runs on the node, and ends. */
static void finish(struct jobs_bed *bed, uint64_t id, const char *node,
		   enum job_event end)
{
	static const enum job_event life[] = { JOB_EVENT_ALLOC,
					       JOB_EVENT_PREPARE,
					       JOB_EVENT_READY, JOB_EVENT_START,
					       JOB_EVENT_END };
	struct job *job = job_find(bed->jobs->table, id);
	struct error err = { 0 };

	queue_remove(bed->jobs->queue, &job->shape, id);
	if (job_make_gang(job, &err) < 0) {
		ok(false, "a gang: %s", err.text);
		return;
	}
	node_assign(bed->jobs->nodes, &job->gang->tasks[0],
		    node_get(bed->jobs->nodes, node, NULL), 1);
	for (size_t i = 0; i < sizeof(life) / sizeof(life[0]); i++)
		job_event(job, life[i], NULL, &err);
	if (end == JOB_EVENT_FAIL)
		job_set_failure(job, FAILURE_EXIT, 0, "n1: exit code 3");
	job_event(job, end, NULL, &err);
	job_forget(job);
}

struct seen {
	enum job_state state;
	char text[300];
};

static int see(const struct job_row *row, void *arg)
{
	struct seen *seen = arg;

	seen->state = row->state;
	snprintf(seen->text, sizeof(seen->text), "%s %s",
		 failure_name(row->failure) ? failure_name(row->failure) : "-",
		 row->text ? row->text : "-");
	return 0;
}

static struct seen stored(struct jobs_bed *bed, uint64_t id)
{
	struct seen seen = { 0 };

	store_job(bed->store, id, see, &seen, NULL);
	return seen;
}

static void holding(void)
{
	struct jobs_bed bed;
	char text[300] = "";
	struct job *third;

	jobs_bed_open(&bed);
	submit(&bed, 0, 0);
	submit(&bed, 0, 0);
	submit(&bed, 2, 1);
	turn(&bed);
	is_int((long long)queue_length(bed.jobs->queue), 2,
	       "a job that goes after two is not in the queue");
	third = job_find(bed.jobs->table, 3);
	ok(dependencies_waits(third, text, sizeof(text)), "it waits");
	is(text, "waits for job 2 and 1 more", "in words");
	finish(&bed, 1, "n1", JOB_EVENT_COMPLETE);
	turn(&bed);
	is_int((long long)queue_length(bed.jobs->queue), 1,
	       "one of them is not enough");
	jobs_bed_restart(&bed);
	turn(&bed);
	third = job_find(bed.jobs->table, 3);
	ok(dependencies_waits(third, text, sizeof(text)),
	   "after a restart it waits");
	is(text, "waits for job 2", "for what is left");
	finish(&bed, 2, "n2", JOB_EVENT_COMPLETE);
	turn(&bed);
	ok(queue_length(bed.jobs->queue) == 1 && third->shape.pins_count == 1 &&
		   !strcmp(node_name(node_at(bed.jobs->nodes,
					     third->shape.pins[0])),
			   "n2"),
	   "then it is queued, on the node of the first it names");
	ok(dependencies_waits(third, text, sizeof(text)), "which is");
	is(text, "needs 1 node that job 2 ran on: n2 is down", "down");
	jobs_bed_close(&bed);
}

static void skipping(void)
{
	struct jobs_bed bed;
	char text[80];

	jobs_bed_open(&bed);
	submit(&bed, 0, 0);
	submit(&bed, 0, 0);
	submit(&bed, 1, 2);
	submit(&bed, 3, 0);
	turn(&bed);
	finish(&bed, 2, "n1", JOB_EVENT_FAIL);
	/* Killed before those behind it were looked at. */
	store_commit(bed.store, NULL);
	jobs_bed_restart(&bed);
	turn(&bed);
	snprintf(text, sizeof(text), "skipped job 2 (x=1) failed: exit");
	ok(stored(&bed, 3).state == JOB_FAILED, "one that fails is enough");
	is(stored(&bed, 3).text, text, "to be skipped");
	is(stored(&bed, 4).text, text, "and all behind it");
	is_int((long long)job_count(bed.jobs->table), 1,
	       "only the first is left");
	jobs_bed_close(&bed);
}

static void many(void)
{
	const uint64_t count = 100000;
	struct jobs_bed bed;

	jobs_bed_open(&bed);
	for (uint64_t id = 1; id <= count; id++)
		submit(&bed, id - 1, 0);
	store_commit(bed.store, NULL);
	turn(&bed);
	is_int((long long)job_count(bed.jobs->table), (long long)count,
	       "a chain of 100,000 is held");
	finish(&bed, 1, "n1", JOB_EVENT_FAIL);
	turn(&bed);
	is_int((long long)job_count(bed.jobs->table), 0,
	       "when the first fails none is left");
	ok(stored(&bed, count).state == JOB_FAILED, "nor forgotten");
	jobs_bed_close(&bed);
}

int main(void)
{
	log_set_level(LOG_ERROR);
	tap_begin(100);
	holding();
	skipping();
	many();
	return tap_done();
}
