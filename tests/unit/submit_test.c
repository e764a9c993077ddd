/* submit_test.c - a sweep is taken whole or not at all, whatever fails.
 */
#include "controller/api/api.h"

#include "controller/blobs/blob_service.h"
#include "controller/catalog/catalog.h"
#include "controller/effects.h"
#include "controller/jobs/adaptive_repeats.h"
#include "controller/jobs/core.h"
#include "controller/jobs/job.h"
#include "controller/jobs/jobs.h"
#include "controller/scheduler/scheduler_internal.h"
#include "controller/store/store.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/message/reply_sweeps.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>
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
	struct world world;
	struct changes changes;
	struct jobs_parts parts;
	struct api api;
	char folder[64];
};

static bool bed_open(struct bed *bed)
{
	struct api *api = &bed->api;
	struct jobs_config config = { .effects = &bed->world.effects,
				      .changes = &bed->changes };
	struct blob_service_config blobs = { 0 };

	*bed = (struct bed){ .folder = "/tmp/submit_test.XXXXXX" };
	if (!mkdtemp(bed->folder))
		return false;
	sd_event_new(&bed->world.loop);
	effects_connect(&bed->world);
	api->changes = &bed->changes;
	api->catalog = catalog_load("images", NULL);
	api->store = store_new(bed->folder, NULL);
	config.catalog = api->catalog;
	config.store = blobs.store = api->store;
	api->jobs = jobs_new(&config, NULL);
	if (!api->store || !api->catalog || !api->jobs)
		return false;
	bed->parts = jobs_parts(api->jobs);
	api->table = bed->parts.table;
	api->nodes = blobs.nodes = bed->parts.nodes;
	api->logins = bed->parts.logins;
	blobs.loop = bed->world.loop;
	api->blobs = blob_service_new(&blobs, bed->folder, NULL);
	return api->blobs != NULL;
}

static void bed_close(struct bed *bed)
{
	struct api *api = &bed->api;

	jobs_free(api->jobs);
	blob_service_free(api->blobs);
	store_free(api->store);
	catalog_free(api->catalog);
	effects_disconnect(&bed->world);
	sd_event_unref(bed->world.loop);
	file_remove_tree(AT_FDCWD, bed->folder, NULL);
}

/* Is there nothing that could run, be repeated or be written? */
static bool is_idle(const struct api *api)
{
	return !job_count(api->table) && !queue_length(api->jobs->queue) &&
	       !api->jobs->trials && TAILQ_EMPTY(&api->jobs->ended) &&
	       !store_pending(api->store);
}

static int answered(struct api_request *request, enum message_type type,
		    struct error *err)
{
	owned(api_reply_clear) struct api_reply reply = { 0 };

	return api_answer(request, type, &reply, err);
}

static int submit(struct api *api, struct error *err)
{
	struct message_submit message = { .file = (char *)"whole.yaml",
					  .token = (char *)"t" };

	struct api_request request = {
		.api = api,
		.message = &message,
		.payload = sweep,
		.size = sizeof(sweep) - 1,
		.by = "op",
		.public = "",
	};

	return answered(&request, MESSAGE_SUBMIT, err);
}

/* How many allocations a submit takes; what it did is undone. */
static long count_allocations(struct api *api)
{
	struct store_mark mark = store_mark(api->store);
	struct error err;
	long count;
	int rc;

	fault_arm(LONG_MAX);
	rc = submit(api, &err);
	count = LONG_MAX - fault_left;
	fault_disarm();
	ok(rc == 0 && job_count(api->table) == JOBS,
	   "a sweep is taken, with all its jobs: %s", rc < 0 ? err.text : "");
	job_free_all(api->jobs);
	repeats_free_all(api->jobs);
	store_undo(api->store, &mark);
	return count;
}

static void submitting(struct bed *bed)
{
	struct api *api = &bed->api;
	struct store_mark start = store_mark(api->store);
	long count = count_allocations(api);
	int left = 0, partial = 0;
	struct error err;
	int rc;

	ok(is_idle(api), "nothing is left of it when that is undone");
	/* Most of them are the file's, which is read before. */
	for (long n = count > LAST ? count - LAST : 1; n <= count; n++) {
		fault_arm(n);
		rc = submit(api, &err);
		fault_disarm();
		if (rc < 0) {
			left += !is_idle(api) ||
				store_coming_job(api->store) != start.next_job;
			partial++;
			continue;
		}
		ok(job_count(api->table) == JOBS,
		   "allocation %ld is done without: all jobs are there", n);
		job_free_all(api->jobs);
		repeats_free_all(api->jobs);
		store_undo(api->store, &start);
	}
	ok(partial > JOBS, "no memory, at any of %d places", partial);
	is_int(left, 0, "leaves nothing that could run or be written");
}

