/* submit_test.c - a sweep is taken whole or not at all, whatever fails.
 */
#include "controller/api/api.h"

#include "controller/blobs/blob_service.h"
#include "controller/catalog/catalog.h"
#include "controller/effects.h"
#include "controller/jobs/adaptive_repeats.h"
#include "controller/jobs/job.h"
#include "controller/jobs/jobs.h"
#include "controller/scheduler/scheduler_internal.h"
#include "controller/store/store.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <fcntl.h>
#include <limits.h>

#define JOBS 6
#define LAST 300 /* allocations that are tried */

static const char sweep[] = "sweep: whole\n"
			    "vendor: cpu\n"
			    "image: i\n"
			    "nodes: 1\n"
			    "matrix:\n"
			    "  a: [1, 2, 3]\n"
			    "command: [echo, \"${a}\"]\n"
			    "repeat: 2\n"
			    "until: {width: 5%, max: 4}\n";

struct bed {
	struct cluster cluster;
	char folder[64];
};

static bool bed_open(struct bed *bed)
{
	struct cluster *cluster = &bed->cluster;

	*bed = (struct bed){ .folder = "/tmp/submit_test.XXXXXX" };
	if (!mkdtemp(bed->folder))
		return false;
	effects_connect(cluster);
	sd_event_new(&cluster->loop);
	cluster->store = store_new(bed->folder, NULL);
	cluster->catalog = catalog_load("images", NULL);
	return jobs_init(cluster, NULL) == 0 && cluster->store &&
	       cluster->catalog &&
	       blob_service_open(cluster, bed->folder, NULL) == 0;
}

static void bed_close(struct bed *bed)
{
	struct cluster *cluster = &bed->cluster;

	jobs_clear(cluster);
	blob_service_close(cluster);
	store_free(cluster->store);
	catalog_free(cluster->catalog);
	effects_disconnect(cluster);
	sd_event_unref(cluster->loop);
	file_remove_tree(AT_FDCWD, bed->folder, NULL);
}

/* Is there nothing that could run, be repeated or be written? */
static bool is_idle(const struct cluster *cluster)
{
	return !cluster->jobs_count && !queue_length(cluster->queue) &&
	       !cluster->trials && TAILQ_EMPTY(&cluster->ended) &&
	       !store_pending(cluster->store, NULL);
}

static cJSON *submit(struct cluster *cluster, struct error *err)
{
	struct message_submit message = { .file = (char *)"whole.yaml",
					  .token = (char *)"t" };

	struct api_request request = {
		.cluster = cluster,
		.message = &message,
		.payload = sweep,
		.size = sizeof(sweep) - 1,
		.by = "op",
		.public = "",
	};

	return api_answer(&request, MESSAGE_SUBMIT, err);
}

/* How many allocations a submit takes; what it did is undone. */
static long count_allocations(struct cluster *cluster)
{
	struct store_mark mark = store_mark(cluster->store);
	struct error err;
	cJSON *body;
	long count;

	fault_arm(LONG_MAX);
	body = submit(cluster, &err);
	count = LONG_MAX - fault_left;
	fault_disarm();
	ok(body && cluster->jobs_count == JOBS,
	   "a sweep is taken, with all its jobs: %s", body ? "" : err.text);
	cJSON_Delete(body);
	job_free_all(cluster);
	adaptive_repeats_free_all(cluster);
	store_undo(cluster->store, &mark);
	return count;
}

static void submitting(struct bed *bed)
{
	struct cluster *cluster = &bed->cluster;
	struct store_mark start = store_mark(cluster->store);
	long count = count_allocations(cluster);
	int left = 0, partial = 0;
	struct error err;
	cJSON *body;

	ok(is_idle(cluster), "nothing is left of it when that is undone");
	/* Most of them are the file's, which is read before. */
	for (long n = count > LAST ? count - LAST : 1; n <= count; n++) {
		fault_arm(n);
		body = submit(cluster, &err);
		fault_disarm();
		if (!body) {
			left += !is_idle(cluster) ||
				store_coming_job(cluster->store) !=
					start.next_job;
			partial++;
			continue;
		}
		ok(cluster->jobs_count == JOBS,
		   "allocation %ld is done without: all jobs are there", n);
		cJSON_Delete(body);
		job_free_all(cluster);
		adaptive_repeats_free_all(cluster);
		store_undo(cluster->store, &start);
	}
	ok(partial > JOBS, "no memory, at any of %d places", partial);
	is_int(left, 0, "leaves nothing that could run or be written");
}

/* A sweep in the store of which all jobs failed. */
static void fail_all(struct cluster *cluster)
{
	struct error err;

	cJSON_Delete(submit(cluster, &err));
	for (uint64_t id = 1; id <= JOBS; id++)
		store_set_job(cluster->store,
			      &(struct job_row){ .id = id,
						 .state = JOB_FAILED,
						 .failure = FAILURE_EXIT,
						 .attempt = 1,
						 .first_attempt = 1 },
			      NULL);
	job_free_all(cluster);
	adaptive_repeats_free_all(cluster);
	store_commit(cluster->store, NULL);
}

static void retrying(struct bed *bed)
{
	const struct message_retry message = { .sweep = 1 };
	struct cluster *cluster = &bed->cluster;
	struct api_request request = {
		.cluster = cluster,
		.message = &message,
		.by = "op",
		.public = "",
	};
	int left = 0, partial = 0;
	struct error err;
	bool failed = true;

	fail_all(cluster);
	for (long n = 1; failed; n++) {
		cJSON *body;

		fault_arm(n);
		body = api_answer(&request, MESSAGE_RETRY, &err);
		failed = fault_disarm();
		cJSON_Delete(body);
		if (body)
			continue;
		left += !is_idle(cluster);
		partial++;
	}
	ok(partial > JOBS, "a retry fails at any of %d places", partial);
	is_int(left, 0, "it leaves nothing that could run or be written");
	is_int((long long)queue_length(cluster->queue), JOBS,
	       "and works afterwards");
}

int main(void)
{
	struct bed bed;

	tap_begin(120);
	log_set_level((enum log_level)0);
	if (bed_open(&bed)) {
		submitting(&bed);
		retrying(&bed);
	}
	bed_close(&bed);
	return tap_done();
}
