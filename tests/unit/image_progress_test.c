/* image_progress_test.c - what people see of images on their way to nodes.
 */
#include "controller/images/image_progress.h"

#include "controller/cluster/active_job_internal.h"
#include "controller/nodes/node_internal.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)

static struct task *tasks;
static struct job job = { .state = JOB_PREPARING };
static struct gang gang = { .job = &job, .spec = { .nodes = 2 } };

static int64_t now_ms = 1000;
static bool partial; /* sizes that are told are not all */

static void tell(struct task *task, const char *phase, uint64_t done,
		 uint64_t total, uint64_t rate)
{
	struct moving_layer layer = { (char *)"abc", (char *)"pulling", done,
				      total };
	struct image_progress progress = {
		.phase = (char *)phase,
		.done_bytes = done,
		.total_bytes = total,
		.rate = (double)rate,
		.layers = 1,
		.layers_total = 3,
		.tries = 1,
		.partial = partial,
		.moving = &layer,
		.moving_count = 1,
	};

	task->state = TASK_PREPARING;
	image_transfer_keep(&task->transfer, &progress, now_ms);
}

/* A member of the sum, or of a task; -1: not there. */
static double get(cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsNumber(item) ? item->valuedouble : -1;
}

/* As a person gets it; the caller deletes. */
static cJSON *sum_told(void)
{
	struct reply_jobs reply = { .jobs_count = 1 };
	struct job_info info = { .state = (char *)"preparing" };
	struct progress_info progress = { .loss = (double)NAN };
	cJSON *told, *row;

	progress.image.rate = progress.image.eta_seconds = (double)NAN;
	image_progress_add_sum(&gang, now_ms, &progress, NULL);
	info.progress = &progress;
	reply.jobs = &info;
	told = codec_object(&reply_jobs_schema, &reply, NULL);
	row = cJSON_GetArrayItem(cJSON_GetObjectItem(told, "jobs"), 0);
	row = cJSON_DetachItemFromObject(row, "progress");
	cJSON_Delete(told);
	free(progress.image.phase);
	return row;
}

static cJSON *task_told(const struct task *task)
{
	struct task_info info = { .node = (char *)"n1", .state = (char *)"" };
	cJSON *told, *transfer;

	image_progress_of_task(task, now_ms, &info.transfer, NULL);
	told = codec_object(&task_info_schema, &info, NULL);
	transfer = cJSON_DetachItemFromObject(told, "transfer");
	cJSON_Delete(told);
	info.node = info.state = NULL;
	codec_clear(&task_info_schema, &info);
	return transfer;
}

static double sum(const char *name)
{
	cJSON *to = sum_told();
	double value = get(to, name);

	cJSON_Delete(to);
	return value;
}

static double of(const struct task *task, const char *name)
{
	cJSON *to = task_told(task);
	double value = get(to, name);

	cJSON_Delete(to);
	return value;
}

static void moving(void)
{
	cJSON *one;

	is_int((long long)sum("done_bytes"), -1, "nothing moves at first");
	tell(&tasks[0], "pulling", 2 * MIB, 12 * MIB, 2 * MIB);
	tell(&tasks[1], "extracting", 0, 8 * MIB, MIB);
	is_int((long long)of(&tasks[0], "eta_seconds"), 5,
	       "how long it takes follows from what is left and how fast it "
	       "is");
	one = task_told(&tasks[0]);
	is_int(cJSON_GetArraySize(
		       cJSON_GetObjectItemCaseSensitive(one, "moving")),
	       1, "each layer that moves is told");
	cJSON_Delete(one);
	is_int((long long)sum("done_bytes"), 2 * MIB,
	       "all nodes' bytes are added");
	is_int((long long)sum("rate"), 3 * MIB, "and their rates");
	is_int((long long)sum("eta_seconds"), 8, "the last one is waited for");
	is_int((long long)sum("layers_total"), 6, "layers are those of all");
	partial = true;
	tell(&tasks[1], "extracting", 0, 8 * MIB, MIB);
	ok(sum("eta_seconds") < 0 && of(&tasks[1], "eta_seconds") < 0 &&
		   of(&tasks[0], "eta_seconds") > 0,
	   "a node that lacks sizes makes no promise, nor does the sum");
	partial = false;
	tell(&tasks[1], "extracting", 0, 8 * MIB, MIB);
}

static void standing_still(void)
{
	owned(job_table_free) struct job_table *table = job_table_new(NULL);

	gang_list(table, &gang);
	ok(!image_progress_stalled(table, now_ms), "what moves is no news");
	now_ms += 7000;
	tell(&tasks[1], "extracting", 1, 8 * MIB, MIB);
	is_int((long long)of(&tasks[0], "silent_seconds"), 7,
	       "what stands still is told to");
	ok(of(&tasks[0], "rate") < 0 && of(&tasks[0], "eta_seconds") < 0,
	   "and has no rate, nor an end");
	is_int((long long)sum("silent_seconds"), -1,
	       "the gang goes on while one node does");
	is_int((long long)sum("rate"), MIB, "at the rate of that one");
	ok(image_progress_stalled(table, now_ms), "who waits for news is told");
	now_ms += 6000;
	is_int((long long)sum("silent_seconds"), 6,
	       "it stands still when all do");
	tell(&tasks[0], "pulling", 2 * MIB, 12 * MIB, 2 * MIB);
	is_int((long long)of(&tasks[0], "silent_seconds"), 13,
	       "the same told again is no progress");
	tell(&tasks[0], "pulling", 2 * MIB + 1, 12 * MIB, 2 * MIB);
	ok(of(&tasks[0], "silent_seconds") < 0, "a byte is");
}

static void all_here(void)
{
	tell(&tasks[0], "fetching", MIB, MIB, MIB);
	now_ms += 7000;
	ok(of(&tasks[0], "silent_seconds") < 0 && of(&tasks[0], "rate") < 0,
	   "of what is all here nothing is awaited");
}

static void done(void)
{
	struct node node = { .view.name = "n1" };
	cJSON *event;

	tasks[0].hold.node = &node;
	event = image_progress_summary(&tasks[0], now_ms);
	ok(get(event, "bytes") > 0 && get(event, "seconds") >= 0,
	   "an event says how much came");
	cJSON_Delete(event);
	tasks[0].state = TASK_READY;
	event = task_told(&tasks[0]);
	ok(cJSON_IsNull(event), "what is there moves no more");
	cJSON_Delete(event);
	is_int((long long)sum("nodes_done"), 1, "it is counted");
	for (int i = 0; i < 2; i++)
		image_transfer_free(take(tasks[i].transfer));
	ok(!image_progress_summary(&tasks[0], now_ms),
	   "without one there is nothing to tell");
}

int main(void)
{
	tap_begin(29);
	tasks = gang.tasks = calloc(2, sizeof(*tasks));
	tasks[0].job = tasks[1].job = &job;
	job.gang = &gang;
	moving();
	standing_still();
	all_here();
	done();
	free(tasks);
	return tap_done();
}
