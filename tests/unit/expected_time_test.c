/* expected_time_test.c - no job starts on a node that leaves before the job is
 * expected to end, and the page that tells why it waits reads the time of now.
 *
 * A real store, queue and nodes; the clock is the test's.
 */
#include "controller/jobs/expected_time.h"
#include "controller/effects.h"
#include "controller/jobs/core.h"
#include "controller/jobs/gang.h"
#include "controller/jobs/job.h"
#include "controller/jobs/jobs.h"
#include "controller/nodes/node.h"
#include "controller/store/store.h"
#include "protocol/base/file.h"

#include "tests/tap.h"

#include <fcntl.h>

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

struct bed {
	struct world world;
	struct store *store;
	struct changes changes;
	struct jobs *jobs;
	char folder[64];
};

static void bed_open(struct bed *bed)
{
	struct jobs_config config = { .effects = &bed->world.effects,
				      .changes = &bed->changes };

	*bed = (struct bed){ .folder = "/tmp/expected_time_test.XXXXXX" };
	if (!mkdtemp(bed->folder))
		abort();
	sd_event_new(&bed->world.loop);
	effects_connect(&bed->world);
	bed->world.effects.wall_ms = wall_ms;
	bed->world.effects.send = send_nothing;
	config.store = bed->store = store_new(bed->folder, NULL);
	bed->jobs = jobs_new(&config, NULL);
	if (!bed->jobs)
		abort();
	store_put_sweep(bed->store,
			&(struct sweep_row){ .id = 1,
					     .name = "s",
					     .text = "",
					     .client = "op" },
			NULL);
}

static void bed_close(struct bed *bed)
{
	store_commit(bed->store, NULL);
	jobs_free(bed->jobs);
	store_free(bed->store);
	effects_disconnect(&bed->world);
	sd_event_unref(bed->world.loop);
	file_remove_tree(AT_FDCWD, bed->folder, NULL);
}

static void submit(struct bed *bed)
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
static void finish(struct bed *bed, uint64_t id, struct node *node)
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
static void report(struct bed *bed, struct node *node, int64_t until_ms)
{
	struct message_report report = { .until_ms = (uint64_t)until_ms };
	struct slot *slot;

	node_reported(bed->jobs->nodes, node, &report);
	slot = node_slot(bed->jobs->nodes, node);
	slot->vendor = "cpu";
	slot->devices = 1;
	slot->usable = true;
}

static bool late(struct bed *bed, uint64_t id, char *text, size_t size)
{
	return expected_late(job_find(bed->jobs->table, id),
			     node_slots(bed->jobs->nodes),
			     node_count(bed->jobs->nodes), text, size);
}

static void leaving(void)
{
	struct bed bed;
	struct node *node;
	char text[300] = "";

	bed_open(&bed);
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
	bed_close(&bed);
}

int main(void)
{
	tap_begin(100);
	leaving();
	return tap_done();
}
