/* image_progress.c - the progress of images on their way to the nodes of a
 * job.
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

/* The transfer of the image of a task; times are monotonic. */
struct image_transfer {
	struct message_progress report; /* the last one */
	int64_t begun_ms;
	int64_t moved_ms; /* when its progress changed last */
};

static const struct message_progress *report_of(const struct task *task)
{
	const struct image_transfer *transfer = task_transfer(task);

	return transfer ? &transfer->report : NULL;
}

void image_transfer_free(struct image_transfer *transfer)
{
	if (transfer)
		codec_clear(schema(), &transfer->report);
	free(transfer);
}

static bool moved(const struct message_progress *from,
		  const struct message_progress *to)
{
	return from->done_bytes != to->done_bytes ||
	       from->extracted_bytes != to->extracted_bytes ||
	       from->layers != to->layers || from->tries != to->tries ||
	       strcmp(from->phase, to->phase) != 0;
}

void image_transfer_keep(struct image_transfer **transfer,
			 const struct message_progress *progress,
			 int64_t now_ms)
{
	const struct image_transfer *was = *transfer;
	owned_free struct image_transfer *now = malloc(sizeof(*now));

	if (!now || codec_copy(schema(), progress, &now->report, NULL) < 0)
		return;
	now->begun_ms = was ? was->begun_ms : now_ms;
	now->moved_ms = !was || moved(&was->report, &now->report)
				? now_ms
				: was->moved_ms;
	image_transfer_free(*transfer);
	*transfer = take(now);
}

static bool extracting(const struct message_progress *transfer)
{
	return !strcmp(transfer->phase, "extracting");
}

/* All bytes if the node has its image. */
static uint64_t done_bytes(const struct task *task)
{
	const struct message_progress *transfer = report_of(task);

	if (task_state(task) > TASK_PREPARING)
		return transfer->total_bytes;
	return extracting(transfer) ? transfer->extracted_bytes
				    : transfer->done_bytes;
}

/* Milliseconds without progress; 0: it has not stalled. */
static int64_t silent_ms(const struct task *task, int64_t now_ms)
{
	int64_t silent = now_ms - task_transfer(task)->moved_ms;

	return silent < IMAGE_PROGRESS_SILENT_MS ? 0 : silent;
}

/* When all bytes are there, the node does not wait for the transfer. */
static int64_t awaited_ms(const struct task *task, int64_t now_ms)
{
	uint64_t total = report_of(task)->total_bytes;

	return total && done_bytes(task) >= total ? 0 : silent_ms(task, now_ms);
}

static double image_task_get_rate(const struct task *task, int64_t now_ms)
{
	return silent_ms(task, now_ms) ? 0 : (double)report_of(task)->rate;
}

/* -1: not known. */
static double seconds_left(const struct task *task, int64_t now_ms)
{
	const struct message_progress *transfer = report_of(task);
	uint64_t done = done_bytes(task);

	if (transfer->partial || !(image_task_get_rate(task, now_ms) > 0) ||
	    done > transfer->total_bytes)
		return -1;
	return (double)(transfer->total_bytes - done) /
	       image_task_get_rate(task, now_ms);
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
	const struct message_progress *transfer = report_of(task);
	struct progress_info *to;

	if (!transfer || task_state(task) != TASK_PREPARING)
		return 0;
	to = *result = calloc(1, sizeof(*to));
	if (!to)
		return error_nomem(err, "transfer");
	to->done_bytes = done_bytes(task);
	to->total_bytes = transfer->total_bytes;
	set_rate(to, image_task_get_rate(task, now_ms),
		 seconds_left(task, now_ms), awaited_ms(task, now_ms));
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
	const struct message_progress *transfer = report_of(task);
	cJSON *to;

	if (!transfer || !transfer->total_bytes)
		return NULL;
	to = cJSON_CreateObject();
	cJSON_AddStringToObject(to, "node", node_name(task_node(task)));
	cJSON_AddNumberToObject(to, "bytes", (double)transfer->total_bytes);
	cJSON_AddNumberToObject(to, "seconds",
				(double)(now_ms -
					 task_transfer(task)->begun_ms) /
					1000);
	return to;
}

/* Larger for phases that are earlier. */
static int phase_distance(const char *phase)
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

	for (uint32_t i = 0; i < gang_nodes(gang); i++) {
		const struct task *task = gang_task(gang, i);
		const struct message_progress *one = report_of(task);

		to->nodes_done += task_state(task) > TASK_PREPARING;
		if (!one)
			continue;
		to->done_bytes += done_bytes(task);
		to->total_bytes += one->total_bytes;
		to->layers += one->layers;
		to->layers_total += one->layers_total;
		if (task_state(task) != TASK_PREPARING)
			continue;
		to->partial |= one->partial;
		rate += image_task_get_rate(task, now_ms);
		if (awaited_ms(task, now_ms) < silent)
			silent = awaited_ms(task, now_ms);
		if (seconds_left(task, now_ms) > left)
			left = seconds_left(task, now_ms);
		if (!far ||
		    phase_distance(one->phase) > phase_distance(far->phase))
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
	if (job_state(gang_job(gang)) != JOB_PREPARING)
		return false;
	for (uint32_t i = 0; i < gang_nodes(gang); i++) {
		const struct task *task = gang_task(gang, i);

		if (report_of(task) && task_state(task) == TASK_PREPARING &&
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