/* A sweep in the store of which all jobs failed. */
static void fail_all(struct api *api)
{
	struct error err;

	submit(api, &err);
	for (uint64_t id = 1; id <= JOBS; id++)
		store_set_job(api->store, JOB_QUEUED,
			      &(struct job_row){ .id = id,
						 .sweep = 1,
						 .state = JOB_FAILED,
						 .failure = FAILURE_EXIT,
						 .attempt = 1,
						 .first_attempt = 1 },
			      NULL);
	job_free_all(api->jobs);
	repeats_free_all(api->jobs);
	store_commit(api->store, NULL);
}

static int plan(struct api *api, const char *text, struct api_reply *reply,
		struct error *err)
{
	const struct message_plan message = { .file = (char *)"whole.yaml",
					      .rows = 2,
					      .images = true };
	struct api_request request = {
		.api = api,
		.message = &message,
		.payload = text,
		.size = strlen(text),
		.by = "op",
		.public = "",
	};

	return api_answer(&request, MESSAGE_PLAN, reply, err);
}

/* A plan stores nothing, whatever fails. */
static void planning(struct bed *bed)
{
	struct api *api = &bed->api;
	struct error err = { 0 };
	bool good = true;
	long n;

	for (n = 1;; n++) {
		owned(api_reply_clear) struct api_reply reply = { 0 };
		const struct reply_plan *plan_reply;
		bool failed;
		int rc;

		fault_arm(n);
		rc = plan(api, sweep, &reply, &err);
		failed = fault_disarm();
		plan_reply = reply.data;
		if (rc == 0 &&
		    (plan_reply->jobs != JOBS || plan_reply->cells_count != 2 ||
		     plan_reply->lacking != 3 || plan_reply->images_count != 1))
			good = ok(false, "allocation %ld: another plan", n);
		if (rc < 0 && err.code != ENOMEM)
			good = ok(false, "allocation %ld: %s", n, err.text);
		if (!failed)
			break;
	}
	ok(good && n > 50 && is_idle(api),
	   "a plan stores nothing, and each of %ld allocations may fail",
	   n - 1);
}

static void plan_too_large(struct bed *bed)
{
	owned(api_reply_clear) struct api_reply reply = { 0 };
	struct error err = { 0 };

	ok(plan(&bed->api,
		"sweep: large\nimage: i\nmatrix: {a: [0, 1, 2, 3, 4, 5, 6, 7,\n"
		"  8, 9, 10], b: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}\n"
		"command: [\"${a}\", \"${b}\"]\nrepeat: 1000\n",
		&reply, &err) < 0 &&
		   err.code == E2BIG,
	   "a plan of more jobs than a submit takes is refused: %s", err.text);
}

static void retrying(struct bed *bed)
{
	const struct message_retry message = { .sweep = 1 };
	struct api *api = &bed->api;
	struct api_request request = {
		.api = api,
		.message = &message,
		.by = "op",
		.public = "",
	};
	int left = 0, partial = 0;
	struct error err;
	bool failed = true;

	fail_all(api);
	for (long n = 1; failed; n++) {
		int rc;

		fault_arm(n);
		rc = answered(&request, MESSAGE_RETRY, &err);
		failed = fault_disarm();
		if (rc == 0)
			continue;
		left += !is_idle(api);
		partial++;
	}
	ok(partial > JOBS, "a retry fails at any of %d places", partial);
	is_int(left, 0, "it leaves nothing that could run or be written");
	is_int((long long)queue_length(api->jobs->queue), JOBS,
	       "and works afterwards");
}

int main(void)
{
	struct bed bed;

	tap_begin(120);
	log_set_level((enum log_level)0);
	if (bed_open(&bed)) {
		planning(&bed);
		plan_too_large(&bed);
		submitting(&bed);
		retrying(&bed);
	}
	bed_close(&bed);
	return tap_done();
}
