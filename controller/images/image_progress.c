/* image_progress.c - images and contents on their way to the nodes of a job.
 */
#include "controller/images/image_progress.h"
#include "controller/cluster/active_job.h"
#include "controller/nodes/node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct schema *schema(void)
{
	return message_kinds[MESSAGE_PROGRESS].schema;
}

void image_progress_clear(struct task *task)
{
	if (!task->transfer)
		return;
	codec_clear(schema(), task->transfer);
	free(task->transfer);
	task->transfer = NULL;
}

static bool moved(const struct message_progress *from,
		  const struct message_progress *to)
{
	return !from || from->done_bytes != to->done_bytes ||
	       from->extracted_bytes != to->extracted_bytes ||
	       from->layers != to->layers || from->tries != to->tries ||
	       strcmp(from->phase, to->phase) != 0;
}

void image_progress_keep(struct task *task,
			 const struct message_progress *progress,
			 int64_t now_ms)
{
	cJSON *object = codec_object(schema(), progress, NULL);
	struct message_progress *copy = malloc(sizeof(*copy));

	if (copy && object &&
	    codec_from_object(schema(), object, copy, NULL) == 0) {
		if (!task->transfer)
			task->transfer_ms = now_ms;
		if (moved(task->transfer, copy))
			task->transfer_moved_ms = now_ms;
		image_progress_clear(task);
		task->transfer = copy;
		copy = NULL;
	}
	free(copy);
	cJSON_Delete(object);
}

static bool extracting(const struct message_progress *transfer)
{
	return !strcmp(transfer->phase, "extracting");
}

/* Of a node that has its image already, everything. */
static uint64_t done_bytes(const struct task *task)
{
	const struct message_progress *transfer = task->transfer;

	if (task->state > TASK_PREPARING)
		return transfer->total_bytes;
	return extracting(transfer) ? transfer->extracted_bytes
				    : transfer->done_bytes;
}

/* For how long, in ms; 0: it goes on. */
static int64_t silent_ms(const struct task *task, int64_t now_ms)
{
	int64_t silent = now_ms - task->transfer_moved_ms;

	return silent < IMAGE_PROGRESS_SILENT_MS ? 0 : silent;
}

/* When all is here, it is not the transfer that takes its time. */
static int64_t awaited_ms(const struct task *task, int64_t now_ms)
{
	uint64_t total = task->transfer->total_bytes;

	return total && done_bytes(task) >= total ? 0 : silent_ms(task, now_ms);
}

static double rate_of(const struct task *task, int64_t now_ms)
{
	return silent_ms(task, now_ms) ? 0 : (double)task->transfer->rate;
}

/* -1: not known. */
static double seconds_left(const struct task *task, int64_t now_ms)
{
	const struct message_progress *transfer = task->transfer;
	uint64_t done = done_bytes(task);

	if (transfer->partial || !(rate_of(task, now_ms) > 0) ||
	    done > transfer->total_bytes)
		return -1;
	return (double)(transfer->total_bytes - done) / rate_of(task, now_ms);
}

static void set_rate(struct progress_info *to, double rate, double left,
		     int64_t silent)
{
	to->silent_seconds = (uint64_t)(silent / 1000);
	to->rate = rate > 0 ? rate : (double)NAN;
	to->eta_seconds = rate > 0 && left >= 0 ? (double)(uint64_t)(left + 0.5)
						: (double)NAN;
}

static int describe_moving(const struct message_progress *transfer,
			   struct progress_info *to, struct error *err)
{
	if (!transfer->moving_count)
		return 0;
	to->moving = calloc(transfer->moving_count, sizeof(*to->moving));
	if (!to->moving)
		return error_nomem(err, "transfer");
	for (; to->moving_count < transfer->moving_count; to->moving_count++)
		if (codec_copy(&moving_layer_schema,
			       &transfer->moving[to->moving_count],
			       &to->moving[to->moving_count], err) < 0)
			return -1;
	return 0;
}

int image_progress_of_task(const struct task *task, int64_t now_ms,
			   struct progress_info **result, struct error *err)
{
	const struct message_progress *transfer = task->transfer;
	struct progress_info *to;

	if (!transfer || task->state != TASK_PREPARING)
		return 0;
	to = *result = calloc(1, sizeof(*to));
	if (!to)
		return error_nomem(err, "transfer");
	to->done_bytes = done_bytes(task);
	to->total_bytes = transfer->total_bytes;
	set_rate(to, rate_of(task, now_ms), seconds_left(task, now_ms),
		 awaited_ms(task, now_ms));
	to->partial = transfer->partial;
	to->layers = transfer->layers;
	to->layers_total = transfer->layers_total;
	to->tries = transfer->tries;
	if (string_set(&to->phase, transfer->phase, err) < 0)
		return -1;
	return describe_moving(transfer, to, err);
}

cJSON *image_progress_summary(const struct task *task, int64_t now_ms)
{
	const struct message_progress *transfer = task->transfer;
	cJSON *to;

	if (!transfer || !transfer->total_bytes)
		return NULL;
	to = cJSON_CreateObject();
	cJSON_AddStringToObject(to, "node", node_name(task->node));
	cJSON_AddNumberToObject(to, "bytes", (double)transfer->total_bytes);
	cJSON_AddNumberToObject(to, "seconds",
				(double)(now_ms - task->transfer_ms) / 1000);
	return to;
}

/* What of a phase is still before a node, more for the earlier ones. */
static int distance(const char *phase)
{
	static const char *const order[] = { "extracting", "fetching",
					     "building", "pulling",
					     "checking" };
	int count = (int)(sizeof(order) / sizeof(order[0]));

	for (int i = 0; i < count; i++)
		if (!strcmp(order[i], phase))
			return i;
	return count;
}

int image_progress_add_sum(const struct gang *gang, int64_t now_ms,
			   struct progress_info *to, struct error *err)
{
	const struct message_progress *far = NULL;
	double rate = 0, left = -1;
	int64_t silent = INT64_MAX;

	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];
		const struct message_progress *one = task->transfer;

		to->nodes_done += task->state > TASK_PREPARING;
		if (!one)
			continue;
		to->done_bytes += done_bytes(task);
		to->total_bytes += one->total_bytes;
		to->layers += one->layers;
		to->layers_total += one->layers_total;
		if (task->state != TASK_PREPARING)
			continue;
		to->partial |= one->partial;
		rate += rate_of(task, now_ms);
		if (awaited_ms(task, now_ms) < silent)
			silent = awaited_ms(task, now_ms);
		if (seconds_left(task, now_ms) > left)
			left = seconds_left(task, now_ms);
		if (!far || distance(one->phase) > distance(far->phase))
			far = one;
	}
	if (!far) {
		to->done_bytes = to->total_bytes = 0;
		to->layers = to->layers_total = to->nodes_done = 0;
		return 0;
	}
	set_rate(to, rate, to->partial ? -1 : left, silent);
	to->tries = far->tries;
	return string_set(&to->phase, far->phase, err);
}

static bool stands_still(const struct gang *gang, int64_t now_ms)
{
	if (gang->job->state != JOB_PREPARING)
		return false;
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];

		if (task->transfer && task->state == TASK_PREPARING &&
		    silent_ms(task, now_ms))
			return true;
	}
	return false;
}

bool image_progress_stalled(const struct job_table *table, int64_t now_ms)
{
	const struct gang *gang;

	for (gang = gang_first(table); gang; gang = gang_next(gang))
		if (stands_still(gang, now_ms))
			return true;
	return false;
}
